/** The parts of the fair queue; fair-queue.ts alone changes them. */
import type { Task } from '../ports.js';
import type { CapabilityMatcher } from './capability.js';
import { LinkedList, listNode } from './linked-list.js';

/** All that waits and all that serves of one tenant. */
export class Tenant<S> {
  readonly node = listNode<Tenant<S>>(this);
  /** Lanes with a task, by their key. */
  readonly lanes = new Map<string, Lane<S>>();
  /** Groups with a session, by their signature. */
  readonly groups = new Map<string, Group<S>>();
  /** Groups with room and work; the tenant is in the turn while there is one. */
  readonly ready = new LinkedList<Group<S>>();
  /** What it may still take in this visit; negative: what it took too much. */
  deficit = 0;
  tasks = 0;

  constructor(readonly tenantId: string) {}
}

/** Sessions that can do exactly the same. */
export class Group<S> {
  readonly node = listNode<Group<S>>(this);
  readonly members = new Set<Consumer<S>>();
  /** Members with room. */
  readonly available = new LinkedList<Consumer<S>>();
  /** Lanes it serves that have a task; each lane has a place of its own in every group. */
  readonly places = new Map<Lane<S>, LanePlace<S>>();
  readonly ring = new LinkedList<LanePlace<S>>();
  /** Tasks in those lanes. */
  waiting = 0;
  /** Tasks wait and no member has room. */
  isStarved = false;

  constructor(
    readonly tenant: Tenant<S>,
    readonly matcher: CapabilityMatcher,
  ) {}
}

/** A lane's place in the ring of a group. */
export class LanePlace<S> {
  readonly node = listNode<LanePlace<S>>(this);

  constructor(readonly lane: Lane<S>) {}
}

/** Tasks of one queue, workflow, handler and version, first in first out. */
export class Lane<S> {
  readonly tasks = new LinkedList<Queued<S>>();
  /** Groups that serve it. */
  readonly groups = new Set<Group<S>>();

  constructor(
    readonly key: string,
    readonly kind: Task,
  ) {}
}

/** A task that waits. */
export class Queued<S> {
  readonly node = listNode<Queued<S>>(this);

  constructor(
    readonly task: Task,
    readonly tenant: Tenant<S>,
    readonly lane: Lane<S>,
  ) {}
}

/** A session as the queue sees it. */
export class Consumer<S> {
  readonly node = listNode<Consumer<S>>(this);
  /** Tasks it may be given now. */
  room = 0;

  constructor(
    readonly session: S,
    readonly group: Group<S>,
  ) {}
}
