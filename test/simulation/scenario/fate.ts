/** Fate: lets the faults that strike now and then strike. */
import type { Engine } from '../cast/engine.js';
import { TIMED_FAULTS, type TimedFault } from '../faults.js';
import { upheavals } from './upheavals.js';
import type { World } from './world.js';

const SECOND_US = 1_000_000;
const MAX_ENGINES = 6;
const JUMP_MAX_MS = 30 * 60_000;

/** Strikes; false: there was nobody to strike. */
type Strike = () => boolean;

/** Who is struck, and how. */
export class Fate {
  readonly #strikes: Readonly<Record<TimedFault, Strike>>;

  constructor(readonly world: World) {
    this.#strikes = { ...this.#onEngines(), ...this.#onWorkers(), ...upheavals(world) };
  }

  /** Sets every drawn kind going. */
  begin(): void {
    for (const kind of TIMED_FAULTS) this.#next(kind);
  }

  #next(kind: TimedFault): void {
    const { scheduler, faults } = this.world.sim;
    const waitUs = faults.nextUs(kind);
    if (waitUs === null) return;
    scheduler.after(waitUs, null, `fate: ${kind}`, () => {
      if (faults.isHealed) return;
      if (this.#strikes[kind]()) faults.count(kind);
      this.#next(kind);
    });
  }

  #onEngines() {
    const { choices } = this.world.sim;
    return {
      engine_crash: () => this.#nowOrInCommit((engine) => this.#crashEngine(engine)),
      engine_pause: () =>
        this.#nowOrInCommit((engine) => this.#pause(engine, choices.int(5_200_000, 14_000_000), true)),
      engine_stall: () => this.#pause(this.#anyEngine(), choices.int(20_000, 900_000), false),
      engine_stop: () => this.#stopEngine(),
      engine_join: () => this.#join(),
      session_flap: () => this.#flap(),
      heartbeat_loss: () => this.#mute(),
      clock_step: () => this.#anyEngine()?.clock.step() ?? false,
      clock_jump: () => this.#jump(),
    };
  }

  #onWorkers() {
    return {
      worker_crash: () => this.#crashWorker(),
      worker_disconnect: () => this.#disconnect(),
      worker_partition: () => this.#partition(),
    };
  }

  #join(): boolean {
    const { world } = this;
    if (world.engines.length >= MAX_ENGINES) return false;
    world.addEngine(null);
    return true;
  }

  #anyEngine(): Engine | undefined {
    return this.world.sim.choices.pick(this.world.engines.filter((engine) => engine.actor.state === 'running'));
  }

  /** Strikes some engine now, or, half of the time, the next one that commits, while it does. */
  #nowOrInCommit(strike: (engine: Engine | undefined) => boolean): boolean {
    const { world } = this;
    if (world.sim.choices.chance(0.5)) return strike(this.#anyEngine());
    world.sim.ambush = (actor) => {
      if (!world.sim.faults.isHealed && actor.state === 'running')
        strike(world.engines.find((one) => one.actor === actor));
    };
    return true;
  }

  #crashEngine(engine: Engine | undefined): boolean {
    const { world } = this;
    if (engine === undefined) return false;
    const { choices } = world.sim;
    const isSilent = choices.chance(0.4);
    engine.crash(isSilent);
    world.forget(engine);
    world.replace(choices.int(100_000, 4 * SECOND_US), choices.chance(0.5) ? engine.address : null);
    return true;
  }

  #pause(engine: Engine | undefined, forUs: number, isZombie: boolean): boolean {
    if (engine === undefined) return false;
    const { scheduler } = this.world.sim;
    engine.actor.state = 'paused';
    if (isZombie) engine.isZombie = true;
    scheduler.after(forUs, null, `${engine.actor.name} goes on`, () => this.world.resume(engine));
    return true;
  }

  #stopEngine(): boolean {
    const { world } = this;
    const engine = world.sim.choices.pick(
      world.engines.filter((one) => one.actor.state === 'running' && one.isServing),
    );
    if (engine === undefined) return false;
    world.stopEngine(engine);
    return true;
  }

  /** As when a machine is told the time after it had a wrong one for long. */
  #jump(): boolean {
    const { wide, choices, marks } = this.world.sim;
    const byMs = (wide ?? choices).int(-JUMP_MAX_MS, JUMP_MAX_MS);
    const engine = this.#anyEngine();
    if (engine?.clock.jump(byMs) !== true) return false;
    if (this.world.truth.open().length > 0) marks.reach('clock_jumped');
    return true;
  }

  #flap(): boolean {
    const engine = this.#anyEngine();
    if (engine === undefined) return false;
    const { server, sim } = this.world;
    const nodeIds = [...engine.nodeIds];
    for (const nodeId of nodeIds) server.db.closeSession(nodeId);
    for (const nodeId of nodeIds) server.flapping.add(nodeId);
    sim.scheduler.after(sim.choices.int(1_000, 5 * SECOND_US), null, `session of ${engine.actor.name} can open`, () => {
      for (const nodeId of nodeIds) server.flapping.delete(nodeId);
    });
    return true;
  }

  #mute(): boolean {
    const engine = this.#anyEngine();
    if (engine === undefined || engine.isMute) return false;
    const { scheduler, choices } = this.world.sim;
    engine.isMute = true;
    scheduler.after(choices.int(2 * SECOND_US, 9 * SECOND_US), null, `${engine.actor.name} is heard again`, () => {
      engine.isMute = false;
    });
    return true;
  }

  #crashWorker(): boolean {
    const { world } = this;
    const worker = world.sim.choices.pick(world.workers);
    if (worker === undefined) return false;
    world.crashWorker(worker);
    return true;
  }

  #disconnect(): boolean {
    const { choices } = this.world.sim;
    const worker = choices.pick(this.world.workers);
    const stream = choices.pick(worker?.streams ?? []);
    if (stream === undefined) return false;
    const isHalfOpen = choices.chance(0.3);
    stream.cut(isHalfOpen ? 6 * SECOND_US : 20_000, 20_000);
    return true;
  }

  #partition(): boolean {
    const { world } = this;
    const { choices } = world.sim;
    const worker = choices.pick(world.workers);
    const engine = this.#anyEngine();
    if (worker === undefined || engine === undefined) return false;
    world.separate(worker, engine, choices.int(4 * SECOND_US, 22 * SECOND_US));
    return true;
  }
}
