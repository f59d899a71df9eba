/**
 * Tasks that wait for workers, in memory, and who gets which next. Pure: no time, no I/O.
 *
 *   tenant -+- lanes:  tasks of one (queue, workflow, handler, version), first in first out
 *           +- groups: sessions that can do exactly the same; a group is ready when one of its sessions has room and
 *                      one of its lanes has a task
 *
 * `take` goes round the tenants that have a ready group by deficit round robin (Shreedhar and Varghese, 1995: each
 * visit adds a quantum, a task costs 1 and 1 more for every 4 KiB of input), within a tenant round its ready groups,
 * within a group round its lanes and its sessions. A queue belongs to a tenant (workers serve their own only), so there
 * is no turn among the queues of different tenants: nobody gets a larger share by naming more queues.
 *
 * Invariants:
 * 1. An attempt is in the queue at most once.
 * 2. A task goes only to a session of its tenant that accepts its queue, workflow, handler and version.
 * 3. A session is given a task only while its room is positive; each task given takes one from it.
 * 4. Neither the whole nor a tenant ever holds more than the limits; what does not fit is refused.
 * 5. A call costs the same however much waits: a new lane asks each group of its tenant once, a new group each lane,
 *    and only removeShards looks at every task.
 */
import { shardOf } from '../../kernel/index.js';
import { attemptKey } from '../attempt-key.js';
import type { AttemptRef, RunKey, Task } from '../ports.js';
import { capabilityMatcher, type Capability, type TaskKind } from './capability.js';
import { LinkedList } from './linked-list.js';
import { Consumer, Group, Lane, LanePlace, Queued, Tenant } from './parts.js';

export type { Consumer } from './parts.js';

/** How much may wait. */
export interface QueueLimits {
  readonly maxTasks: number;
  /** Of inputs, over all tasks. */
  readonly maxBytes: number;
  readonly maxTasksPerTenant: number;
}

/** Tasks that wait, by what they wait for. */
export interface QueueDepth {
  /** Their turn: a worker has room. */
  readonly ready: number;
  /** Room: workers serve them, all are full. */
  readonly noRoom: number;
  /** A worker that serves them at all. */
  readonly noWorker: number;
}

/** Defaults. */
export const QUEUE_LIMITS: QueueLimits = { maxTasks: 200_000, maxBytes: 256 * 1024 * 1024, maxTasksPerTenant: 20_000 };

/** Added to a tenant's deficit at each visit: about what one busy worker takes at a time. */
const QUANTUM = 64;
const BYTES_PER_UNIT = 4096;

const costOf = ({ input }: Task): number => 1 + Math.floor(input.data.length / BYTES_PER_UNIT);
const laneKey = ({ queue, familySlug, handler, version }: Task): string =>
  `${queue}\0${familySlug}\0${handler}\0${version}`;

/** The queue; S is what the caller calls a session. */
export class FairQueue<S> {
  readonly #limits: QueueLimits;
  readonly #tenants = new Map<string, Tenant<S>>();
  readonly #queued = new Map<string, Queued<S>>();
  /** Runs that had a task refused and were not named by takeRelieved since. */
  readonly #refused = new Map<Tenant<S>, Set<string>>();
  /** Groups that ran out of room with tasks waiting, since takeStarved was last called. */
  #starved: Group<S>[] = [];
  /** Tenants with a ready group. */
  readonly #turn = new LinkedList<Tenant<S>>();
  #bytes = 0;

  constructor(limits: QueueLimits = QUEUE_LIMITS) {
    this.#limits = limits;
  }

  /** Tasks that wait. */
  get size(): number {
    return this.#queued.size;
  }

  /** Bytes of their inputs. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether `take` would give something. */
  get hasWork(): boolean {
    return this.#turn.size > 0;
  }

  /** How much waits for what. Looks at every lane: for those who watch, not for those who work. */
  depth(): QueueDepth {
    const depth = { ready: 0, noRoom: 0, noWorker: 0 };
    for (const { lanes } of this.#tenants.values()) {
      for (const { tasks, groups } of lanes.values()) {
        if (groups.size === 0) depth.noWorker += tasks.size;
        else if ([...groups].some(({ available }) => available.size > 0)) depth.ready += tasks.size;
        else depth.noRoom += tasks.size;
      }
    }
    return depth;
  }

