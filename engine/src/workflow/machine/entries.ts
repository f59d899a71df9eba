/** Facts the journal records. A closed union: an entry is never rewritten, kinds are only added. */
import type { Want } from '../../capacity/index.js';
import type { ClosePolicy, FailedItems } from './plan.js';
import type { Signal, SignalBox } from './signal-box.js';
import type { Awaited, BodyKind, ChainLink, FamilyLink, ForkLink, QueuedClaim, QueuedWork } from './state.js';
import type { RunFailure, StepKeys } from './state.js';
import type { Value, ValueSource } from './value.js';

/** How a run can end. */
export type ClosedStatus = 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'TIMED_OUT' | 'TERMINATED' | 'CONTINUED';

/** One recorded fact; see proto/ductor/journal/v1/journal.proto for what each field means. */
export type Entry =
  | {
      readonly kind: 'run_started';
      readonly familySlug: string;
      readonly version: number;
      readonly input: Value;
      readonly attributes: Readonly<Record<string, string>>;
      readonly deadlineUs: number | null;
      /** W3C trace context of the trigger; absent: none. */
      readonly traceparent?: string;
      /** Absent: it has none. */
      readonly runKey?: string;
      /** Absent: no step of another run started it. */
      readonly family?: FamilyLink;
      /** Absent: it continues none. */
      readonly chain?: ChainLink;
      /** Absent: it takes over no steps of another run. The ends of those it does stand behind it in its row. */
      readonly fork?: ForkLink;
      /** What the run before it received; absent: nothing. */
      readonly signals?: SignalBox;
    }
  | {
      readonly kind: 'step_scheduled';
      readonly path: string;
      readonly attempt: number;
      readonly input: ValueSource | null;
      readonly startByUs: number | null;
      /** With the first attempt: keys that are not the default ones. Absent: they are. */
      readonly keys?: StepKeys;
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
      readonly progress: Value | null;
    }
  | { readonly kind: 'step_failed'; readonly path: string; readonly attempt: number; readonly error: RunFailure }
  | {
      readonly kind: 'sub_step_completed';
      readonly path: string;
      readonly attempt: number;
      readonly name: string;
      readonly output: Value;
    }
  | { readonly kind: 'step_waiting'; readonly path: string; readonly wakeAtUs: number }
  /** The message that starts the child goes out with this very row. */
  | {
      readonly kind: 'child_started';
      readonly path: string;
      readonly runId: string;
      readonly familySlug: string;
      /** 0: the current one when the child begins. */
      readonly version: number;
      readonly input: ValueSource;
      readonly policy: ClosePolicy;
      readonly isDetached: boolean;
    }
  | { readonly kind: 'child_told'; readonly path: string; readonly how: 'cancel' | 'terminate' }
  /** It waits for a signal. */
  | ({ readonly kind: 'step_awaiting'; readonly path: string } & Awaited)
  /** It completes by a signal that the run had received; output null: the payload is its output. */
  | {
      readonly kind: 'signal_taken';
      readonly path: string;
      readonly name: string;
      readonly id: string;
      readonly output: Value | null;
    }
  /** The step has the update that it waited for: its first attempt follows in this very row. */
  | { readonly kind: 'update_taken'; readonly path: string; readonly name: string; readonly id: string }
  /** From now on those to whom the approval was escalated may decide, too. */
  | { readonly kind: 'approval_escalated'; readonly path: string }
  /** The step asks for what its next attempt needs, and stands in line until it is granted. */
  | {
      readonly kind: 'step_asked';
      readonly path: string;
      readonly ticket: number;
      readonly wants: readonly Want[];
      /** Null from the second attempt on. */
      readonly input: ValueSource | null;
      readonly keys: StepKeys | null;
      /** When it gives up; null: never. */
      readonly giveUpUs: number | null;
    }
  /** startAtUs 0: it begins at once. */
  | { readonly kind: 'step_granted'; readonly path: string; readonly startAtUs: number }
  /** The step asks for recipients; without a name the rules say which pool. */
  | { readonly kind: 'step_selecting'; readonly path: string; readonly pool: string; readonly routable: Value }
  /** These recipients are held for the family of the run from this row on. */
  | {
      readonly kind: 'slate_reserved';
      readonly path: string;
      readonly poolId: string;
      /** See capacity's slateDigest. */
      readonly digest: string;
      /** The chain held exactly this slate before. */
      readonly isReused: boolean;
      /** In order. */
      readonly recipients: Value;
      /** Absent: it has no record. */
      readonly decisionId?: string;
    }
  /** The work of the step waits in a claim queue from this row on. */
  | ({
      readonly kind: 'claim_queued';
      readonly path: string;
      /** When it gives up; null: never. */
      readonly deadlineUs: number | null;
    } & QueuedClaim)
  /** Its time is over, and its item has ended before: what became of that is on its way. */
  | { readonly kind: 'claim_settling'; readonly path: string }
  /** The work of the step waits in the queue of a pool from this row on. */
  | ({
      readonly kind: 'route_queued';
      readonly path: string;
      /** When it gives up; null: never. */
      readonly deadlineUs: number | null;
    } & QueuedWork)
  /** Its time is over, and its work has left the queue before: what it came to is on its way. */
  | { readonly kind: 'route_settling'; readonly path: string }
  | { readonly kind: 'step_skipped'; readonly path: string }
  | { readonly kind: 'step_cancelling'; readonly path: string; readonly attempt: number; readonly deadlineUs: number }
  | { readonly kind: 'step_cancelled'; readonly path: string; readonly attempt: number; readonly abandoned: boolean }
  /**
   * The step runs its body: for each of `count` items of the list at `source`, at most so often with it as vars, or for
   * those who were chosen and stand in it.
   */
  | {
      readonly kind: 'step_opened';
      readonly path: string;
      readonly body: BodyKind;
      readonly source: ValueSource;
      readonly count: number;
      /** Outcomes of items are kept: for a GATHER step, or for the output of the step itself. */
      readonly keeps: boolean;
    }
  /** Enough items for one tick: the next begin at this time, 0: now. */
  | { readonly kind: 'step_continuing'; readonly path: string; readonly atUs: number }
  /** Nothing of the body begins any more; the step ends with this error, or as cancelled, once what is open ended. */
  | { readonly kind: 'step_closing'; readonly path: string; readonly error: RunFailure | null }
  /** The output is what the body of step `of` came to. */
  | {
      readonly kind: 'step_collected';
      readonly path: string;
      readonly of: string;
      readonly failed: FailedItems;
      /** Items in it have types beyond JSON. */
      readonly isTyped: boolean;
    }
  /** An item or iteration of the step ended, and its steps are forgotten. output null: nobody will read it. */
  | {
      readonly kind: 'body_completed';
      readonly path: string;
      readonly index: number;
      readonly output: ValueSource | null;
    }
  | { readonly kind: 'body_failed'; readonly path: string; readonly index: number; readonly error: RunFailure }
  | { readonly kind: 'body_cancelled'; readonly path: string; readonly index: number }
  /** The item or iteration will fail with this, once its steps that are under way have ended. */
  | { readonly kind: 'body_failing'; readonly path: string; readonly index: number; readonly error: RunFailure }
  | ({ readonly kind: 'signal_received' } & Signal)
  /** The run as a whole asks; ticket 0: it is not in line yet, and asks with its next wake. */
  | { readonly kind: 'run_asked'; readonly ticket: number; readonly wants: readonly Want[] }
  /** startAtUs 0: its first steps begin at once. */
  | { readonly kind: 'run_granted'; readonly startAtUs: number }
  /** What the caller of an update is told: an output, or why there is none. */
  | {
      readonly kind: 'update_answered';
      readonly name: string;
      readonly id: string;
      readonly output: ValueSource | null;
      readonly error: RunFailure | null;
    }
  | { readonly kind: 'cancel_requested'; readonly reason: string; readonly requestedBy: string }
  | { readonly kind: 'run_parked'; readonly code: string; readonly message: string; readonly step: string }
  | { readonly kind: 'run_paused'; readonly reason: string; readonly requestedBy: string }
  /** It was parked, paused or both. */
  | { readonly kind: 'run_resumed'; readonly requestedBy: string }
  /** Nothing handles this failure: no more steps start, and the run closes as FAILED once its open attempts ended. */
  | { readonly kind: 'run_failing'; readonly error: RunFailure }
  /** The end is decided: open attempts are told to stop, and the run closes once they ended. */
  | {
      readonly kind: 'run_ending';
      readonly status: 'COMPLETED' | 'TIMED_OUT';
      readonly output: ValueSource | null;
      readonly error: RunFailure | null;
    }
  /** The same with a successor: it begins in the row that closes the run. */
  | {
      readonly kind: 'run_continuing';
      /** The input of the successor. */
      readonly input: ValueSource;
      /** The version it executes. */
      readonly version: number;
      /** Longest time of the successor, microseconds. */
      readonly timeoutUs: number | null;
    }
  /** The run does not complete: these steps undo, one after another, what others did. Nothing else begins any more. */
  | { readonly kind: 'run_compensating'; readonly steps: readonly string[] }
  /** The run ends in this very row; what its attempts still answer is ignored. */
  | { readonly kind: 'run_terminated'; readonly reason: string; readonly requestedBy: string }
  | {
      readonly kind: 'run_closed';
      readonly status: ClosedStatus;
      readonly output: ValueSource | null;
      readonly error: RunFailure | null;
      /** The run that continues this one. Absent: none. */
      readonly successorId?: string;
    };
