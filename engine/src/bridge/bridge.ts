/**
 * This node's worker streams: takes tasks from the coordinator, gives them to workers with credits, hands results back.
 *
 * All it holds is memory and derivable: a task it forgets is dispatched again by the coordinator, an attempt it forgets
 * is named again by its worker's inventory. What a turn of the event loop gathered is done once at its end, or when the
 * coordinator brings tasks, which come batch by batch: they are handed out, then each session that has something to say
 * sends it.
 *
 * Invariants:
 * 1. A session serves the tenant of its key only; nothing in a message names another.
 * 2. An attempt is in the queue, or with a worker, or neither; never both.
 */
import { DuctorError, impossible, type Clock } from '../kernel/index.js';
import type { Principal } from '../tenancy/index.js';
import { type BeatRequest, BridgeServiceService, type WorkerHello } from '../gen/ductor/v1/bridge.js';
import { HEARTBEAT_INTERVAL_MS, MAX_SESSIONS, MAX_SESSIONS_PER_TENANT, TASKS_PER_TURN } from './limits.js';
import type { AbortOrder, AttemptRef, BridgeCoordinator, Invoker, RegisterDefinition, Task } from './ports.js';
import type { TaskKind } from './queue/capability.js';
import { FairQueue, type Lack, type QueueDepth, type QueueLimits } from './queue/fair-queue.js';
import type { PeerNode, RelayDialer } from './relay/ports.js';
import { RelayDesk, type RelayStats } from './relay/relay-desk.js';
import type { RelayWish } from './relay/wish.js';
import { Crew } from './session/crew.js';
import { registerAll, type Registrations } from './session/register.js';
import type { StrategyApps } from '../routing/index.js';
import { Session } from './session/session.js';
import type { SessionHost } from './session/session-host.js';
import type { WorkStream, WorkStreamEvents } from './session/work-stream.js';
import { StrategyDesk } from './strategies/strategy-desk.js';
import type { TaskTokens } from './token.js';

/** Parts of the bridge. */
export interface BridgeOptions {
  readonly nodeId: string;
  readonly clock: Clock;
  readonly tokens: TaskTokens;
  readonly register: RegisterDefinition;
  /** Default: QUEUE_LIMITS. */
  readonly queueLimits?: QueueLimits;
  /** Told of tasks on their way; default: nobody. */
  readonly watch?: DispatchWatch;
  /** Hears for how long the event loops of workers are blocked, ms. */
  readonly onLag?: (lagMs: number) => void;
}

/** Hears of tasks between the coordinator and the workers. Must not throw. */
export interface DispatchWatch {
  /** It waits from now on. */
  queued(task: Task): void;
  /** A worker gets it. One that is forgotten, or told to stop, is never heard of again. */
  handedOut(task: Task): void;
}

/** What the bridge holds now. */
export interface BridgeStats {
  readonly sessions: number;
  readonly workers: number;
  readonly queuedTasks: number;
  /** The same by what they wait for. */
  readonly depth: QueueDepth;
  readonly queuedBytes: number;
  readonly attemptsOut: number;
  /** Tasks refused for want of room since the start. */
  readonly refusedTasks: number;
  readonly relays: RelayStats & {
    /** Workers that other nodes lend to this one now. */
    readonly borrowed: number;
    /** Tasks given to such workers, since the start. */
    readonly given: number;
  };
}

/** A stream that was accepted: what it hears, and how to end it. */
export interface OpenedStream extends WorkStreamEvents {
  /** Ends it: well (null) or with an error. */
  close(error: DuctorError | null): void;
}

