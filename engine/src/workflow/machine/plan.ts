/** A compiled, immutable definition version: all the machine needs, nothing to parse. */
import { refOfPath } from './path.js';
import type { ClaimUntil } from './claim-until.js';
import type { Value, ValueSource } from './value.js';

/** Priority of what does not say its own, of 1 (first) to 5 (last). */
export const DEFAULT_PRIORITY = 3;

/** Queue of the tasks that the engine does itself. No app can serve it: names of queues hold no such sign. */
export const HTTP_QUEUE = '#http';

/** Handler of those that are HTTP calls. */
export const HTTP_HANDLER = 'http';

/** What expressions may read at a tick. Steps are looked up only as far as the expression refers to them. */
export interface ExpressionScope {
  readonly input: () => unknown;
  /** Output of a completed step, undefined otherwise. */
  readonly stepOutput: (ref: string) => unknown;
  /** Failure of a failed step, undefined otherwise. */
  readonly stepError: (ref: string) => unknown;
  /** The item of the innermost scatter around the step; undefined where there is none. */
  readonly item?: () => unknown;
  /** Place of the item or iteration of the innermost body around the step, from 0; undefined where there is none. */
  readonly index?: () => number | undefined;
  /** What the innermost loop around the step carries from one iteration to the next; undefined where there is none. */
  readonly vars?: () => unknown;
  /** The input of the update that is asked about or was taken; undefined where there is none. */
  readonly update?: () => unknown;
  readonly run: Readonly<Record<string, unknown>>;
}

/** A compiled expression or a template of them. Throws DuctorError expression_failed. */
export interface Template {
  /**
   * When the template is exactly `input`, `item`, `vars` or `steps.X.output`: where the value already stands. A step is
   * named by its ref.
   */
  readonly source: ValueSource | null;
  /** Refs of steps it reads. */
  readonly reads: readonly string[];
  /** Evaluates to plain JSON. */
  evaluate(scope: ExpressionScope): unknown;
}

/** Retry policy with all defaults filled in. */
export interface RetryPlan {
  readonly maxAttempts: number;
  readonly initialIntervalMs: number;
  readonly backoff: number;
  readonly maxIntervalMs: number;
  /** Share of each wait that is random, 0 to 1. */
  readonly jitter: number;
  readonly nonRetryable: readonly string[];
  /** Longest time from the first attempt's scheduling to the end of the last. */
  readonly totalTimeoutMs: number | null;
}

/** Keys and limits of what has to be granted; keys evaluate to texts. */
export interface SemaphorePlan {
  readonly concurrency: readonly { readonly key: Template; readonly limit: number }[];
  readonly rate: { readonly key: Template; readonly limit: number; readonly perUs: number } | null;
}

/** An edge between two steps, by their refs. */
export interface PlanEdge {
  readonly sourceRef: string;
  readonly targetRef: string;
  readonly type: 'SUCCESS' | 'FAILURE' | 'ALWAYS' | 'TIMEOUT';
  readonly condition: Template | null;
  /** Case of a SWITCH source that the edge is for; null: for every case. */
  readonly case: string | null;
}

/** When a step begins, by its edges: once all are resolved, or once so many fired. */
export type Join =
  | { readonly mode: 'all' }
  | {
      readonly mode: 'n_of';
      readonly count: number;
      /** Steps that lead to nothing else are told to stop once it begins. */
      readonly cancelLosers: boolean;
    };

/** What a step undoes once the run does not complete: the effect of a step that completed. */
export interface Compensation {
  /** The step that is undone. */
  readonly sourceRef: string;
  /** Undone only where this holds; null: always. */
  readonly condition: Template | null;
}

interface PlanStepBase {
  readonly ref: string;
  readonly title: string;
  /** Set for a compensation: such a step has no edges, and begins only when the run is compensated. */
  readonly compensates: Compensation | null;
  readonly incoming: readonly PlanEdge[];
  readonly outgoing: readonly PlanEdge[];
  readonly join: Join;
}

/** What becomes of a child whose parent comes to its end first. */
export type ClosePolicy = 'cancel' | 'terminate' | 'abandon';

/** Who may decide an approval, and on what. */
export interface OpenApproval {
  /** null: whoever may send signals to the run. */
  readonly assignees: readonly string[] | null;
  /** What may be decided, at least one. */
  readonly options: readonly string[];
  /** Who may decide besides, and from when; null: nobody, or they may already. */
  readonly escalation: { readonly atUs: number; readonly assignees: readonly string[] } | null;
}

