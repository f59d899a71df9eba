/** What strikes not one engine or worker but what all of them stand on: database, bus, definitions, pools, daylight. */
import type { Engine } from '../cast/engine.js';
import { drawStart } from './draw.js';
import { changeRoom } from './pools.js';
import type { World } from './world.js';

const SECOND_US = 1_000_000;
const HOUR_US = 3_600 * SECOND_US;
const DAY_US = 24 * HOUR_US;
/** What was sent before nobody was up any more has happened by then. */
const DUSK_US = 12 * SECOND_US;
/** All nights of a world together: less than keys of starts are kept. */
const MAX_NIGHTS_US = 25 * DAY_US;

function anyEngine({ sim, engines }: World): Engine | undefined {
  return sim.choices.pick(engines.filter((engine) => engine.actor.state === 'running'));
}

/** Nobody gets an answer for a while. */
function outage({ server, sim }: World): boolean {
  if (server.isDown) return false;
  server.down();
  sim.scheduler.after(sim.choices.int(200_000, 8 * SECOND_US), null, 'the database is back', () => server.up());
  return true;
}

/** Everything that was committed is there; connections lead to the old server until they are made anew. */
function failover({ server, sim, engines }: World): boolean {
  if (server.isDown) return false;
  server.down();
  sim.scheduler.after(sim.choices.int(300_000, 4 * SECOND_US), null, 'a standby took over', () => {
    server.up();
    for (const engine of engines) engine.isAtStandby = sim.choices.chance(0.7);
  });
  return true;
}

function exhaust(world: World): boolean {
  const engine = anyEngine(world);
  if (engine === undefined) return false;
  const { scheduler, choices } = world.sim;
  engine.busyUntilUs = scheduler.nowUs + choices.int(50_000, 6 * SECOND_US);
  world.sim.note('has no free connection', engine.actor.name);
  return true;
}

function cutConnections(world: World): boolean {
  const engine = anyEngine(world);
  if (engine === undefined) return false;
  engine.cuts += 1;
  for (const nodeId of engine.nodeIds) world.server.db.closeSession(nodeId);
  return true;
}

function silenceBus({ bus, sim }: World): boolean {
  if (bus.isDown) return false;
  bus.isDown = true;
  sim.scheduler.after(sim.choices.int(SECOND_US, 10 * SECOND_US), null, 'the bus is back', () => {
    bus.isDown = false;
  });
  return true;
}

/** Publishes the next version; clients begin to use it. */
function deploy(world: World): boolean {
  const { truth, sim } = world;
  const plan = truth.deploy();
  if (plan === undefined) return false;
  for (let count = sim.choices.int(1, 3); count > 0; count -= 1) {
    const only = { plans: [plan], tenants: truth.tenants };
    const request = drawStart(sim.choices, only, 1_000 * plan.version + count, false);
    sim.scheduler.after(sim.choices.int(0, 4 * SECOND_US), null, 'a client uses the new version', () =>
      world.client.start(request),
    );
  }
  return true;
}

function changeLimits({ server, sim, truth }: World): boolean {
  const tenantId = sim.choices.pick(truth.tenants);
  if (tenantId === undefined) return false;
  changeRoom(server.db, tenantId, sim.choices);
  if (server.db.reservations.held.length > 0) sim.marks.reach('limits_changed');
  return true;
}

/** All engines and workers go; hours or days later they come back, to what has become due meanwhile. */
function sleepers(world: World): () => boolean {
  let sumUs = 0;
  return () => {
    const { sim } = world;
    const { choices, scheduler } = sim;
    const lengthUs = choices.oneOf(
      HOUR_US / 6,
      HOUR_US,
      9 * HOUR_US,
      16 * HOUR_US,
      2.5 * DAY_US,
      3 * DAY_US,
      14 * DAY_US,
    );
    if (world.isDark || sumUs + lengthUs > MAX_NIGHTS_US) return false;
    sumUs += lengthUs;
    world.goDark();
    scheduler.after(DUSK_US, null, `night of ${lengthUs / HOUR_US} hours`, () => {
      // All is healed: it was a short night.
      if (!world.isDark) return;
      if (world.truth.open().length > 0) sim.marks.reach('night_passed');
      scheduler.pass(lengthUs);
      world.dawn();
    });
    return true;
  };
}

/** What each of these kinds does; false: there was nothing to strike. */
export function upheavals(world: World) {
  return {
    database_outage: () => outage(world),
    failover: () => failover(world),
    pool_exhausted: () => exhaust(world),
    connection_killed: () => cutConnections(world),
    bus_outage: () => silenceBus(world),
    deploy: () => deploy(world),
    limit_lowered: () => changeLimits(world),
    night: sleepers(world),
  };
}
