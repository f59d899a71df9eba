/** What people do to runs in wide worlds: they pause them, let them go on, try again what failed, and end them. */
import type { Choices } from '../core/choices.js';
import type { Deed } from '../core/deed.js';
import type { RunState } from '../../../engine/src/workflow/machine/index.js';
import type { World } from './world.js';

const SECOND_US = 1_000_000;

/** Somebody does something to a run that is known and open. */
function act(world: World, choices: Choices): void {
  const open = [...world.answers.started.values()].filter((run) => world.truth.state(run)?.closedAtUs === null);
  const run = choices.pick(open);
  if (run === undefined) return;
  const deed = choices.oneOf<Deed>('pause', 'pause', 'pause', 'resume', 'resume', 'retry', 'terminate');
  world.client.act(run, deed);
  if (deed !== 'pause' || choices.chance(0.3)) return;
  const laterUs = choices.int(10_000, 6 * SECOND_US);
  world.sim.scheduler.after(laterUs, null, 'somebody lets it go on', () => world.client.act(run, 'resume'));
}

/** Sets them going for as long as things go wrong. */
export function planPeople(world: World, choices: Choices, untilUs: number): void {
  for (let count = choices.int(0, 12); count > 0; count -= 1) {
    world.sim.scheduler.at(choices.int(0, untilUs), null, 'somebody has a look at runs', () => act(world, choices));
  }
}

/** Who is paused goes on; of those that are parked some are tried again. True: something was done. */
export function lookAfter(world: World, choices: Choices, state: RunState): boolean {
  const { tenantId, runId } = state;
  if (state.paused !== null) world.client.act({ tenantId, runId }, 'resume');
  else if (state.parked !== null && choices.chance(0.4))
    world.client.act({ tenantId, runId }, choices.oneOf('retry', 'resume'));
  else return false;
  return true;
}
