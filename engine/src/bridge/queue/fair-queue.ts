/**
 * Tasks that wait for workers, in memory, and who gets which next. Pure: no time of its own, no I/O.
 *
 *   tier -- tenant -+- lanes:  tasks of one (queue, workflow, handler, version, cost), by fairness key
 *                   +- groups: sessions that can do exactly the same; a group is ready in a tier when one of its
 *                              sessions has room for one of its lanes there
 *
 * `take` serves the tiers by weight, those with something ready, and moves a task up a tier for each AGE_MS it waited.
 * In a tier it goes round the tenants that have a ready group by deficit round robin (Shreedhar and Varghese, 1995:
 * each visit adds a quantum, a task costs its slots and 1 more for every 4 KiB of input), within a tenant round its
 * ready groups, within a group round its lanes and its sessions, within a lane round its fairness keys by the same
 * deficits. A queue belongs to a tenant (workers serve their own only), so there is no turn among the queues of
 * different tenants: nobody gets a larger share by naming more queues.
 *
 * A task of several slots goes to a session with so much room. Where none has, one session saves up: it takes nothing
 * else until it has the room. Of a session with fewer slots in all it takes all of them.
 *
 * Invariants:
 * 1. An attempt is in the queue at most once.
 * 2. A task goes only to a session of its tenant that accepts its queue, workflow, handler and version.
 * 3. A session is given a task only while it has the room; each task given takes its slots from it.
 * 4. Neither the whole nor a tenant with one priority ever holds more than the limits; what does not fit is refused.
 * 5. A call costs the same however much waits: a new lane asks each group of its tenant once, a new group each lane,
 *    and only removeShards looks at every task. A task of several slots may ask each session of a group.
 */
import { impossible, shardOf } from '../../kernel/index.js';
import { attemptKey } from '../attempt-key.js';
import type { AttemptRef, RunKey, Task } from '../ports.js';
import { capabilityMatcher, type Capability, type TaskKind } from './capability.js';
import { depthOf, lacksOf, type Lack, type QueueDepth } from './looks.js';
import { Consumer, Flow, Group, Lane, LanePlace, Queued, Tenant, TIERS, type TenantTier } from './parts.js';
import { needOf, serve, stopSaving } from './saving.js';
import { nextByDeficit, TierTurns } from './tier-turns.js';

export type { Lack, QueueDepth } from './looks.js';
export type { Consumer } from './parts.js';

/** How much may wait. */
export interface QueueLimits {
  readonly maxTasks: number;
  /** Of inputs, over all tasks. */
  readonly maxBytes: number;
  /** With one priority. */
  readonly maxTasksPerTenant: number;
}

/** Defaults. */
export const QUEUE_LIMITS: QueueLimits = { maxTasks: 200_000, maxBytes: 256 * 1024 * 1024, maxTasksPerTenant: 1_000 };

/** Added to a tenant's deficit at each visit: about what one busy worker takes at a time. */
const QUANTUM = 64;
/** The same for a fairness key: small, so that keys take turns task by task. */
const FLOW_QUANTUM = 4;
const BYTES_PER_UNIT = 4096;
/** A task moves up a tier each time it has waited so long. */
export const AGE_MS = 30_000;
/** Tasks moved up in one call. */
const AGED_AT_ONCE = 500;

/** What travels with a task: its input, and what attempts before it have done. */
const bytesOf = ({ input, subSteps = [] }: Task): number =>
  subSteps.reduce((sum, { output }) => sum + output.data.length, input.data.length);
const costOf = (task: Task): number => task.slots + Math.floor(bytesOf(task) / BYTES_PER_UNIT);
const tierOf = ({ priority }: Task): number => Math.min(TIERS, Math.max(1, priority)) - 1;
const laneKey = ({ queue, familySlug, handler, version, slots }: Task, tier: number): string =>
  `${queue}\0${familySlug}\0${handler}\0${version}\0${slots}\0${tier}`;

