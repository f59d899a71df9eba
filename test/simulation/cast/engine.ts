/** A simulated engine process: the real coordinator on simulated ports. */
import { DuctorError, uuidV7, type Clock, type Random } from '../../../engine/src/kernel/index.js';
import type { Coordinator, ResultAck, RunChange } from '../../../engine/src/workflow/coordinator/coordinator.js';
import { createCoordinator } from '../../../engine/src/workflow/coordinator/create-coordinator.js';
import type { CoordinatorHooks } from '../../../engine/src/workflow/coordinator/hooks.js';
import type { CoordinatorOptions } from '../../../engine/src/workflow/coordinator/options.js';
import type {
  AttemptRef,
  Bus,
  ClusterStore,
  InboxStore,
  Invoker,
  PlanSource,
  RunStore,
} from '../../../engine/src/workflow/coordinator/ports.js';
import type { App } from './app.js';
import type { AnswerCheck } from '../checks/answer-check.js';
import type { OrderCheck } from '../checks/order-check.js';
import type { Truth } from '../checks/truth.js';
import { learnTime, observedCluster } from '../../../engine/src/observed-cluster.js';
import { Actor } from '../core/sim-event.js';
import { Choices } from '../core/choices.js';
import type { Sim } from '../core/sim.js';
import type { SimBus } from '../ports/bus.js';
import { simClock, type SimClock } from '../ports/clock.js';
import { BridgeInvoker } from '../ports/bridge-invoker.js';
import type { EngineInvoker } from '../ports/engine-invoker.js';
import { SimInvoker } from '../ports/invoker.js';
import { simCapacityPort, type CapacityPort } from '../ports/capacity-port.js';
import { simClaimPort, type ClaimPort } from '../ports/claim-port.js';
import { simQueuePort, type QueuePort } from '../ports/queue-port.js';
import { Line } from '../ports/line.js';
import { simReportPort, type ReportPort } from '../ports/report-port.js';
import type { TokenBook } from '../ports/tokens.js';
import type { Server, Writer } from '../ports/server.js';
import { simClusterStore, simInboxStore, simPlanSource, simRunStore } from '../ports/stores.js';

/** The ports of an engine, as a planted bug may wrap them. */
export interface EnginePorts {
  readonly clock: Clock;
  readonly runs: RunStore;
  readonly inbox: InboxStore;
  readonly cluster: ClusterStore;
  readonly plans: PlanSource;
  readonly invoker: Invoker;
  readonly bus: Bus;
  readonly claims: ClaimPort;
  readonly reports: ReportPort;
  readonly capacity: CapacityPort;
  readonly queues: QueuePort;
}

/** What a planted bug may look at. */
export interface BugWorld {
  readonly sim: Sim;
  readonly server: Server;
  readonly truth: Truth;
}

/** A bug that is planted by wrapping ports; production code has no part in it. */
export interface PlantedBug {
  readonly name: string;
  readonly what: string;
  /** Between the coordinator and its ports. */
  readonly ports?: (ports: EnginePorts, world: BugWorld) => EnginePorts;
  /** Between the coordinator and those who call it. */
  readonly coordinator?: (coordinator: Coordinator, world: BugWorld) => Coordinator;
}

/** What all engines of a world have in common. */
export interface EngineWorld extends BugWorld {
  readonly bus: SimBus;
  readonly answers: AnswerCheck;
  readonly orders: OrderCheck;
  readonly options: Partial<CoordinatorOptions>;
  readonly isSkewed: boolean;
  /** Clocks are the engine's own: they learn database time from answers. */
  readonly isLearning: boolean;
  /** Tasks that may wait for workers in an engine. */
  readonly queueLimit: number;
  /** Engines have the real bridge before their workers. */
  readonly hasBridge: boolean;
  /** Engines of the bridge call an app, beside their workers. */
  readonly isCalled: boolean;
  readonly app: App;
  readonly tokens: TokenBook;
  readonly bug: PlantedBug | null;
}

/** Log lines at level error that are no fault of the engine. */
const EXPECTED_ERRORS: ReadonlySet<string> = new Set(['run parked']);

/** An engine process. */
export class Engine implements Writer {
  readonly actor: Actor;
  readonly nodeIds = new Set<string>();
  readonly invoker: EngineInvoker;
  readonly coordinator: Coordinator;
  readonly claims: ClaimPort;
  readonly reports: ReportPort;
  readonly capacity: CapacityPort;
  readonly queues: QueuePort;
  readonly clock: SimClock;
  isZombie = false;
  isMute = false;
  busyUntilUs = 0;
  cuts = 0;
  isAtStandby = false;
  /** It was told to stop. */
  isStopping = false;

