/**
 * Keeps this incarnation a member of the cluster: heartbeats, its share of the shards, the shards of the dead.
 *
 *   joining (register) -> member (heartbeats) -> ended (fenced, or left)
 * Invariants:
 * 1. One heartbeat is under way at a time; between two lie at most heartbeatMs, unless the database is slow.
 * 2. Claims, takeovers and hand-overs run beside the heartbeats, each at most once at a time for its target: a takeover
 *    may wait for a dead node's commits, and the lease must not run out over it.
 * 3. What is owned is what the last heartbeat saw (ShardSet); every move asks for an early heartbeat.
 */
import type { Timer } from '../../kernel/index.js';
import { untilDone } from './backoff.js';
import { balance, type BalancePlan } from './balance.js';
import type { Lease } from './lease.js';
import type { ClusterNode, ClusterView } from './ports.js';
import type { World } from './world.js';

/** What membership tells its incarnation. */
export interface MembershipListener {
  /** The lease was lapsed and is held again. */
  readonly renewed: () => void;
  /** @param crashed those of them whose last owner ended without leaving, not long ago */
  readonly gained: (shards: readonly number[], crashed: readonly number[]) => void;
  readonly lost: (shards: readonly number[]) => void;
  /** Shards of this node with waiting messages. */
  readonly mail: (shards: readonly number[]) => void;
  /** Takes these shards, which are draining, out of memory; resolves once no batch holds them. */
  readonly empty: (shards: readonly number[]) => Promise<void>;
  /** Others should look around soon. */
  readonly moved: () => void;
  /** Told after each heartbeat. */
  readonly beat: () => void;
}

/** A look this long after a lease ran out finds it over; two looks at one end are at least so far apart. */
const AFTER_LEASE_MS = 10;

/**
 * Time to the next heartbeat. When the lease of another node would run out in between, the heartbeat comes right behind
 * its end: shards of a node that stands still move within its lease and moments, not within its lease and a heartbeat.
 */
function nextBeatMs({ nowUs, nextLeaseEndUs }: ClusterView, heartbeatMs: number): number {
  if (nextLeaseEndUs === null) return heartbeatMs;
  return Math.min(heartbeatMs, (nextLeaseEndUs - nowUs) / 1_000 + AFTER_LEASE_MS);
}

/** Membership of one incarnation. */
export class Membership {
  #timer: Timer | null = null;
  #isBeating = false;
  #wantsEarly = false;
  #isSoon = false;
  #beats = 0;
  /** Since when the session of each node was seen closed, monotonic ms. */
  #closedSince: ReadonlyMap<string, number> = new Map();
  #nodes: readonly ClusterNode[] = [];
  readonly #moves = new Set<string>();
  readonly #firstLook: (() => void)[] = [];
  #hasLooked = false;

  constructor(
    readonly world: World,
    readonly address: string,
    readonly lease: Lease,
    readonly listener: MembershipListener,
  ) {}

  /** The nodes that were alive at the last heartbeat. */
  get nodes(): readonly ClusterNode[] {
    return this.#nodes;
  }

  /** Registers and beats until the incarnation ends; resolves after the first share of shards was asked for. */
  async join(): Promise<void> {
    const { world } = this;
    const { leaseMs } = world.options;
    await untilDone(
      world.clock,
      () => !world.isEnded(),
      () => world.cluster.register({ nodeId: world.nodeId, address: this.address, leaseMs }),
      (error) => world.hooks.log('warn', 'registering failed, trying again', { error }),
    );
    if (world.isEnded()) return;
    const looked = new Promise<void>((resolve) => this.#firstLook.push(resolve));
    void this.#beat();
    this.listener.moved();
    await looked;
  }

  /** Beats soon: something changed. */
  early(): void {
    if (this.#isBeating) this.#wantsEarly = true;
    else if (this.#beats > 0) this.#soon();
  }

  end(): void {
    this.#timer?.cancel();
    this.#timer = null;
    for (const resolve of this.#firstLook.splice(0)) resolve();
  }

  #schedule(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.world.isEnded() ? null : this.world.clock.setTimer(delayMs, () => void this.#beat());
  }

  #soon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.world.clock.defer(() => {
      this.#isSoon = false;
      void this.#beat();
    });
  }

