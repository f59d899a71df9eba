/**
 * What a strategy knows of a recipient, and of the moment it chooses in. All of it is given; none of it is looked up.
 */
import type { CelExpression } from '../../expressions/index.js';
import type { Answers } from './answer.js';
import type { Words } from './hash.js';
import type { Routable } from './routable.js';
import type { Seed, Stream } from './stream.js';

/** What changes about a recipient while its pool does not. Absent: never happened, or not known. */
export interface RecipientFacts {
  /** Units of active reservations. */
  readonly held: number;
  /** Units of open assignments. */
  readonly committed: number;
  /** Units admitted today, by reservations and by assignments without one. */
  readonly admittedToday: number;
  readonly committedToday: number;
  readonly lastAssignedUs?: number;
  readonly lastReleasedUs?: number;
  readonly lastInboundUs?: number;
  /** Since when it takes part: joined, or came back after more than 10 minutes. */
  readonly inRotationSinceUs?: number;
  /** Until when it is left out: a rate limit, or an ejection. */
  readonly cooldownUntilUs?: number;
  /** Whether the cooldown is an ejection for failures; these are lifted when too many are ejected. */
  readonly isEjected?: boolean;
  /** Rate limits in a row that it has not yet recovered from; the cooldown over, it is tried before it is trusted. */
  readonly limitEpisode?: number;
  /** Until when somebody tries it. */
  readonly probeUntilUs?: number;
  /** Peak-sensitive moving average of its latency, and of when. */
  readonly latencyUs?: number;
  readonly latencyAtUs?: number;
  /** Successes and failures in thousandths, decayed to ratedAtUs. */
  readonly successMilli?: number;
  readonly failureMilli?: number;
  readonly ratedAtUs?: number;
  /** Response times: counts of 32 buckets, the i-th from 2^i to 2^(i+1) ms. */
  readonly responses?: readonly number[];
}

/** A recipient that may be chosen. */
export interface Candidate {
  readonly id: string;
  /** Its place among the pool's recipients, in order of their ids. */
  readonly place: number;
  readonly words: Words;
  /** Thousandths; slow start is taken into account. */
  readonly weightMilli: number;
  readonly tier: number;
  readonly order: number;
  readonly costMicros: bigint | undefined;
  /** Units in use: held and committed. */
  readonly load: number;
  /** Units it may have in use; undefined: as many as it likes. */
  readonly cap: number | undefined;
  readonly facts: RecipientFacts;
  /** Levels of the skills it has, 1 to 5. */
  readonly skills: ReadonlyMap<string, number>;
  /** Whether it is one only for work that is bound to it: of itself it gets nothing any more. */
  readonly isKept?: boolean;
  /** Its attributes as expressions see them. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Whom a key is bound to. */
export interface Binding {
  readonly recipientId: string;
  /** From then on it is as if it were not there. */
  readonly expiresUs: number;
  /** Of a key that climbs: the highest tier that it has come to. */
  readonly tier?: number;
}

/**
 * State of one strategy: plain JSON, given before a choice and taken after it. What each part means, a strategy says.
 */
export interface NodeState {
  readonly at?: string;
  readonly left?: number;
  /** By recipient. */
  readonly of?: Readonly<Record<string, number>>;
}

/** State of all strategies of a pool, by their place in its tree. */
export type PoolState = Readonly<Record<string, NodeState>>;

/** What a choice leaves behind once it is admitted. */
export interface Change {
  /** New state of the strategy at a place. */
  readonly key?: string;
  readonly state?: NodeState;
  /** A key bound to a recipient; its owner ends all bindings that it has. */
  readonly bind?: { readonly key: string; readonly owner?: string } & Binding;
  /** A recipient that is tried until then. */
  readonly probe?: Probe;
}

/** A recipient that is tried until then, after a rate limit. */
export interface Probe {
  readonly recipientId: string;
  readonly untilUs: number;
}

/** The moment of a choice. */
export interface Context {
  readonly nowUs: number;
  readonly poolId: string;
  readonly seed: Seed;
  readonly stream: Stream;
  readonly routable: Routable;
  /** The run at the top of the family that selects; undefined: no workflow does. */
  readonly family: string | undefined;
  /** When the response is due, by the pool's SLA; undefined without one. */
  readonly dueUs: number | undefined;
  /** Recipients it was offered to before, the last one first. */
  readonly previous: readonly string[];
  /** Every recipient of the pool and its tier, eligible or not. */
  readonly members: ReadonlyMap<string, number>;
  readonly state: PoolState;
  readonly bindings: ReadonlyMap<string, Binding>;
  /** Answers of strategies in code about this pool. */
  readonly answers: Answers;
  /** Whether every candidate has a cap: loads are then compared with caps, else with weights. */
  readonly isCapped: boolean;
  /** Evaluates an expression over the routable, and over a candidate when one is given. */
  evaluate(expression: CelExpression, candidate?: Candidate): unknown;
}
