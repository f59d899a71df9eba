/** Fate: lets the faults that strike now and then strike. */
import type { Engine } from '../cast/engine.js';
import { TIMED_FAULTS, type TimedFault } from '../faults.js';
import type { World } from './world.js';

const SECOND_US = 1_000_000;

/** Who is struck, and how. */
export class Fate {
  constructor(readonly world: World) {}

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
      if (this.#strike(kind)) faults.count(kind);
      this.#next(kind);
    });
  }

  /** False: there was nobody to strike. */
  #strike(kind: TimedFault): boolean {
    const { world } = this;
    switch (kind) {
      case 'engine_crash':
        return this.#nowOrInCommit((engine) => this.#crashEngine(engine));
      case 'engine_pause':
        return this.#nowOrInCommit((engine) => this.#pause(engine, world.sim.choices.int(5_200_000, 14_000_000), true));
      case 'engine_stall':
        return this.#pause(this.#anyEngine(), world.sim.choices.int(20_000, 900_000), false);
      case 'engine_stop':
        return this.#stopEngine();
      case 'engine_join':
        if (world.engines.length >= 4) return false;
        world.addEngine(null);
        return true;
      case 'session_flap':
        return this.#flap();
      case 'heartbeat_loss':
        return this.#mute();
      case 'clock_step':
        return this.#stepClock();
      case 'database_outage':
        return this.#outage();
      case 'worker_crash':
        return this.#crashWorker();
      case 'worker_disconnect':
        return this.#disconnect();
      case 'worker_partition':
        return this.#partition();
    }
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

  #stepClock(): boolean {
    const engine = this.#anyEngine();
    engine?.clock.step();
    return engine !== undefined && this.world.isSkewed;
  }

  #outage(): boolean {
    const { server, sim } = this.world;
    if (server.isDown) return false;
    server.down();
    sim.scheduler.after(sim.choices.int(200_000, 8 * SECOND_US), null, 'the database is back', () => server.up());
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
