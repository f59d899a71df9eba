/** Recipients of pools with queues in wide worlds: they complete what they have, and engines look who may be next. */
import { endMade, isUnderWay } from '../../../engine/src/workflow/testing/memory-endings.js';
import type { Choices } from '../core/choices.js';
import { BENCH } from './pools.js';
import type { World } from './world.js';

const SECOND_US = 1_000_000;
const LOOK_US = 2 * SECOND_US;

/** Completes something that a recipient of such a pool has: a call to any engine is as good as another. */
function complete({ server, sim }: World, choices: Choices): void {
  if (server.isDown) return;
  const { reservations } = server.db;
  const benches = new Set(reservations.pools.flatMap(({ name, view }) => (name === BENCH ? [view.id] : [])));
  const active = reservations.made.filter((each) => {
    return benches.has(each.decision.poolId ?? '') && isUnderWay(reservations, each);
  });
  const one = choices.pick(active);
  if (one === undefined) return;
  endMade(reservations, one);
  sim.marks.reach('bench_completed');
}

/** Some engine looks at queues, as each of them does. */
function look(world: World, choices: Choices): void {
  const { sim, server } = world;
  const isDue = !server.isDown && server.db.reservations.queues.waiting().length > 0;
  const engine = isDue ? choices.pick(world.engines.filter((other) => other.isServing)) : undefined;
  if (engine !== undefined) {
    sim.scheduler.after(0, engine.actor, 'looks at queues', () => void engine.queues.look().catch(() => undefined));
  }
  sim.scheduler.after(LOOK_US, null, 'queues may be due', () => look(world, choices));
}

/** Sets them going for as long as things go wrong. */
export function planBenches(world: World, choices: Choices, untilUs: number): void {
  for (let atUs = choices.int(0, SECOND_US); atUs < untilUs; atUs += choices.int(200_000, 3_000_000)) {
    world.sim.scheduler.at(atUs, null, 'a recipient has done something', () => complete(world, choices));
  }
  look(world, choices);
}

/** What somebody has is done in the end. */
export function finishSome(world: World, choices: Choices): void {
  for (let count = 0; count < 3; count += 1) complete(world, choices);
}
