/** What a decision is made from, and what it comes to. */
import type { Answers } from '../core/answer.js';
import type { Binding, Change, PoolState, RecipientFacts } from '../core/candidate.js';
import type { Routable } from '../core/routable.js';
import type { Seed } from '../core/stream.js';
import type { Waited } from '../core/waited.js';
import type { CompiledRule, RuleMatch } from '../rules/rule.js';
import type { Selection } from '../strategies/select.js';
import type { Admission, Admit } from './admission.js';
import type { Enrichments } from './enrich.js';
import type { Filtered } from './filter.js';
import type { Outcome, OutcomeClass, QueueBar, Reason } from './outcomes.js';
import type { PoolView } from './view.js';

/** A pool at the moment of a decision. */
export interface PoolSnapshot {
  readonly view: PoolView;
  /** Of those of whom anything is known. */
  readonly facts: ReadonlyMap<string, RecipientFacts>;
  readonly state: PoolState;
  readonly bindings: ReadonlyMap<string, Binding>;
  /** When a response is due, as a record says; null: never; undefined: it is worked out. */
  readonly dueUs?: number | null | undefined;
  /** What strategies in code said about it. Default: nobody was asked. */
  readonly answers?: Answers;
  /** How much work waits in its queue. Absent: nobody asked. */
  readonly queued?: number | undefined;
}

/** How large a slate has to be. */
export interface Slate {
  /** Recipients to choose at most; undefined: as many as the pool says. */
  readonly slateSize: number | undefined;
  /** Fewer than these are no choice. */
  readonly atLeast: number;
}

/** Everything a decision depends on. */
export interface DecisionInput {
  readonly decisionId: string;
  readonly nowUs: number;
  readonly routable: Routable;
  /** The run at the top of the family that selects. */
  readonly family?: string | undefined;
  /** The pool to begin with; without it the rules say which. */
  readonly poolId?: string | undefined;
  /** Chooses this recipient and no other; it is still filtered and admitted. */
  readonly recipientId?: string | undefined;
  readonly rules: readonly CompiledRule[];
  /** Every pool that the decision may reach. */
  readonly pools: ReadonlyMap<string, PoolSnapshot>;
  readonly seedOf: (poolId: string, hop: number, attempt: number) => Seed;
  /** Absent for a preview, which grants nothing. */
  readonly admit?: Admit | undefined;
  /** The first decision about the same work, within the pool's window. */
  readonly duplicateOf?: string | undefined;
  /** How often it was put off by a fallback before; default 0. */
  readonly tried?: number;
  /** How many recipients of the pool it begins with did not take it; default 0. */
  readonly offers?: number;
  /** Time that was spent before, on asking apps. */
  readonly spentUs?: number;
  readonly pinned?: ReadonlyMap<string, number> | undefined;
  /** Set for a selecting workflow: what is chosen is held for it at once, or nothing is. */
  readonly holds?: Slate | undefined;
  readonly excluded?: ReadonlySet<string>;
  readonly conflicting?: ReadonlySet<string>;
  /** Recipients it was offered to before, the last one first. */
  readonly previous?: readonly string[];
  /** Claim queues in which nobody claimed it in time; the first pool then falls back at once. Default: none. */
  readonly expiredIn?: readonly string[] | undefined;
  /** Whether somebody was late with it; the first pool then falls back at once. Default: no. */
  readonly isBreached?: boolean | undefined;
  /** Absent: it was in no queue of a pool. */
  readonly waited?: Waited | undefined;
}

/** One selection and what admission said of it. */
export interface Attempt {
  /** Knows its seed; working it out may wait until its record is written. */
  readonly moment: { readonly seed: Seed };
  /** Random numbers drawn. */
  readonly draws: number;
  readonly selection: Selection;
  /** Undefined: not asked, since nobody was chosen or it is a preview. */
  readonly admission: Admission | undefined;
}

/** What a fallback did. */
export interface Fell {
  readonly kind: string;
  readonly nextPoolId?: string;
  /** Why it did not wait in the pool's queue, as the fallback before this one would have it. */
  readonly barred?: QueueBar;
}

/** What happened in one pool. */
export interface Hop {
  readonly snapshot: PoolSnapshot;
  /** Undefined when it came to a winner, or its pool waits for claims. */
  readonly reason: Reason | undefined;
  /** What was worked out of the work; undefined: it did not come to that. */
  readonly enriched?: Enrichments;
  readonly filtered: Filtered | undefined;
  readonly attempts: readonly Attempt[];
  /** Chosen by a fallback or by name, not by the strategy. */
  readonly direct: string | undefined;
  readonly fell: Fell | undefined;
  /** When a response is due by the pool's SLA; undefined: nobody asked, or there is no deadline. */
  readonly dueUs?: number | undefined;
}

/** A decision. */
export interface Decision {
  readonly input: DecisionInput;
  readonly outcome: Outcome;
  readonly outcomeClass: OutcomeClass;
  /** Why, when it is no success. */
  readonly reason: Reason | undefined;
  readonly rules: RuleMatch;
  readonly hops: readonly Hop[];
  /** Chosen recipients, with the units each takes. */
  readonly slate: readonly { readonly id: string; readonly units: number }[];
  /** Pool that decided, or was reached last. */
  readonly poolId: string | undefined;
  /** What is to be kept of the deciding pool's state, in the transaction that admits. */
  readonly changes: readonly Change[];
  /** When to look again; for deferred, retried and cooling ones. */
  readonly retryAtUs: number | undefined;
  /** Queue that it waits in for claims. */
  readonly claimQueueId: string | undefined;
  /** Until when it may wait in the queue of its pool; undefined: it does not. */
  readonly waitsUntilUs?: number | undefined;
  /** Who may claim it there, best first. */
  readonly claimants: readonly { readonly id: string; readonly units: number }[];
}