/** A step. */
export type PlanStep =
  | (PlanStepBase & {
      readonly type: 'CALLBACK';
      readonly handler: string;
      readonly queue: string;
      readonly input: Template;
      readonly retry: RetryPlan;
      readonly timeoutMs: number;
      readonly cancelTimeoutMs: number;
      /** Longest time an attempt may wait for a worker. */
      readonly scheduleToStartTimeoutMs: number | null;
      /** Longest time between two signs of life of a running attempt. */
      readonly heartbeatTimeoutMs: number | null;
      /** 1 (first) to 5 (last); null: that of the plan. */
      readonly priority: number | null;
      /** Slots of a worker that an attempt takes. */
      readonly cost: number;
      /** Evaluates to a text: whose turn its attempts are; null: as the plan says. */
      readonly fairnessKey: Template | null;
      /** Evaluates to a text: what bodies deduplicate by; null: the run's id and the step's path. */
      readonly idempotencyKey: Template | null;
      /** What has to be granted before each attempt; null: nothing. */
      readonly semaphores: SemaphorePlan | null;
      /** The update that it waits for before its first attempt; null: it waits for none. */
      readonly takes: TakenUpdate | null;
    })
  | (PlanStepBase & {
      readonly type: 'DATAFLOW';
      /** The whole operation, compiled. Throws DuctorError expression_failed or expression_too_costly. */
      readonly transform: (scope: ExpressionScope) => unknown;
    })
  | (PlanStepBase & {
      readonly type: 'WAIT';
      /** When the wait ends, microseconds since 1970. */
      readonly wakeAtUs: (scope: ExpressionScope, nowUs: number) => number;
    })
  | (PlanStepBase & {
      readonly type: 'SWITCH';
      /** The first case that holds, else the default one; null: none. Throws DuctorError expression_failed. */
      readonly choose: (scope: ExpressionScope) => string | null;
    })
  | (PlanStepBase & {
      readonly type: 'FAIL';
      readonly code: string;
      /** Throws DuctorError expression_failed. */
      readonly message: (scope: ExpressionScope) => string;
    })
  | (PlanStepBase & { readonly type: 'COMPLETE'; readonly output: Template })
  | (PlanStepBase & {
      readonly type: 'SUB_WORKFLOW';
      readonly familySlug: string;
      /** 0: the current one when the child begins. */
      readonly version: number;
      readonly input: Template;
      /** The step is done once the child is on its way. */
      readonly isDetached: boolean;
      readonly closePolicy: ClosePolicy;
    })
  | (PlanStepBase & {
      readonly type: 'CONTINUE_AS_NEW';
      /** The input of the successor. */
      readonly input: Template;
      /** It executes the version that is current when the step begins, not that of this run. */
      readonly isCurrent: boolean;
    })
  | (PlanStepBase & {
      readonly type: 'SCATTER';
      /** The list: the body runs once for each of its items. */
      readonly items: Template;
      /** Items under way at a time. */
      readonly maxParallel: number;
      /** How many of so many items may fail. */
      readonly tolerated: (items: number) => number;
      /** A GATHER step collects the outputs of its items. */
      readonly keeps: boolean;
      readonly body: PlanBody;
    })
  | (PlanStepBase & {
      readonly type: 'GATHER';
      /** Ref of the SCATTER step, in the same body. */
      readonly of: string;
      /** What stands for an item that failed. */
      readonly failed: FailedItems;
    })
  | (PlanStepBase & {
      readonly type: 'LOOP';
      /** What the first iteration reads as `vars`. */
      readonly vars: Template;
      /** Asked when an iteration has ended, in its scope. Throws DuctorError expression_failed. */
      readonly until: (scope: ExpressionScope) => boolean;
      readonly maxIterations: number;
      readonly body: PlanBody;
    })
  | (PlanStepBase & {
      readonly type: 'SELECT';
      /** Name or id of the pool; empty: the tenant's rules say which. */
      readonly pool: string;
      /** The work that is routed. */
      readonly routable: Template;
      /** Recipients to choose at most; null: as many as the pool says. */
      readonly slateSize: number | null;
      /** Fewer than these are no choice. */
      readonly atLeast: number;
      /** What is done with those who were chosen; absent: nothing, the step is done once they are held. */
      readonly body?: PlanBody;
      readonly mode: SelectMode;
      /** Recipients under way at a time, where the body runs for each. */
      readonly maxParallel: number;
      /** For how many of so many recipients the body may fail, where it runs for each. */
      readonly tolerated: (recipients: number) => number;
    })
  | (PlanStepBase & {
      readonly type: 'ROUTE';
      /** Name or id of the pool; empty: the tenant's rules say which. */
      readonly pool: string;
      /** The work that is routed. */
      readonly routable: Template;
      /** Evaluates to a list of ids: recipients that must not get it. */
      readonly exclude: Template;
      /** What is still assigned by then ends with the run. */
      readonly endsWithRun: boolean;
      /** Seats and tiers are those of the run's family, and end with it. */
      readonly isSeatOfFamily: boolean;
      /**
       * Until when its work may wait in the queue of a pool, microseconds since 1970; null: as long as that lets it.
       * Throws DuctorError expression_failed.
       */
      readonly deadlineUs: (scope: ExpressionScope, nowUs: number) => number | null;
    })
  | (PlanStepBase & {
      readonly type: 'CLAIM';
      readonly pool: string;
      readonly routable: Template;
      readonly exclude: Template;
      /** The same for what is claimed. */
      readonly endsWithRun: boolean;
      /** What it waits for. */
      readonly until: ClaimUntil;
      /** When it gives up, microseconds since 1970; null: never. Throws DuctorError expression_failed. */
      readonly deadlineUs: (scope: ExpressionScope, nowUs: number) => number | null;
    })
  | (PlanStepBase & {
      readonly type: 'SIGNAL';
      readonly signal: string;
      /** When it gives up, microseconds since 1970; null: never. Throws DuctorError expression_failed. */
      readonly deadlineUs: (scope: ExpressionScope, nowUs: number) => number | null;
    })
  | (PlanStepBase & {
      readonly type: 'APPROVAL';
      readonly signal: string;
      readonly deadlineUs: (scope: ExpressionScope, nowUs: number) => number | null;
      /** Who may decide, and on what. Throws DuctorError expression_failed. */
      readonly open: (scope: ExpressionScope, nowUs: number) => OpenApproval;
    });