  /** Puts a task in. `known`: it is in already; `full`: a limit is reached, nothing was done. */
  push(task: Task): 'queued' | 'known' | 'full' {
    const key = attemptKey(task);
    if (this.#queued.has(key)) return 'known';
    const tenant = this.#tenant(task.tenantId);
    if (!this.#fits(task, tenant)) {
      this.#refuse(tenant, task.runId);
      return 'full';
    }
    const lane = this.#lane(tenant, task);
    const queued = new Queued(task, tenant, lane);
    lane.tasks.push(queued.node);
    this.#queued.set(key, queued);
    this.#bytes += task.input.data.length;
    tenant.tasks += 1;
    for (const group of lane.groups) {
      group.waiting += 1;
      this.#settle(group);
    }
    return 'queued';
  }

  /** Takes an attempt out; undefined when it is not in. */
  remove(ref: AttemptRef): Task | undefined {
    const queued = this.#queued.get(attemptKey(ref));
    if (queued !== undefined) this.#drop(queued);
    return queued?.task;
  }

  /** Takes out everything of these shards. Returns how much. */
  removeShards(shards: readonly number[]): number {
    const gone = new Set(shards);
    const found = [...this.#queued.values()].filter(({ task }) => gone.has(shardOf(task.runId)));
    for (const queued of found) this.#drop(queued);
    return found.length;
  }

  /** A session that can do this; without room at first. */
  join(session: S, capability: Capability): Consumer<S> {
    const tenant = this.#tenant(capability.tenantId);
    const matcher = capabilityMatcher(capability);
    let group = tenant.groups.get(matcher.signature);
    if (group === undefined) {
      group = new Group(tenant, matcher);
      tenant.groups.set(matcher.signature, group);
      for (const lane of tenant.lanes.values()) this.#connect(group, lane);
    }
    const consumer = new Consumer(session, group);
    group.members.add(consumer);
    return consumer;
  }

  /** The session is gone. */
  leave(consumer: Consumer<S>): void {
    const { group } = consumer;
    this.setRoom(consumer, 0);
    group.members.delete(consumer);
    if (group.members.size > 0) return;
    for (const lane of group.places.keys()) lane.groups.delete(group);
    group.tenant.groups.delete(group.matcher.signature);
    this.#forgetIdle(group.tenant);
  }

  /** Says how many tasks the session may be given from now on. */
  setRoom(consumer: Consumer<S>, room: number): void {
    consumer.room = room;
    const { group } = consumer;
    if (room > 0) group.available.push(consumer.node);
    else group.available.delete(consumer.node);
    this.#settle(group);
  }

  /** Tasks that the session could do and that no session of its kind has room for. */
  unservedFor({ group }: Consumer<S>): number {
    return group.available.size > 0 ? 0 : group.waiting;
  }

  /** Sessions that could do a task of this kind, with or without room. */
  consumersFor(tenantId: string, kind: TaskKind): number {
    let count = 0;
    for (const { matcher, members } of this.#tenants.get(tenantId)?.groups.values() ?? []) {
      if (matcher.accepts(kind)) count += members.size;
    }
    return count;
  }

  /** The next task and who gets it; undefined when nobody with room can do anything that waits. */
  take(): { readonly task: Task; readonly consumer: Consumer<S> } | undefined {
    let tenant = this.#turn.first;
    if (tenant === undefined) return undefined;
    while (tenant.deficit <= 0) {
      tenant.deficit += QUANTUM;
      this.#turn.rotate();
      tenant = this.#turn.first ?? tenant;
    }
    const group = tenant.ready.first;
    const place = group?.ring.first;
    const queued = place?.lane.tasks.first;
    const consumer = group?.available.first;
    if (group === undefined || queued === undefined || consumer === undefined) return undefined;
    // Everyone steps behind the others before the task is gone: what empties by it leaves its list in #drop.
    tenant.ready.rotate();
    group.ring.rotate();
    group.available.rotate();
    tenant.deficit -= costOf(queued.task);
    this.#drop(queued);
    this.setRoom(consumer, consumer.room - 1);
    return { task: queued.task, consumer };
  }

  /** Sessions that tasks wait for and that have no room, of the kinds that ran out of it since the last call. */
  takeStarved(): readonly S[] {
    if (this.#starved.length === 0) return [];
    const groups = this.#starved.filter(({ isStarved }) => isStarved);
    this.#starved = [];
    return groups.flatMap(({ members }) => [...members].map(({ session }) => session));
  }

  /**
   * Runs that had a task refused, of tenants that have room for half of their share again: as many as fit that half.
   * Each is named once; whoever is told hands in again what they must have out.
   */
  takeRelieved(): readonly RunKey[] {
    const { maxTasks, maxTasksPerTenant, maxBytes } = this.#limits;
    if (this.#refused.size === 0 || this.#queued.size > maxTasks / 2 || this.#bytes > maxBytes / 2) return [];
    const relieved: RunKey[] = [];
    for (const [tenant, runIds] of this.#refused) {
      if (tenant.tasks > maxTasksPerTenant / 2) continue;
      for (const runId of [...runIds].slice(0, Math.ceil(maxTasksPerTenant / 2))) {
        runIds.delete(runId);
        relieved.push({ tenantId: tenant.tenantId, runId });
      }
      if (runIds.size > 0) continue;
      this.#refused.delete(tenant);
      this.#forgetIdle(tenant);
    }
    return relieved;
  }

  #refuse(tenant: Tenant<S>, runId: string): void {
    const runIds = this.#refused.get(tenant);
    if (runIds === undefined) this.#refused.set(tenant, new Set([runId]));
    else runIds.add(runId);
  }

  #fits({ input }: Task, tenant: Tenant<S>): boolean {
    const { maxTasks, maxBytes, maxTasksPerTenant } = this.#limits;
    if (this.#queued.size >= maxTasks || tenant.tasks >= maxTasksPerTenant) return false;
    return this.#bytes + input.data.length <= maxBytes;
  }

  #tenant(tenantId: string): Tenant<S> {
    let tenant = this.#tenants.get(tenantId);
    if (tenant === undefined) {
      tenant = new Tenant(tenantId);
      this.#tenants.set(tenantId, tenant);
    }
    return tenant;
  }

  #lane(tenant: Tenant<S>, task: Task): Lane<S> {
    const key = laneKey(task);
    let lane = tenant.lanes.get(key);
    if (lane === undefined) {
      lane = new Lane(key, task);
      tenant.lanes.set(key, lane);
      for (const group of tenant.groups.values()) this.#connect(group, lane);
    }
    return lane;
  }

  /** Lets the group serve the lane if it can. */
  #connect(group: Group<S>, lane: Lane<S>): void {
    if (!group.matcher.accepts(lane.kind)) return;
    const place = new LanePlace(lane);
    group.places.set(lane, place);
    group.ring.push(place.node);
    group.waiting += lane.tasks.size;
    lane.groups.add(group);
    this.#settle(group);
  }

