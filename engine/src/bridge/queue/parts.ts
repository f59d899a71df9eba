/** The parts of the fair queue; fair-queue.ts alone changes them. */
import type { Task } from '../ports.js';
import type { CapabilityMatcher } from './capability.js';
import { LinkedList, listNode } from './linked-list.js';

/** Priorities, from 0 for the first to one less than this for the last. */
export const TIERS = 5;

/** One of something for each tier. */
function perTier<T>(make: (tier: number) => T): readonly T[] {
  return Array.from({ length: TIERS }, (_, tier) => make(tier));
}

/** All that waits with one priority. */
export class Tier<S> {
  /** Tenants with something ready in it. */
  readonly turn = new LinkedList<TenantTier<S>>();
  /** Its tasks, those first that came into it first. */
  readonly arrivals = new LinkedList<Queued<S>>();
  /** What it was served, over its weight; the tier with the least is next. */
  served = 0;

  constructor(
    readonly place: number,
    readonly weight: number,
  ) {}
}

/** All that waits and all that serves of one tenant. */
export class Tenant<S> {
  /** Lanes with a task, by their key. */
  readonly lanes = new Map<string, Lane<S>>();
  /** Groups with a session, by their signature. */
  readonly groups = new Map<string, Group<S>>();
  readonly tiers: readonly TenantTier<S>[] = perTier((tier) => new TenantTier<S>(this, tier));
  tasks = 0;

  constructor(readonly tenantId: string) {}
}

/** A tenant within a tier. */
export class TenantTier<S> {
  readonly node = listNode<TenantTier<S>>(this);
  /** Groups with room and work; the tenant is in the turn of the tier while there is one. */
  readonly ready = new LinkedList<GroupTier<S>>();
  /** What it may still take in this visit; negative: what it took too much. */
  deficit = 0;
  /** Tasks that came with this priority, also those that have moved up since. */
  tasks = 0;

  constructor(
    readonly tenant: Tenant<S>,
    readonly tier: number,
  ) {}
}

/** Sessions that can do exactly the same. */
export class Group<S> {
  readonly members = new Set<Consumer<S>>();
  /** Members with room, but not the one that saves it up. */
  readonly available = new LinkedList<Consumer<S>>();
  /** Lanes it serves that have a task; each lane has a place of its own in every group. */
  readonly places = new Map<Lane<S>, LanePlace<S>>();
  readonly tiers: readonly GroupTier<S>[] = perTier((tier) => new GroupTier<S>(this, tier));
  /** Tasks in those lanes. */
  waiting = 0;
  /** Tasks wait and no member has room. */
  isStarved = false;
  /** A member that takes nothing else until it has the room for a task of this lane; null: none does. */
  saving: { readonly consumer: Consumer<S>; readonly lane: Lane<S> } | null = null;

  constructor(
    readonly tenant: Tenant<S>,
    readonly matcher: CapabilityMatcher,
  ) {}
}

/** A group within a tier. */
export class GroupTier<S> {
  readonly node = listNode<GroupTier<S>>(this);
  readonly ring = new LinkedList<LanePlace<S>>();
  waiting = 0;
  /** Room is there, but for nothing that waits: until there is more of it, or another lane. */
  isBlocked = false;

  constructor(
    readonly group: Group<S>,
    readonly tier: number,
  ) {}
}

/** A lane's place in the ring of a group. */
export class LanePlace<S> {
  readonly node = listNode<LanePlace<S>>(this);

  constructor(readonly lane: Lane<S>) {}
}

/** Tasks of one queue, workflow, handler, version, tier and cost, by their fairness keys. */
export class Lane<S> {
  readonly flows = new Map<string, Flow<S>>();
  readonly ring = new LinkedList<Flow<S>>();
  size = 0;
  /** Groups that serve it. */
  readonly groups = new Set<Group<S>>();

  constructor(
    readonly key: string,
    readonly kind: Task,
    readonly tier: number,
  ) {}
}

/** Tasks of one fairness key in a lane, first in first out. */
export class Flow<S> {
  readonly node = listNode<Flow<S>>(this);
  readonly tasks = new LinkedList<Queued<S>>();
  /** As that of a tenant. */
  deficit = 0;

  constructor(readonly key: string) {}
}

/** A task that waits. */
export class Queued<S> {
  readonly node = listNode<Queued<S>>(this);
  readonly arrival = listNode<Queued<S>>(this);

  constructor(
    readonly task: Task,
    readonly tenant: Tenant<S>,
    /** The tier it came with. */
    readonly home: TenantTier<S>,
    public lane: Lane<S>,
    public flow: Flow<S>,
    /** When it came into its tier, ms of the caller's clock. */
    public sinceMs: number,
  ) {}
}

/** A session as the queue sees it. */
export class Consumer<S> {
  readonly node = listNode<Consumer<S>>(this);
  /** Slots it may be given now. */
  room = 0;
  /** Slots it has when nothing runs. */
  most = 1;

  constructor(
    readonly session: S,
    readonly group: Group<S>,
  ) {}
}