  async #beat(): Promise<void> {
    const { world } = this;
    if (this.#isBeating || world.isEnded()) return;
    this.#timer?.cancel();
    this.#isBeating = true;
    this.#wantsEarly = false;
    const beat = (this.#beats += 1);
    const sentMs = world.clock.monotonicMs();
    let nextMs = world.options.heartbeatMs;
    try {
      const view = await world.cluster.heartbeat(world.nodeId, world.options.leaseMs);
      nextMs = nextBeatMs(view, nextMs);
      if (!world.isEnded()) this.#look(view, beat, sentMs);
    } catch (error) {
      world.hooks.log('warn', 'heartbeat failed', { error });
    }
    this.#isBeating = false;
    if (world.isEnded()) return;
    const spentMs = world.clock.monotonicMs() - sentMs;
    if (this.#wantsEarly) this.#soon();
    else this.#schedule(Math.max(0, nextMs - spentMs));
    this.listener.beat();
  }

  #look(view: ClusterView, beat: number, sentMs: number): void {
    const { world } = this;
    if (view.fenced) return world.fenced();
    const wasHeld = this.lease.isHeld();
    this.lease.renewed(sentMs);
    const own = view.nodes.find((node) => node.nodeId === world.nodeId);
    const { gained, lost } = world.shards.follow(own?.shards ?? [], beat);
    if (lost.length > 0) this.listener.lost(lost);
    if (gained.length > 0) {
      const { crashedShards = [] } = view;
      this.listener.gained(
        gained,
        gained.filter((shard) => crashedShards.includes(shard)),
      );
    }
    if (gained.length + lost.length > 0) world.hooks.shards(world.shards.owned().length);
    if (!wasHeld) this.listener.renewed();
    this.listener.mail(view.inboxShards.filter((shard) => world.shards.ticks(shard)));
    this.#decide(view);
  }

  #decide(view: ClusterView): void {
    const { world } = this;
    const plan = balance(view, {
      nodeId: world.nodeId,
      address: this.address,
      ticking: world.shards.ticking(),
      isHandingOver: this.#moves.has('handOver'),
      closedBefore: this.#closedLongEnough(),
    });
    this.#noteClosed(plan.closedNow);
    this.#nodes = plan.alive;
    if (world.isStopping()) return this.#looked();
    if (plan.claim.length > 0) {
      this.#move('claim', async () => void (await world.cluster.claim(world.nodeId, plan.claim)));
    }
    for (const { nodeId, shards } of plan.takeOver) {
      this.#move(`takeOver ${nodeId}`, async () => void (await world.cluster.takeOver(world.nodeId, nodeId, shards)));
    }
    this.#giveAway(plan.handOver);
    const takes = plan.claim.length + plan.takeOver.length;
    if (takes === 0 || world.shards.ticking().length > 0) this.#looked();
  }

  #closedLongEnough(): ReadonlySet<string> {
    const nowMs = this.world.clock.monotonicMs();
    // Early heartbeats may follow each other within a millisecond; a session that reconnects needs more than that.
    const closed = [...this.#closedSince].filter(
      ([, sinceMs]) => nowMs - sinceMs >= this.world.options.heartbeatMs / 2,
    );
    return new Set(closed.map(([nodeId]) => nodeId));
  }

  #noteClosed(closedNow: readonly string[]): void {
    const nowMs = this.world.clock.monotonicMs();
    this.#closedSince = new Map(closedNow.map((nodeId) => [nodeId, this.#closedSince.get(nodeId) ?? nowMs]));
  }

  /** The first share has come, or there is none to come. */
  #looked(): void {
    if (this.#hasLooked) return;
    this.#hasLooked = true;
    for (const resolve of this.#firstLook.splice(0)) resolve();
  }

  #giveAway(handOver: BalancePlan['handOver']): void {
    if (handOver === null) return;
    const { world } = this;
    const { toNodeId, shards } = handOver;
    world.shards.drain(shards);
    this.#move('handOver', async () => {
      try {
        await this.listener.empty(shards);
        if (!world.isEnded()) await world.cluster.handOver(world.nodeId, toNodeId, shards);
      } finally {
        // A heartbeat that is under way may have looked before the hand-over; the next one knows.
        world.shards.handedOver(shards, this.#beats + 1);
      }
      this.listener.moved();
    });
  }

  /** Runs a move unless the same one is under way; whatever comes of it, the next heartbeat shows it. */
  #move(name: string, call: () => Promise<void>): void {
    if (this.#moves.has(name)) return;
    this.#moves.add(name);
    void this.#finish(name, call);
  }

  async #finish(name: string, call: () => Promise<void>): Promise<void> {
    try {
      await call();
      this.#moves.delete(name);
      this.early();
    } catch (error) {
      this.#moves.delete(name);
      this.world.hooks.log('warn', 'moving shards failed', { move: name, error });
    }
  }
}
