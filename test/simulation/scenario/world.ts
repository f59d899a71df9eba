/** The cast of one seed: who is there, who comes and who goes. */
import type { CoordinatorOptions } from '../../../engine/src/workflow/coordinator/options.js';
import { AnswerCheck } from '../checks/answer-check.js';
import { JournalCheck } from '../checks/journal-check.js';
import { OrderCheck } from '../checks/order-check.js';
import { StallCheck } from '../checks/stall-check.js';
import { Truth } from '../checks/truth.js';
import { App } from '../cast/app.js';
import { Client } from '../cast/client.js';
import { Engine, type EngineWorld, type PlantedBug } from '../cast/engine.js';
import { Worker } from '../cast/worker.js';
import type { Sim } from '../core/sim.js';
import { SimBus } from '../ports/bus.js';
import { Server } from '../ports/server.js';
import { TokenBook } from '../ports/tokens.js';
import { openBenches, openPonds, openPools, openSeats } from './pools.js';
import type { Plan } from '../../../engine/src/workflow/machine/index.js';

/** How a world is made. */
export interface WorldOptions {
  readonly plans: readonly Plan[];
  /** What will be published later. */
  readonly coming: readonly Plan[];
  readonly tenants: readonly string[];
  readonly options: Partial<CoordinatorOptions>;
  readonly isSkewed: boolean;
  readonly isLearning: boolean;
  readonly isBulky: boolean;
  readonly queueLimit: number;
  readonly hasBridge: boolean;
  readonly isCalled: boolean;
  readonly slots: number;
  readonly bug: PlantedBug | null;
}

/** A stopping engine that has not stopped after so long is killed. */
const STOP_PATIENCE_US = 15_000_000;

/** The world. */
export class World {
  readonly truth: Truth;
  readonly server: Server;
  readonly answers: AnswerCheck;
  readonly client: Client;
  readonly stalls: StallCheck;
  readonly bus: SimBus;
  readonly app: App;
  engines: readonly Engine[] = [];
  workers: readonly Worker[] = [];
  readonly #engineWorld: EngineWorld;
  readonly #slots: number;
  /** Pairs that do not see each other. */
  readonly #separated = new Set<string>();
  /** Whom there were before the night; null: it is day. */
  #night: { readonly engines: number; readonly workers: number } | null = null;
  #engineCount = 0;
  #workerCount = 0;

  constructor(
    readonly sim: Sim,
    options: WorldOptions,
  ) {
    this.#slots = options.slots;
    this.truth = new Truth(options.plans, options.coming, options.tenants, options.isBulky);
    this.server = new Server(sim, new JournalCheck(sim, this.truth));
    openPools(this.server.db, options.tenants);
    if (sim.wide !== null) {
      openPonds(this.server.db, options.tenants);
      openSeats(this.server.db, options.tenants);
      openBenches(this.server.db, options.tenants);
    }
    this.answers = new AnswerCheck(sim, this.truth);
    this.client = new Client(sim, this.truth, this.answers, () => this.engines);
    this.stalls = new StallCheck(sim, this.truth, this.server);
    this.app = new App(sim, this.truth);
    this.bus = new SimBus(sim, (topic, body) => {
      if (topic === 'inbox') this.server.lostHints.add(Number(body));
    });
    const orders = new OrderCheck(sim, this.server, this.truth);
    const { truth, server, answers, bus, app } = this;
    this.#engineWorld = { sim, server, truth, bus, app, answers, orders, tokens: new TokenBook(), ...options };
  }

  /** Another engine; at a new address unless one is given. Nobody comes in the dark. */
  addEngine(address: string | null): void {
    if (this.#night !== null) return;
    this.#engineCount += 1;
    const name = `e${this.#engineCount}`;
    this.engines = [...this.engines, new Engine(name, address ?? `${name}:7233`, this.#engineWorld)];
    for (const worker of this.workers) worker.reconnect();
  }

  addWorker(): void {
    if (this.#night !== null) return;
    this.#workerCount += 1;
    const worker = new Worker(this.sim, this.truth, `w${this.#workerCount}`, this.#slots, {
      reachable: (one) => this.#reachable(one).map((engine) => engine.invoker),
      killed: (one) => this.crashWorker(one),
      isElsewhere: (one, ref) => this.workers.some((other) => other !== one && other.has(ref)),
    });
    this.workers = [...this.workers, worker];
  }

  get isDark(): boolean {
    return this.#night !== null;
  }

  /** Everybody goes. */
  goDark(): void {
    const { engines, workers } = this;
    for (const engine of engines) engine.crash(this.sim.choices.chance(0.5));
    for (const worker of workers) worker.crash(true);
    this.engines = [];
    this.workers = [];
    this.#night = { engines: Math.max(1, engines.length), workers: Math.max(1, workers.length) };
  }

  /** As many as there were come back; does nothing by day. */
  dawn(): void {
    const night = this.#night;
    if (night === null) return;
    this.#night = null;
    for (let count = 0; count < night.engines; count += 1) this.addEngine(null);
    for (let count = 0; count < night.workers; count += 1) this.addWorker();
  }

  /** An engine is gone. */
  forget(engine: Engine): void {
    this.engines = this.engines.filter((other) => other !== engine);
  }

  /** Another engine comes after a while. */
  replace(afterUs: number, address: string | null): void {
    this.sim.scheduler.after(afterUs, null, 'an engine is started', () => this.addEngine(address));
  }

  /** An engine that was paused goes on. */
  resume(engine: Engine): void {
    if (engine.actor.state === 'paused') this.sim.scheduler.release(engine.actor);
  }

  /** SIGTERM, and SIGKILL if that does not help. */
  stopEngine(engine: Engine): void {
    const { scheduler } = this.sim;
    const end = (): void => {
      if (!engine.actor.isAlive) return;
      engine.crash(false);
      this.forget(engine);
      this.replace(500_000, engine.address);
    };
    scheduler.after(0, engine.actor, 'is told to stop', () => engine.stop(end));
    scheduler.after(STOP_PATIENCE_US, null, `${engine.actor.name} has had its time`, end);
  }

  /** A worker's process dies; another one comes. */
  crashWorker(worker: Worker): void {
    worker.crash(this.sim.choices.chance(0.3));
    this.workers = this.workers.filter((other) => other !== worker);
    this.sim.scheduler.after(this.sim.choices.int(50_000, 3_000_000), null, 'a worker is started', () =>
      this.addWorker(),
    );
  }

  /** The two do not see each other for a while. */
  separate(worker: Worker, engine: Engine, forUs: number): void {
    const pair = this.#pair(worker, engine);
    this.#separated.add(pair);
    for (const stream of worker.streams) if (stream.engine === engine.invoker) stream.cut(6_000_000, 6_000_000);
    this.sim.scheduler.after(forUs, null, `${pair} see each other`, () => {
      if (this.#separated.delete(pair) && worker.actor.isAlive) worker.reconnect();
    });
  }

  /** Everybody goes on, sees everybody, and the database answers. */
  heal(): void {
    this.dawn();
    this.server.up();
    this.bus.isDown = false;
    this.server.flapping.clear();
    this.#separated.clear();
    for (const engine of this.engines) engine.recover();
    for (const engine of this.engines) this.resume(engine);
    for (const worker of this.workers) worker.reconnect();
  }

  #pair(worker: Worker, engine: Engine): string {
    return `${worker.workerId} and ${engine.actor.name}`;
  }

  #reachable(worker: Worker): readonly Engine[] {
    return this.engines.filter((engine) => engine.isServing && !this.#separated.has(this.#pair(worker, engine)));
  }
}
