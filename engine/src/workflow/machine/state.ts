/**
 * State of a run: the fold of its journal. Read-only everywhere; `fold` alone makes a next one.
 *
 * Run status
 *   PENDING -> RUNNING <-> WAITING -> COMPLETED | FAILED | TIMED_OUT | CONTINUED
 *   RUNNING | WAITING -> CANCELLING -> CANCELLED
 *   RUNNING | WAITING | CANCELLING <-> PARKED;  RUNNING | WAITING <-> PAUSED -> PARKED
 *   any of them -> TERMINATED
 * A run that does not complete and has something to compensate does so before it closes: `compensating` is set, and
 * only those steps begin.
 * Step status (a step that is not in `steps` is PENDING)
 *   PENDING -> SCHEDULED -> RUNNING -> COMPLETED | FAILED | BACKOFF;  BACKOFF -> SCHEDULED (next attempt)
 *   PENDING -> WAITING (a timer, a child run, a signal, a claim, or work in a queue) -> COMPLETED | FAILED
 *   PENDING -> WAITING (an update; then in line, if its attempt needs something) -> SCHEDULED | FAILED
 *   PENDING -> COMPLETED | FAILED (done by the coordinator itself)
 *   PENDING | BACKOFF -> WAITING (in line for what its attempt needs, see gate.ts) -> SCHEDULED | FAILED
 *   PENDING -> SKIPPED
 *   SCHEDULED | RUNNING -> CANCELLING -> COMPLETED | FAILED | CANCELLED;  BACKOFF | WAITING -> CANCELLED
 *   SCHEDULED | RUNNING -> CANCELLED (the run is terminated)
 *   PENDING -> OPEN (its body runs) -> CLOSING (nothing of it begins any more)
 *   OPEN | CLOSING -> COMPLETED | FAILED | CANCELLED, once nothing of the body is under way
 * Steps of a body leave the table together, when their item or iteration has ended: its outcome stands in the step that
 * runs the body.
 */
import type { ClaimUntil } from './claim-until.js';
import type { ClosePolicy, OpenApproval } from './plan.js';
import type { RunFailure } from './run-failure.js';
import type { Signal, SignalBox } from './signal-box.js';
import type { Want } from '../../capacity/index.js';
import type { Value, ValueSource } from './value.js';

/** Public state of a run. */
export type RunStatus =
  | 'PENDING'
  | 'RUNNING'
  | 'WAITING'
  | 'PAUSED'
  | 'PARKED'
  | 'CANCELLING'
  | 'COMPLETED'
  | 'FAILED'
  | 'CANCELLED'
  | 'TIMED_OUT'
  | 'TERMINATED'
  | 'CONTINUED';

/** State of a step. */
export type StepStatus =
  | 'SCHEDULED'
  | 'RUNNING'
  | 'BACKOFF'
  | 'WAITING'
  | 'CANCELLING'
  | 'OPEN'
  | 'CLOSING'
  | 'COMPLETED'
  | 'FAILED'
  | 'SKIPPED'
  | 'CANCELLED';

export type { ErrorCause, RunFailure } from './run-failure.js';

/** What came of an item that failed. */
export interface ItemFailure {
  readonly code: string;
  readonly message: string;
}

/** What came of an item: its output, its failure, or nothing as long as it has not ended. */
export type ItemOutcome = Value | ItemFailure | null;

/** For what a body runs: items of a list, a loop, recipients that were chosen, all of them together. */
export type BodyKind = 'scatter' | 'loop' | 'select' | 'slate';

/** The body of a step that is under way, or was. */
export interface BodyState {
  readonly kind: BodyKind;
  /**
   * scatter: where the list stands. loop: what the next iteration reads as `vars`. select: what was chosen, whose
   * recipients are the items. slate: what was chosen, which is the only item.
   */
  readonly source: ValueSource;
  /** Items of the list, or most iterations. */
  readonly count: number;
  /** Items or iterations that have begun; they begin in order. */
  readonly begun: number;
  readonly completed: number;
  readonly failed: number;
  /** Those that were stopped. */
  readonly stopped: number;
  /** Whether outcomes are kept, because a GATHER step will collect them. */
  readonly keeps: boolean;
  /** Bytes of the outputs that are kept; beyond the limit of one value none are: no list could hold them. */
  readonly keptBytes: number;
  /** Outcomes by item, in chunks; empty when none are kept. */
  readonly outcomes: readonly (readonly ItemOutcome[])[];
  /** The first failures. */
  readonly failures: readonly (ItemFailure & { readonly index: number })[];
}