/** Worker streams and the queue before them. */
export class Bridge implements Invoker {
  readonly #options: BridgeOptions;
  readonly #queue: FairQueue<Session>;
  readonly #crew: Crew;
  readonly #host: SessionHost<Session>;
  readonly #strategies: StrategyDesk<Session>;
  readonly #relays: RelayDesk;
  readonly #sessions = new Set<Session>();
  readonly #sessionsOfTenant = new Map<string, number>();
  /** Sessions to look at at the end of this turn. */
  #changed = new Set<Session>();
  #isTurnDue = false;
  #isTurning = false;
  #isDraining = false;
  #refusedTasks = 0;
  #relayedTasks = 0;
  #coordinator: BridgeCoordinator | null = null;

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#queue = new FairQueue(options.queueLimits);
    this.#crew = new Crew(options.clock, () => this.#knownCoordinator());
    this.#strategies = new StrategyDesk(options.clock, (session, question, bytes) => {
      session.outbox.question(question, bytes);
      this.#host.changed(session);
    });
    this.#relays = new RelayDesk({ clock: options.clock, isStarving: (session) => this.#host.unserved(session) > 0 });
    this.#host = this.#sessionHost();
  }

  /** Says who the coordinator is. It is built with the bridge as its invoker; until then no stream is accepted. */
  attach(coordinator: BridgeCoordinator): void {
    this.#coordinator = coordinator;
  }

  /**
   * A worker opened a stream. Throws node_starting, limit_exceeded.
   *
   * @param registered what it can do, where that is known before its hello. Default: what the hello registers
   * @param relayedBy the node that lends the worker, at the other end of the stream. Default: null, the worker is there
   */
  open(
    principal: Principal,
    stream: WorkStream,
    registered: Registrations | null = null,
    relayedBy: string | null = null,
  ): OpenedStream {
    if (this.#coordinator === null || this.#isDraining) {
      throw new DuctorError('node_starting', 'this node takes no workers now');
    }
    const ofTenant = this.#sessionsOfTenant.get(principal.tenantId) ?? 0;
    if (ofTenant >= MAX_SESSIONS_PER_TENANT || this.#sessions.size >= MAX_SESSIONS) {
      const message = `this node has ${ofTenant} streams of the tenant's workers, ${this.#sessions.size} in all`;
      throw new DuctorError('limit_exceeded', message, { retryAfterMs: 5_000 });
    }
    const session = new Session(this.#host, principal, stream, registered, relayedBy);
    this.#sessions.add(session);
    this.#sessionsOfTenant.set(principal.tenantId, ofTenant + 1);
    return session;
  }

  /**
   * A worker whose event loop is blocked shows, by a thread of its own, that it lives: its streams are not given up for
   * the silence, and its attempts do not count as lost. Attempts without a genuine token are passed over.
   */
  beat({ tenantId }: Pick<Principal, 'tenantId'>, request: BeatRequest): void {
    const { workerId, heartbeats, lagMs } = request;
    this.#relays.beat(tenantId, request);
    this.#crew.alive(tenantId, workerId);
    this.#options.onLag?.(lagMs);
    for (const { runId, path, attempt, token } of heartbeats) {
      const ref = { tenantId, runId, path, attempt };
      if (this.#host.isGenuine(ref, token)) this.#host.heartbeat(ref, null);
    }
  }

  /** Strategies in the code of the apps that have a stream to this node, or that it calls. */
  get strategies(): StrategyApps {
    return this.#strategies;
  }

  /** What it holds now. */
  stats(): BridgeStats {
    return {
      sessions: this.#sessions.size,
      workers: this.#crew.present,
      queuedTasks: this.#queue.size,
      depth: this.#queue.depth(),
      queuedBytes: this.#queue.bytes,
      attemptsOut: this.#crew.attempts,
      refusedTasks: this.#refusedTasks,
      relays: {
        ...this.#relays.stats(),
        borrowed: [...this.#sessions].filter(({ relayedBy }) => relayedBy !== null).length,
        given: this.#relayedTasks,
      },
    };
  }

  /** What waits here and is served by no worker with a stream of its own, nor has any that is lent room for it. */
  lacks(): readonly Lack[] {
    return this.#isDraining ? [] : this.#queue.lacking(({ relayedBy }) => relayedBy === null);
  }

  /** Says how to reach other nodes; before, no worker is lent. */
  relayBy(dialer: RelayDialer): void {
    this.#relays.attach(dialer);
  }

  /** Lends workers to a node that lacks them, as far as they have a stream of their own to this one. */
  lend(node: PeerNode, { tenantId, kinds }: RelayWish): void {
    for (const kind of kinds) {
      const sessions = this.#queue.sessionsFor(tenantId, kind).filter(({ relayedBy }) => relayedBy === null);
      this.#relays.offer(node, sessions);
    }
  }

  /** Ends what leads to nodes that are gone, or has had nothing to do for long. */
  lookAtRelays(liveNodeIds: ReadonlySet<string>): void {
    this.#relays.look(liveNodeIds);
  }

  /** Hands out nothing more and accepts no new stream; results are still taken. Workers are told. */
  drain(): void {
    this.#isDraining = true;
    this.#relays.drain();
    for (const session of this.#sessions) if (session.isOpen) session.announceDraining();
  }

  /** Ends all streams, after what they still had to send. */
  close(): void {
    this.#isDraining = true;
    this.#takeTurn();
    for (const session of [...this.#sessions]) session.close(null);
    this.#crew.stop();
  }

  /** Sends what it can at once: what a commit set free goes out before the answers to those who waited for it. */
  dispatch(tasks: readonly Task[]): void {
    this.#enqueue(tasks);
    if (this.#isTurning) this.#scheduleTurn();
    else this.#takeTurn();
  }

  abort(orders: readonly AbortOrder[]): readonly AttemptRef[] {
    const neverSent: AttemptRef[] = [];
    for (const order of orders) {
      if (this.#queue.remove(order) === undefined) this.#crew.abort(order);
      else neverSent.push(order);
    }
    return neverSent;
  }

  withdraw(refs: readonly AttemptRef[]): void {
    for (const ref of refs) this.#queue.remove(ref);
  }

  settled(ref: AttemptRef): void {
    this.#crew.settled(ref);
  }

  /** Name of the worker that has the attempt, as far as this node knows. */
  workerOf(ref: AttemptRef): string | undefined {
    return this.#crew.workerOf(ref);
  }

  /** Streams of connected workers that could take a task of this kind, whether or not they have room. */
  workersFor(tenantId: string, kind: TaskKind): number {
    return this.#queue.sessionsFor(tenantId, kind).length;
  }

  dropShards(shards: readonly number[]): void {
    this.#queue.removeShards(shards);
  }

  inventory(): readonly string[] {
    return this.#crew.askInventories();
  }

  #enqueue(tasks: readonly Task[]): void {
    for (const task of tasks) {
      if (this.#crew.hasOrForgets(task)) continue;
      const pushed = this.#queue.push(task, this.#options.clock.monotonicMs());
      if (pushed === 'full') this.#refusedTasks += 1;
      if (pushed === 'queued') this.#options.watch?.queued(task);
    }
  }

  #knownCoordinator(): BridgeCoordinator {
    return this.#coordinator ?? impossible('bridge-unattached', 'a session is there before the coordinator');
  }

  #sessionHost(): SessionHost<Session> {
    const { clock, tokens, register } = this.#options;
    return {
      clock,
      divert: (session, message) => this.#relays.divert(session, message),
      isGenuine: (ref, token) => this.#crew.gave(ref, token) || tokens.isGenuine(ref, token),
      register: ({ principal }, { workflows }) =>
        registerAll(register, principal, BridgeServiceService.work.path, workflows),
      joined: (session, hello, registrations) => this.#joined(session, hello, registrations),
      settle: (ref, outcome, settled) =>
        this.#knownCoordinator().settle(ref, outcome, (ack) => {
          this.#crew.settled(ref);
          settled(ack);
        }),
      keep: (ref, subStep, settled) => this.#knownCoordinator().keep(ref, subStep, settled),
      answered: (session, answer) => this.#strategies.answered(session, answer),
      heartbeat: (ref, progress) => this.#knownCoordinator().heartbeat?.(ref, progress),
      inventory: (session, holds) => this.#crew.takeInventory(session, holds),
      changed: (session) => {
        this.#changed.add(session);
        this.#scheduleTurn();
      },
      unserved: ({ consumer }) => (consumer === null ? 0 : this.#queue.unservedFor(consumer)),
      sent: (session, refs, sentTokens) => this.#crew.sent(session, refs, sentTokens),
      ended: (session) => this.#ended(session),
    };
  }

  #joined(session: Session, hello: WorkerHello, { outcomes, workflows }: Registrations): void {
    const { tenantId } = session.principal;
    this.#crew.makeWay(session, tenantId, hello.workerId);
    const queues = hello.queues.length === 0 ? ['default'] : hello.queues;
    session.consumer = this.#queue.join(session, { tenantId, queues, workflows });
    session.outbox.welcome = {
      nodeId: this.#options.nodeId,
      tenantId,
      nodes: [...this.#knownCoordinator().liveAddresses()],
      registrations: outcomes,
      heartbeatIntervalMs: HEARTBEAT_INTERVAL_MS,
    };
    if (this.#isDraining) session.outbox.draining = true;
    this.#crew.join(session, tenantId, hello.workerId);
    this.#strategies.join(session, tenantId, hello.name || hello.workerId, hello.strategies);
    this.#relays.joined(session, hello, { outcomes, workflows });
  }

  #ended(session: Session): void {
    this.#sessions.delete(session);
    this.#changed.delete(session);
    const { tenantId } = session.principal;
    const left = (this.#sessionsOfTenant.get(tenantId) ?? 1) - 1;
    if (left === 0) this.#sessionsOfTenant.delete(tenantId);
    else this.#sessionsOfTenant.set(tenantId, left);
    if (session.consumer !== null) this.#queue.leave(session.consumer);
    this.#crew.leave(session);
    this.#strategies.leave(session);
    this.#relays.ended(session);
    this.#enqueue(session.takeUnwritten());
    this.#scheduleTurn();
  }

  #scheduleTurn(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    this.#options.clock.defer(() => {
      this.#isTurnDue = false;
      this.#takeTurn();
    });
  }

  #takeTurn(): void {
    this.#isTurning = true;
    try {
      this.#turn();
    } finally {
      this.#isTurning = false;
    }
  }

  /** Hands out what there is and lets each session send what it has to say. */
  #turn(): void {
    this.#relays.beforeTurn(this.#changed);
    this.#refreshRoom(this.#changed);
    this.#queue.age(this.#options.clock.monotonicMs());
    for (let count = 0; count < TASKS_PER_TURN && this.#handOut(); count += 1);
    for (const session of this.#queue.takeStarved()) this.#changed.add(session);
    this.#relays.afterTurn(this.#changed);
    const changed = this.#changed;
    this.#changed = new Set();
    for (const session of changed) session.flush();
    this.#refreshRoom(changed);
    if (this.#queue.hasWork) this.#scheduleTurn();
    const relieved = this.#queue.takeRelieved();
    if (relieved.length === 0) return;
    this.#coordinator?.recheck(relieved, true);
    // More may be waiting to be named, and what was named may turn out to need nothing.
    this.#scheduleTurn();
  }

  /** Gives the next task to whose turn it is; false when there is none. */
  #handOut(): boolean {
    const next = this.#queue.take();
    if (next === undefined) return false;
    const { session } = next.consumer;
    session.give(next.task, this.#options.tokens.issue(next.task));
    this.#options.watch?.handedOut(next.task);
    if (session.relayedBy === null) this.#relays.served(session);
    else this.#relayedTasks += 1;
    // Full for this turn when enough bytes have gathered, whatever its credits.
    const room = session.room(this.#isDraining);
    if (room !== next.consumer.room) this.#queue.setRoom(next.consumer, room, session.most);
    this.#changed.add(session);
    return true;
  }

  #refreshRoom(sessions: ReadonlySet<Session>): void {
    for (const session of sessions) {
      const { consumer } = session;
      if (consumer === null || !this.#sessions.has(session)) continue;
      const room = session.room(this.#isDraining);
      if (room !== consumer.room) this.#queue.setRoom(consumer, room, session.most);
    }
  }
}