  constructor(
    name: string,
    readonly address: string,
    readonly world: EngineWorld,
  ) {
    const { sim, server, orders } = world;
    this.actor = new Actor(name);
    this.clock = simClock(sim, this.actor, world);
    const { random } = new Choices(sim.choices.random.uint32());
    const nodeId = uuidV7(sim.nowUs, random);
    this.invoker = this.#makeInvoker(nodeId, random);
    const line = new Line(sim, server, this);
    const cluster = simClusterStore(sim, line, this);
    const plain: EnginePorts = {
      clock: this.clock,
      runs: simRunStore(sim, line),
      inbox: simInboxStore(line),
      cluster: this.clock.isLearning ? observedCluster(cluster, this.clock) : cluster,
      plans: simPlanSource(line, world.truth),
      invoker: orders.watch(this.invoker, this),
      bus: world.bus.of(this.actor),
      claims: simClaimPort(line),
      reports: simReportPort(line),
      capacity: simCapacityPort(line),
      queues: simQueuePort(line),
    };
    const ports = world.bug?.ports?.(plain, world) ?? plain;
    this.claims = ports.claims;
    this.reports = ports.reports;
    this.capacity = ports.capacity;
    this.queues = ports.queues;
    const coordinator = createCoordinator({
      node: { nodeId, address },
      random,
      ...ports,
      options: world.options,
      hooks: this.#hooks(),
    });
    this.coordinator = world.bug?.coordinator?.(coordinator, world) ?? coordinator;
    this.invoker.attach(this.coordinator);
    coordinator.onChange((change) => this.#changed(change));
    sim.scheduler.after(sim.choices.int(0, 50_000), this.actor, 'comes up', () => void this.#comeUp(coordinator, line));
  }

  /** Whether it can be asked: up, and not told to stop. */
  get isServing(): boolean {
    return this.actor.isAlive && !this.isStopping;
  }

  /** Nothing is wrong with its connections any more. */
  recover(): void {
    this.isMute = false;
    this.isAtStandby = false;
    this.busyUntilUs = 0;
  }

  /** As the program does: it knows what time it is before anything is stored. */
  async #comeUp(coordinator: Coordinator, line: Line): Promise<void> {
    const { sim } = this.world;
    if (this.clock.isLearning) {
      const offUs = this.clock.nowUs() - sim.nowUs;
      await learnTime(() => this.#timeOf(line), this.clock);
      if (Math.abs(offUs) > 60_000_000) sim.marks.reach('clock_off');
    }
    void coordinator.run();
  }

  /** Asks again and again: a program that gets no answer ends, and is started again. */
  async #timeOf(line: Line): Promise<number> {
    try {
      return await line.ask('look at the clock', () => this.world.sim.nowUs);
    } catch {
      await new Promise<void>((resolve) => this.clock.setTimer(100, resolve));
      return this.#timeOf(line);
    }
  }

  /** The process is gone. */
  crash(isSilent: boolean): void {
    const { sim, server, bus } = this.world;
    this.actor.die();
    bus.forget(this.actor);
    for (const stream of this.invoker.streams) stream.cut(1_000, isSilent ? 6_000_000 : 50_000);
    if (isSilent) return;
    sim.scheduler.after(sim.choices.int(500, 200_000), null, `sessions of ${this.actor.name} close`, () => {
      for (const nodeId of this.nodeIds) server.db.closeSession(nodeId);
    });
  }

  /** SIGTERM. `done` is called when it has stopped. */
  stop(done: () => void): void {
    this.isStopping = true;
    this.invoker.drain();
    const { sim, truth } = this.world;
    if (truth.open().length > 0) sim.marks.reach('stop_drained');
    void this.#stopped(done);
  }

  async #stopped(done: () => void): Promise<void> {
    await this.coordinator.stop();
    this.actor.deferred.push(done);
  }

  #makeInvoker(nodeId: string, random: Random): EngineInvoker {
    const { actor, clock } = this;
    const { sim, answers, truth, tokens, isCalled, queueLimit: limit } = this.world;
    const answered = (ref: AttemptRef, ack: ResultAck): void => answers.result(ref, ack);
    if (!this.world.hasBridge) return new SimInvoker(sim, actor, limit, answered);
    const { tenants, families, handlers } = truth;
    const app = isCalled ? this.world.app : null;
    const engine = { sim, app, actor, nodeId, clock, random };
    return new BridgeInvoker({ ...engine, tenants, families, handlers, tokens, limit, answered });
  }

  #changed(change: RunChange): void {
    this.world.answers.change(change);
  }

  #hooks(): Partial<CoordinatorHooks> {
    const { sim } = this.world;
    return {
      log: (level, message, facts) => {
        const error = facts['error'];
        const why =
          error instanceof DuctorError ? `${error.code} ${error.message}` : error instanceof Error ? error.message : '';
        if (level !== 'debug') sim.note(`${level}: ${message} ${why}`, this.actor.name);
        if (level === 'error' && !EXPECTED_ERRORS.has(message)) {
          sim.violate(`${this.actor.name} logs: ${message} ${why}`);
        }
      },
    };
  }
}