/** A run of a body, for an item or iteration: `offer[3]`. */
export interface ScopeState {
  readonly name: string;
  /** Paths of its own steps, in order of their first entry. */
  readonly members: readonly string[];
  /** Why it is failing while steps of it are under way. */
  readonly error: RunFailure | null;
}

/** How a run hangs together with the one that started it. */
export interface FamilyLink {
  /** The run at the top, which nobody's step started. */
  readonly rootId: string;
  readonly parentId: string;
  /** Path of the parent's step. */
  readonly parentPath: string;
  /** The parent waits: it is told when this run ends. */
  readonly notifies: boolean;
  /** A run above may hold recipients until this one has ended, too. Absent: none may. */
  readonly mayHold?: true;
}

/** Where a run stands that continues another one. */
export interface ChainLink {
  /** The first run of the chain. */
  readonly chainId: string;
  readonly previousId: string;
  /** From 2 on, one more with each run. */
  readonly no: number;
  /** A run before it may hold recipients. Absent: none may. */
  readonly mayHold?: true;
}

/** Where a run comes from that takes over steps of another one. */
export interface ForkLink {
  readonly runId: string;
  /** The step that runs again, with all that follow from it. */
  readonly from: string;
}

/** What the successor of a run begins with. */
export interface Continuing {
  readonly input: ValueSource;
  readonly version: number;
  /** Its longest time, microseconds. */
  readonly timeoutUs: number | null;
}

/** A child run, as the step that started it knows it. */
export interface ChildState {
  readonly runId: string;
  readonly familySlug: string;
  readonly policy: ClosePolicy;
  /** Nobody waits for it. */
  readonly isDetached: boolean;
  /** It was told to end. */
  readonly told: 'cancel' | 'terminate' | null;
}

/** Keys that expressions gave the attempts of a step; empty: the default. */
export interface StepKeys {
  /** Whose turn they are. */
  readonly fairness: string;
  /** What bodies deduplicate by. */
  readonly idempotency: string;
}

/** What a step that waits for a signal waits for. */
export interface Awaited {
  /** Name of the signal. */
  readonly name: string;
  /** When it gives up, microseconds since 1970; null: never. */
  readonly deadlineUs: number | null;
  /** Set for an approval. */
  readonly approval: OpenApproval | null;
}

/** The work of a step in a claim queue. */
export interface QueuedClaim {
  readonly itemId: string;
  readonly decisionId: string;
  readonly queueId: string;
  readonly poolId: string;
  readonly until: ClaimUntil;
}

/** The work of a step in the queue of a pool. */
export interface QueuedWork {
  /** The decision that queued it first. */
  readonly workId: string;
  /** The pool that it came to then; empty: none, a rule holds it. */
  readonly poolId: string;
}

/** A part of a body's work that is done. */
export interface SubStep {
  /** Unique in the step. */
  readonly name: string;
  readonly output: Value;
}

/** What a step or run has asked for, see gate.ts. */
export interface GateState {
  readonly state: 'waiting' | 'held' | 'left';
  readonly ticket: number;
  readonly wants: readonly Want[];
  /** Once it is granted: when it begins; null: it has. */
  readonly startAtUs: number | null;
  /** When it came into this state, microseconds since 1970. */
  readonly sinceUs: number;
}

