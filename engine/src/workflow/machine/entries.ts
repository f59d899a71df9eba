/** Facts the journal records. A closed union: an entry is never rewritten, kinds are only added. */
import type { RunFailure } from './state.js';
import type { Value, ValueSource } from './value.js';

/** One recorded fact; see proto/ductor/journal/v1/journal.proto for what each field means. */
export type Entry =
  | {
      readonly kind: 'run_started';
      readonly familySlug: string;
      readonly version: number;
      readonly input: Value;
      readonly attributes: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'step_scheduled';
      readonly path: string;
      readonly attempt: number;
      readonly input: ValueSource | null;
    }
  | {
      readonly kind: 'step_running';
      readonly path: string;
      readonly attempt: number;
      readonly worker: string;
      readonly deadlineUs: number;
    }
  | { readonly kind: 'step_completed'; readonly path: string; readonly attempt: number; readonly output: Value }
  | {
      readonly kind: 'attempt_failed';
      readonly path: string;
      readonly attempt: number;
      readonly error: RunFailure;
      readonly retryAtUs: number;
    }
  | { readonly kind: 'step_failed'; readonly path: string; readonly attempt: number; readonly error: RunFailure }
  | { readonly kind: 'step_waiting'; readonly path: string; readonly wakeAtUs: number }
  | { readonly kind: 'step_skipped'; readonly path: string }
  | { readonly kind: 'step_cancelling'; readonly path: string; readonly attempt: number; readonly deadlineUs: number }
  | { readonly kind: 'step_cancelled'; readonly path: string; readonly attempt: number; readonly abandoned: boolean }
  | { readonly kind: 'cancel_requested'; readonly reason: string; readonly requestedBy: string }
  | { readonly kind: 'run_parked'; readonly code: string; readonly message: string }
  | { readonly kind: 'run_resumed' }
  /** Nothing handles this failure: no more steps start, and the run closes as FAILED once its open attempts ended. */
  | { readonly kind: 'run_failing'; readonly error: RunFailure }
  | {
      readonly kind: 'run_closed';
      readonly status: 'COMPLETED' | 'FAILED' | 'CANCELLED';
      readonly output: ValueSource | null;
      readonly error: RunFailure | null;
    };
