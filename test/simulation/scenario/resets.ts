/** People who reset the capacity of pools, in wide worlds. */
import type { Choices } from '../core/choices.js';
import type { World } from './world.js';

function reset(world: World, choices: Choices): void {
  const engine = choices.pick(world.engines.filter((other) => other.isServing));
  const tenantId = choices.pick(world.truth.tenants);
  if (engine === undefined || tenantId === undefined) return;
  world.sim.scheduler.after(choices.int(100, 4_000), engine.actor, 'is asked to reset capacity', () => {
    // Nobody asks again what was not answered.
    void engine.capacity.reset(tenantId).catch(() => undefined);
  });
}

/** Sets them going for as long as things go wrong. */
export function planResets(world: World, choices: Choices, untilUs: number): void {
  for (let count = choices.int(0, 3); count > 0; count -= 1) {
    world.sim.scheduler.at(choices.int(0, untilUs), null, 'somebody resets capacity', () => reset(world, choices));
  }
}