/** State of one step. */
export interface StepState {
  readonly path: string;
  readonly status: StepStatus;
  /** Attempts begun; 0 for steps the coordinator does itself. */
  readonly attempt: number;
  /** What all attempts receive; null for steps without input. */
  readonly input: ValueSource | null;
  /** Set when COMPLETED. */
  readonly output: Value | null;
  /** Of the last attempt that failed. */
  readonly error: RunFailure | null;
  /**
   * When time changes this step: latest begin (SCHEDULED, where there is one), attempt deadline (RUNNING), next attempt
   * (BACKOFF), end of wait (WAITING), give-up (CANCELLING), more items (OPEN, where a tick had begun enough of them).
   */
  readonly dueAtUs: number | null;
  /** Worker of a noted attempt. */
  readonly worker: string | null;
  /** Attempts lost with their worker since the last one that answered. */
  readonly lostInARow: number;
  /** When it came into this status, microseconds since 1970; 0 when a journal of long ago does not say. */
  readonly sinceUs: number;
  /** When its first attempt was scheduled, or the first after it parked the run; 0: none since, or unknown. */
  readonly firstAtUs: number;
  /** Last progress that a failed attempt reported; what the next attempt receives. */
  readonly progress: Value | null;
  /** What its attempts have done so far, in order; none once it has ended. */
  readonly subSteps: readonly SubStep[];
  /** Of a step that runs a body. */
  readonly body: BodyState | null;
  /** Of a SUB_WORKFLOW step that has begun; null otherwise. */
  readonly child: ChildState | null;
  /** Null: all are the default ones. */
  readonly keys: StepKeys | null;
  /** Set while it waits for a signal; absent or null: it does not. */
  readonly awaits?: Awaited | null;
  /** Set while its work waits in a claim queue; absent: it does not. */
  readonly claim?: QueuedClaim;
  /** Set while its work waits in the queue of a pool; absent: it does not. */
  readonly queued?: QueuedWork;
  /** What its attempts have to be granted; null: nothing. */
  readonly gate: GateState | null;
  /** The update that its attempts answer; absent or null: none. */
  readonly taken?: Signal | null;
}

/**
 * All steps that are no longer PENDING, by path in order of their first entry, with sums kept as steps change. Of
 * bodies only what is under way.
 */
export interface StepTable extends ReadonlyMap<string, StepState> {
  /** Steps that are SCHEDULED, RUNNING or CANCELLING. */
  readonly active: number;
  /** Steps that are BACKOFF or WAITING. */
  readonly waiting: number;
  /** Steps that are OPEN or CLOSING. */
  readonly bodies: number;
  /** Runs of bodies that are under way, by name. */
  readonly scopes: ReadonlyMap<string, ScopeState>;
  /** Least dueAtUs of all steps; null when time changes none. */
  readonly nextDueUs: number | null;
  /** Estimate of the memory all steps take, in bytes. */
  readonly bytes: number;
}

/** A run that is held for people. */
export interface Parked {
  readonly code: string;
  readonly message: string;
  /** Step whose attempts parked it; empty when none did. */
  readonly step: string;
}

/** State of a run after `seq` rows of its journal. */
export interface RunState {
  readonly tenantId: string;
  readonly runId: string;
  readonly familySlug: string;
  readonly version: number;
  readonly status: RunStatus;
  /** Number of the last journal row; 0 before the first. */
  readonly seq: number;
  /** Time of the last row; never goes back. Microseconds since 1970. */
  readonly atUs: number;
  readonly startedAtUs: number;
  readonly closedAtUs: number | null;
  readonly input: Value;
  readonly attributes: Readonly<Record<string, string>>;
  /** Set when COMPLETED, and before that while a run that a step completed waits for its open attempts to end. */
  readonly output: ValueSource | null;
  /** Set when FAILED or TIMED_OUT, and before that while such a run waits for its open attempts to end. */
  readonly error: RunFailure | null;
  readonly cancel: { readonly reason: string; readonly requestedBy: string } | null;
  readonly parked: Parked | null;
  readonly paused: { readonly reason: string; readonly requestedBy: string } | null;
  /** Since when it is parked or paused, microseconds since 1970. */
  readonly heldSinceUs: number | null;
  /** How the run will close once its open attempts ended: a step decided it, or its time is over. */
  readonly ending: 'COMPLETED' | 'TIMED_OUT' | 'CONTINUED' | null;
  /** Set while the run is about to close as CONTINUED. */
  readonly continuing: Continuing | null;
  /** The run that continues this one, which is CONTINUED. */
  readonly continuedAs: string | null;
  /** Compensations in the order in which they run, each after the end of the one before; null: there are none (yet). */
  readonly compensating: readonly string[] | null;
  /** When the run must have ended, microseconds since 1970. */
  readonly deadlineUs: number | null;
  /** W3C trace context of the trigger, for spans of its steps; absent: none. Decides nothing. */
  readonly traceparent?: string;
  /** Its chain is the only open one of its family with this key; absent: it has none. */
  readonly runKey?: string;
  /** Null for a run that no step started. */
  readonly family: FamilyLink | null;
  /** Signals that were received; absent: none ever. */
  readonly signals?: SignalBox;
  /** Null for a run that continues none. */
  readonly chain: ChainLink | null;
  /** What the run as a whole has to be granted; null: nothing. */
  readonly gate: GateState | null;
  readonly steps: StepTable;
}