/** The queue; S is what the caller calls a session. */
export class FairQueue<S> {
  readonly #limits: QueueLimits;
  readonly #tenants = new Map<string, Tenant<S>>();
  readonly #queued = new Map<string, Queued<S>>();
  /** Runs that had a task refused and were not named by takeRelieved since. */
  readonly #refused = new Map<TenantTier<S>, Set<string>>();
  readonly #tiers = new TierTurns<S>();
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
    return this.#tiers.hasWork;
  }

  /** How much waits for what. Looks at every lane, like `lacking`: for those who watch, not for those who work. */
  depth(): QueueDepth {
    return depthOf(this.#tenants.values());
  }

  /** What waits though no session that counts serves it, nor any has room for it. */
  lacking(counts: (session: S) => boolean): readonly Lack[] {
    return lacksOf(this.#tenants.values(), counts);
  }

  /**
   * Puts a task in. `known`: it is in already; `full`: a limit is reached, nothing was done.
   *
   * @param nowMs of any clock that goes on; default: no task moves up
   */
  push(task: Task, nowMs = 0): 'queued' | 'known' | 'full' {
    const key = attemptKey(task);
    if (this.#queued.has(key)) return 'known';
    const tenant = this.#tenant(task.tenantId);
    const tier = tierOf(task);
    const home = tenant.tiers[tier] ?? impossible('queue-tier', String(tier));
    if (!this.#fits(task, home)) {
      this.#refuse(home, task.runId);
      return 'full';
    }
    const lane = this.#lane(tenant, task, tier);
    const queued = new Queued(task, tenant, home, lane, flowOf(lane, task.fairnessKey), nowMs);
    this.#queued.set(key, queued);
    this.#bytes += bytesOf(task);
    tenant.tasks += 1;
    home.tasks += 1;
    this.#enter(queued);
    return 'queued';
  }

  /** Moves up what has waited long enough in its tier, at most so many at once. */
  age(nowMs: number): void {
    let moves = AGED_AT_ONCE;
    for (let place = 1; place < TIERS; place += 1) {
      const { arrivals } = this.#tiers.at(place);
      for (let queued = arrivals.first; queued !== undefined; queued = arrivals.first) {
        if (queued.sinceMs + AGE_MS > nowMs || moves === 0) break;
        moves -= 1;
        this.#exit(queued);
        queued.lane = this.#lane(queued.tenant, queued.task, place - 1);
        queued.flow = flowOf(queued.lane, queued.task.fairnessKey);
        queued.sinceMs = nowMs;
        this.#enter(queued);
      }
    }
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
    if (group.saving?.consumer === consumer) group.saving = null;
    group.members.delete(consumer);
    if (group.members.size > 0) return;
    for (const lane of group.places.keys()) lane.groups.delete(group);
    group.tenant.groups.delete(group.matcher.signature);
    this.#forgetIdle(group.tenant);
  }

  /**
   * Says how many slots the session may be given from now on.
   *
   * @param most how many it has when nothing runs; default: as many as it ever had
   */
  setRoom(consumer: Consumer<S>, room: number, most = Math.max(consumer.most, room)): void {
    const { group } = consumer;
    if (room > consumer.room) for (const tier of group.tiers) tier.isBlocked = false;
    consumer.room = room;
    consumer.most = Math.max(1, most, room);
    if (room > 0 && group.saving?.consumer !== consumer) group.available.push(consumer.node);
    else group.available.delete(consumer.node);
    this.#tiers.settle(group);
  }

  /** Tasks that the session could do and that no session of its kind has room for. */
  unservedFor({ group }: Consumer<S>): number {
    return group.available.size > 0 ? 0 : group.waiting;
  }

  /** Sessions that could do a task of this kind, with or without room. */
  sessionsFor(tenantId: string, kind: TaskKind): readonly S[] {
    const groups = [...(this.#tenants.get(tenantId)?.groups.values() ?? [])].filter(({ matcher }) =>
      matcher.accepts(kind),
    );
    return groups.flatMap(({ members }) => [...members].map(({ session }) => session));
  }

  /** The next task and who gets it; undefined when nobody with room can do anything that waits. */
  take(): { readonly task: Task; readonly consumer: Consumer<S> } | undefined {
    for (;;) {
      const tier = this.#tiers.next();
      if (tier === undefined) return undefined;
      const tenant = nextByDeficit(tier.turn, QUANTUM);
      const group = tenant?.ready.first;
      if (tenant === undefined || group === undefined) return undefined;
      const served = serve(group);
      if (served === undefined) {
        // Nothing of it fits: it leaves the ready ones, and the next is asked.
        this.#tiers.settle(group.group);
        continue;
      }
      const { lane, consumer } = served;
      const flow = nextByDeficit(lane.ring, FLOW_QUANTUM);
      const queued = flow?.tasks.first;
      if (flow === undefined || queued === undefined) return undefined;
      // Everyone steps behind the others before the task is gone: what empties by it leaves its list in #drop.
      tenant.ready.rotate();
      const { task } = queued;
      const cost = costOf(task);
      flow.deficit -= cost;
      tenant.deficit -= cost;
      this.#tiers.charge(tier, cost);
      const need = needOf(lane, consumer);
      if (consumer.group.saving?.lane === lane) stopSaving(consumer.group);
      this.#drop(queued);
      this.setRoom(consumer, consumer.room - need);
      return { task: need === task.slots ? task : { ...task, slots: need }, consumer };
    }
  }

  /** Sessions that tasks wait for and that have no room, of the kinds that ran out of it since the last call. */
  takeStarved(): readonly S[] {
    return this.#tiers.takeStarved();
  }

  /**
   * Runs that had a task refused, of tenants that have room for half of their share again: as many as fit that half.
   * Each is named once; whoever is told hands in again what they must have out.
   */
  takeRelieved(): readonly RunKey[] {
    const { maxTasks, maxTasksPerTenant, maxBytes } = this.#limits;
    if (this.#refused.size === 0 || this.#queued.size > maxTasks / 2 || this.#bytes > maxBytes / 2) return [];
    const relieved: RunKey[] = [];
    for (const [home, runIds] of this.#refused) {
      if (home.tasks > maxTasksPerTenant / 2) continue;
      let most = Math.ceil(maxTasksPerTenant / 2);
      for (const runId of runIds) {
        if ((most -= 1) < 0) break;
        runIds.delete(runId);
        relieved.push({ tenantId: home.tenant.tenantId, runId });
      }
      if (runIds.size > 0) continue;
      this.#refused.delete(home);
      this.#forgetIdle(home.tenant);
    }
    return relieved;
  }

  #refuse(home: TenantTier<S>, runId: string): void {
    const runIds = this.#refused.get(home);
    if (runIds === undefined) this.#refused.set(home, new Set([runId]));
    else runIds.add(runId);
  }

  #fits(task: Task, home: TenantTier<S>): boolean {
    const { maxTasks, maxBytes, maxTasksPerTenant } = this.#limits;
    if (this.#queued.size >= maxTasks || home.tasks >= maxTasksPerTenant) return false;
    return this.#bytes + bytesOf(task) <= maxBytes;
  }

  #tenant(tenantId: string): Tenant<S> {
    let tenant = this.#tenants.get(tenantId);
    if (tenant === undefined) {
      tenant = new Tenant(tenantId);
      this.#tenants.set(tenantId, tenant);
    }
    return tenant;
  }

  #lane(tenant: Tenant<S>, task: Task, tier: number): Lane<S> {
    const key = laneKey(task, tier);
    let lane = tenant.lanes.get(key);
    if (lane === undefined) {
      lane = new Lane(key, task, tier);
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
    const at = group.tiers[lane.tier] ?? impossible('queue-tier', String(lane.tier));
    at.ring.push(place.node);
    at.waiting += lane.size;
    at.isBlocked = false;
    group.waiting += lane.size;
    lane.groups.add(group);
    this.#tiers.settle(group);
  }

  /** Puts a task behind the others of its fairness key. */
  #enter(queued: Queued<S>): void {
    const { lane, flow } = queued;
    flow.tasks.push(queued.node);
    lane.ring.push(flow.node);
    lane.size += 1;
    this.#tiers.at(lane.tier).arrivals.push(queued.arrival);
    for (const group of lane.groups) this.#count(group, lane, 1);
  }

  /** Takes a task out of its lane; a lane without one is gone. */
  #exit(queued: Queued<S>): void {
    const { tenant, lane, flow } = queued;
    flow.tasks.delete(queued.node);
    queued.arrival.list?.delete(queued.arrival);
    lane.size -= 1;
    if (flow.tasks.size === 0) {
      lane.ring.delete(flow.node);
      lane.flows.delete(flow.key);
    }
    if (lane.size === 0) tenant.lanes.delete(lane.key);
    for (const group of lane.groups) this.#count(group, lane, -1);
  }

  #count(group: Group<S>, lane: Lane<S>, by: 1 | -1): void {
    group.waiting += by;
    const at = group.tiers[lane.tier];
    if (at !== undefined) at.waiting += by;
    if (lane.size === 0) this.#disconnect(group, lane);
    this.#tiers.settle(group);
  }

  #drop(queued: Queued<S>): void {
    const { task, tenant, home } = queued;
    this.#queued.delete(attemptKey(task));
    this.#bytes -= bytesOf(task);
    tenant.tasks -= 1;
    home.tasks -= 1;
    this.#exit(queued);
    this.#forgetIdle(tenant);
  }

  #disconnect(group: Group<S>, lane: Lane<S>): void {
    const place = group.places.get(lane);
    if (place !== undefined) group.tiers[lane.tier]?.ring.delete(place.node);
    group.places.delete(lane);
    if (group.saving?.lane === lane) stopSaving(group);
  }

  #forgetIdle(tenant: Tenant<S>): void {
    if (tenant.tasks > 0 || tenant.groups.size > 0 || tenant.tiers.some((home) => this.#refused.has(home))) return;
    this.#tenants.delete(tenant.tenantId);
  }
}

/** The tasks of a fairness key in a lane. */
function flowOf<S>(lane: Lane<S>, key: string): Flow<S> {
  const known = lane.flows.get(key);
  if (known !== undefined) return known;
  const flow = new Flow<S>(key);
  lane.flows.set(key, flow);
  return flow;
}
