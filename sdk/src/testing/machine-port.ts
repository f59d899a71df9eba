/** The shape of `#machine`: what the testing part needs of the engine, and the build bundles from its code. */
import type { SelectedRecipient } from '../workflow/select-step.js';

/** Bytes and their encoding. */
export interface MachineValue {
  readonly data: Uint8Array;
  readonly encoding: string;
}

/** An error behind a failure. */
export interface MachineCause {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly of: number;
  readonly isMember: boolean;
}

/** Why something failed. */
export interface MachineFailure {
  readonly code: string;
  readonly message: string;
  readonly step: string;
  readonly attempt: number;
  readonly stack: string;
  readonly causes?: readonly MachineCause[];
}

/** How an attempt ended. */
export type MachineOutcome =
  | { readonly kind: 'completed'; readonly output: MachineValue }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      readonly stack: string;
      readonly causes?: readonly MachineCause[];
      readonly nonRetryable: boolean;
      readonly retryAfterMs: number | null;
    }
  | { readonly kind: 'cancelled' };

/** A fact of a run. */
export type MachineFact =
  | { readonly kind: 'result'; readonly path: string; readonly attempt: number; readonly outcome: MachineOutcome }
  | {
      readonly kind: 'sub_step';
      readonly path: string;
      readonly attempt: number;
      readonly name: string;
      readonly output: MachineValue;
    }
  | {
      readonly kind: 'running';
      readonly path: string;
      readonly attempt: number;
      readonly worker: string;
      readonly startedAtUs: number;
    }
  | { readonly kind: 'lost'; readonly path: string; readonly attempt: number }
  | { readonly kind: 'wake' }
  | { readonly kind: 'cancel'; readonly reason: string; readonly requestedBy: string };

/** An attempt that must be with a worker. */
export interface MachineTask {
  readonly runId: string;
  readonly familySlug: string;
  readonly version: number;
  readonly path: string;
  readonly attempt: number;
  readonly handler: string;
  readonly input: MachineValue;
  readonly idempotencyKey: string;
  readonly timeoutMs: number;
  readonly heartbeatTimeoutMs: number | null;
  readonly lastProgress: MachineValue | null;
  readonly subSteps?: readonly { readonly name: string; readonly output: MachineValue }[];
  /** Its beginning stands in the journal. */
  readonly isNoted: boolean;
}

/** A run as it is. */
export interface MachineView {
  readonly state: string;
  readonly isClosed: boolean;
  readonly output: MachineValue | null;
  readonly error: MachineFailure | null;
  readonly steps: readonly {
    readonly path: string;
    readonly state: string;
    readonly attempt: number;
    readonly error: MachineFailure | null;
    readonly waitingFor: string;
  }[];
}

/** Whom a step selects or routes to, or why nobody. */
export type MachineChoose = (asked: {
  readonly kind: 'select' | 'route';
  readonly path: string;
  readonly pool: string;
  readonly routable: unknown;
  readonly slate: number | null;
  readonly excluded: readonly string[];
}) => { readonly recipients: readonly SelectedRecipient[] } | { readonly code: string; readonly message: string };

/** The engine's machine over journals in memory. Its errors have `code`, `message` and `details` as the engine's. */
export interface Machine {
  readonly commits: number;
  publish(definition: unknown): void;
  start(slug: string, input: MachineValue, attributes: Readonly<Record<string, string>>, nowUs: number): string;
  give(runId: string, fact: MachineFact, nowUs: number): boolean;
  signal(
    runId: string,
    signal: { readonly name: string; readonly id: string; readonly payload: MachineValue; readonly by: string },
    nowUs: number,
  ): void;
  update(
    runId: string,
    update: { readonly name: string; readonly id: string; readonly payload: MachineValue; readonly by: string },
    nowUs: number,
  ): void;
  answer(
    runId: string,
    name: string,
    id: string,
  ): { readonly output: MachineValue | null; readonly error: MachineFailure | null } | undefined;
  query(runId: string, name: string): MachineValue;
  deliver(nowUs: number): boolean;
  tasks(): readonly MachineTask[];
  takeAborts(): readonly {
    readonly runId: string;
    readonly path: string;
    readonly attempt: number;
    readonly reason: string;
  }[];
  nextDue(): { readonly atUs: number; readonly runIds: readonly string[] } | null;
  report(runId: string, path: string, attempt: number, progress: MachineValue): void;
  view(runId: string): MachineView;
  history(runId: string): readonly { readonly kind: string; readonly path: string }[];
  crash(): void;
}