/** A signal that steps of a plan wait for. */
export interface PlanSignal {
  readonly name: string;
  /** What may be decided, when it decides an approval; null: it does not, and carries what the check lets through. */
  readonly options: readonly string[] | null;
  /** Problems of a payload, or of the form of a decision; empty when it is fine. */
  readonly check: (payload: Value) => readonly string[];
}

/** The update that a CALLBACK step takes. */
export interface TakenUpdate {
  readonly name: string;
  /** The body receives the input of the update as it was sent; otherwise what `input` comes to. */
  readonly isInput: boolean;
}

/** A condition under which something is refused. */
export interface Refusal extends Pick<Template, 'reads'> {
  /** Why; null: it is not refused. Throws DuctorError expression_failed. */
  evaluate(scope: ExpressionScope): string | null;
}

/** What callers may ask of a run, and how it is answered. */
export interface PlanUpdate {
  readonly name: string;
  /** Ref of the step that takes it. */
  readonly handledBy: string;
  /** Problems of an input; empty when it is fine. */
  readonly check: (input: Value) => readonly string[];
  /** Why it is refused as the run stands: evaluates to a text, or null when it is not. null: it never is. */
  readonly refusal: Refusal | null;
  /** What the caller is answered; null: the output of the step. */
  readonly output: Template | null;
}

/**
 * For whom the body of a SELECT step runs: for each recipient; in their order until it completes for one of them; once
 * for all of them.
 */
export type SelectMode = 'each' | 'ranked' | 'slate';

/** What a gathered list holds for an item that failed: null, nothing at all, or `{"error": ...}`. */
export type FailedItems = 'null' | 'skip' | 'error';

/** Steps that run together: those of a workflow, or of a body. */
export interface PlanBody {
  /** In an order where every step comes after the steps before it. */
  readonly steps: readonly PlanStep[];
  /** Absent: an object of the outputs of completed steps without outgoing edges, by ref. */
  readonly output: Template | null;
}

/** A version of a workflow, ready to run. */
export interface Plan extends PlanBody {
  readonly familySlug: string;
  readonly version: number;
  /** SHA-256 of the canonical definition, hex. */
  readonly digest: string;
  /** All steps, those in bodies too: a ref is unique in its definition. */
  readonly stepByRef: ReadonlyMap<string, PlanStep>;
  /** Longest time of a run. */
  readonly timeoutMs: number | null;
  /** How long runs are kept after their end; null: as long as the tenant keeps them. */
  readonly retentionMs: number | null;
  /** What becomes of open attempts once a failure is not handled: they may end, or are told to stop. */
  readonly onFailure: 'drain' | 'cancel';
  /** What becomes of a run whose step has no attempts left and no edge for its failure. */
  readonly onExhausted: 'fail' | 'park';
  /** Of steps that do not say their own. */
  readonly priority: number;
  /** Of steps that do not say their own; null: they have none. */
  readonly fairnessKey: Template | null;
  /** Signals that its runs can receive, by name. */
  readonly signals: ReadonlyMap<string, PlanSignal>;
  /** What has to be granted before the run begins; null: nothing. */
  readonly semaphores: SemaphorePlan | null;
  /** Updates that its runs answer, by name. */
  readonly updates: ReadonlyMap<string, PlanUpdate>;
  /** What its runs tell of themselves, by name. */
  readonly queries: ReadonlyMap<string, Template>;
  /** A step of it may leave what ends with its run or family: reservations, assignments, seats. */
  readonly selects: boolean;
  /** Limits of recipients when the version was published, units; 0 or absent: unlimited. */
  readonly pinned: ReadonlyMap<string, number>;
  /** Others may send its runs messages of which none may be lost: such a run ends only once it has seen them all. */
  readonly receives: boolean;
  /** Problems of an input, empty when it is fine. */
  readonly checkInput: (input: Value) => readonly string[];
}

/** The plan's step at a path of a run. */
export function stepAt(plan: Plan, path: string): PlanStep | undefined {
  return plan.stepByRef.get(refOfPath(path));
}