  #drop(queued: Queued<S>): void {
    const { task, tenant, lane } = queued;
    lane.tasks.delete(queued.node);
    this.#queued.delete(attemptKey(task));
    this.#bytes -= task.input.data.length;
    tenant.tasks -= 1;
    const isEmpty = lane.tasks.size === 0;
    if (isEmpty) tenant.lanes.delete(lane.key);
    for (const group of lane.groups) {
      group.waiting -= 1;
      if (isEmpty) this.#disconnect(group, lane);
      this.#settle(group);
    }
    this.#forgetIdle(tenant);
  }

  #disconnect(group: Group<S>, lane: Lane<S>): void {
    const place = group.places.get(lane);
    if (place !== undefined) group.ring.delete(place.node);
    group.places.delete(lane);
  }

  /** Puts the group where it belongs: among the ready ones or not, and its tenant in the turn or not. */
  #settle(group: Group<S>): void {
    const { tenant } = group;
    const hasRoom = group.available.size > 0;
    if (hasRoom && group.waiting > 0) tenant.ready.push(group.node);
    else tenant.ready.delete(group.node);
    const isStarved = !hasRoom && group.waiting > 0;
    if (isStarved && !group.isStarved) this.#starved.push(group);
    group.isStarved = isStarved;
    if (tenant.ready.size > 0) {
      this.#turn.push(tenant.node);
    } else if (this.#turn.delete(tenant.node)) {
      // An unused share does not add up; what was taken too much stays owed.
      tenant.deficit = Math.min(0, tenant.deficit);
    }
  }

  #forgetIdle(tenant: Tenant<S>): void {
    if (tenant.tasks > 0 || tenant.groups.size > 0 || this.#refused.has(tenant)) return;
    this.#tenants.delete(tenant.tenantId);
  }
}
