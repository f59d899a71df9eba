/** What a batch of the gate lane locks, reads and writes besides the journal; a field for each kind of authority. */
import type { Family, Reservation, ReservationChanges } from '../../capacity/index.js';
import type { SemaphoreChanges, SemaphoreKey, SemaphoreUsage } from '../../capacity/index.js';
import type { ClaimState } from '../../claims/index.js';
import type {
  AskingCall,
  CompiledRule,
  Decision,
  Ending,
  RouteAsk,
  WorldChanges,
  WorldParts,
} from '../../routing/index.js';

/** Sessions over which commits go: `plain` for what touches runs alone, `gate` for what touches what they share. */
export type CommitLane = 'plain' | 'gate';

/** What a batch of the gate lane locks. */
export interface GateLocks {
  readonly semaphores: readonly SemaphoreKey[];
  /** The runs of the batch: what they hold and wait for is read, wherever they stand in line. */
  readonly runIds: readonly string[];
  /** Selections that are asked for: the states and accounts of their pools. */
  readonly selections: readonly SelectionAsk[];
  /** Families in which something is reserved or may be released, with the accounts of whom they hold. */
  readonly families: readonly Family[];
  /** Claim items that may be taken out. */
  readonly items: readonly ItemKey[];
  /** Work that may leave queues of pools. */
  readonly works: readonly WorkKey[];
}

/** A claim item. */
export interface ItemKey {
  readonly tenantId: string;
  readonly itemId: string;
}

/** Work that waits in the queue of a pool. */
export interface WorkKey {
  readonly tenantId: string;
  /** The decision that queued it first. */
  readonly workId: string;
}

/** A selection that is to be made, or a decision. */
export interface SelectionAsk {
  readonly tenantId: string;
  /** Of its step. */
  readonly path: string;
  /** Name or id of the pool; empty: the rules say which. */
  readonly pool: string;
  /** Units are committed, not held: work that comes twice is told by its pool's window. */
  readonly isRoute?: boolean;
  /** Pools beside it that an earlier try came to. */
  readonly reached: readonly string[];
  readonly ask: RouteAsk;
}

/** What strategies in apps' code said before a selection, and the id of its decision. */
export type SelectionAnswers = Omit<AskingCall, 'tenantId' | 'ask'>;

/** A decision of a step, of which a record is kept. */
export interface MadeDecision {
  readonly ask: RouteAsk;
  readonly decision: Decision;
  readonly runId: string;
  /** One for each of the slate; none where it is held. */
  readonly assignmentIds: readonly string[];
  /** Who is told what becomes of its claim item, or of the work that it queues; absent: nobody. */
  readonly waiter?: string;
}

/** A run of a family, as far as its end matters to those above it. */
export interface FamilyRun {
  readonly runId: string;
  readonly chainId: string;
  /** null: it is at the top. */
  readonly parentId: string | null;
  /** It has not ended; a child that is still to begin is open. */
  readonly isOpen: boolean;
}

/** What stands of a family, read under its lock. */
export interface FamilyUsage extends Family {
  readonly held: readonly Reservation[];
  /** Everybody who is open, and everybody above them. */
  readonly runs: readonly FamilyRun[];
}

/** What selections of a tenant are decided by. */
export interface TenantUsage {
  readonly tenantId: string;
  readonly parts: WorldParts;
  /** Ids of pools by what they were asked for; one that there is not is absent. */
  readonly poolIds: ReadonlyMap<string, string>;
  /** Pools whose views are old: nothing is decided by them. */
  readonly stale: ReadonlySet<string>;
  /** Claim queues that its pools put work in, as far as there are such; kept from being removed. */
  readonly queues: ReadonlySet<string>;
  /** What items are that are locked, by id; one that there is not is absent. */
  readonly items: ReadonlyMap<string, ClaimState>;
  /**
   * Where work is that is locked: the decision that queued it there, by the one that queued it first. Null: it has left
   * all queues. What is not locked is absent.
   */
  readonly works: ReadonlyMap<string, string | null>;
  readonly rules: readonly CompiledRule[];
}

/** What reservations are decided by. */
export interface ReservationUsage {
  readonly tenants: readonly TenantUsage[];
  readonly families: readonly FamilyUsage[];
}

/** Nothing is reserved or released. */
export const NO_RESERVATIONS: ReservationUsage = { tenants: [], families: [] };

/** What becomes of accounts and states of strategies of a tenant. */
export interface TenantChanges extends WorldChanges {
  readonly tenantId: string;
  readonly made: readonly MadeDecision[];
  /** Ids of claim items that are taken out: they are open. */
  readonly withdrawn: readonly string[];
  /** Decisions whose work is taken out of its queue: it waits. */
  readonly unqueued: readonly string[];
}

/** What is written of reservations. */
export interface AdmissionChanges extends ReservationChanges {
  /** Chains whose last run has ended. */
  readonly closed: readonly Ending[];
  readonly tenants: readonly TenantChanges[];
}

/** What was read under the locks. */
export interface GateUsage {
  /** Database time, microseconds since 1970. */
  readonly nowUs: number;
  readonly semaphores: readonly SemaphoreUsage[];
  readonly reservations: ReservationUsage;
}

/** What is written besides the ticks. */
export interface GateChanges {
  readonly semaphores: SemaphoreChanges;
  readonly reservations: AdmissionChanges;
}
