/**
 * Asks strategies in apps' code before a selection is decided: nothing is locked meanwhile, and nobody else waits. The
 * run comes back to the gate lane with what they said, which is kept until its tick is written.
 */
import { uuidV7 } from '../../kernel/index.js';
import { backoffMs } from './backoff.js';
import type { SelectionAnswers, SelectionAsk } from './gate-ports.js';
import type { RunCell } from './run-cell.js';
import type { World } from './world.js';

/** What was said for a step so far. */
function saidFor({ clock, random }: World, cell: RunCell, { path }: SelectionAsk): SelectionAnswers {
  const known = cell.said?.get(path);
  if (known !== undefined) return known;
  const said = { decisionId: uuidV7(clock.nowUs(), random), answers: new Map(), spentUs: 0 };
  (cell.said ??= new Map()).set(path, said);
  return said;
}

async function ask(world: World, cell: RunCell, tries: number): Promise<void> {
  try {
    await Promise.all(cell.unasked.map((each) => world.runs.askStrategies(each, saidFor(world, cell, each))));
    if (world.isEnded() || !world.cache.holds(cell)) return;
    cell.unasked = [];
    cell.phase = 'ready';
    world.toGate(cell);
  } catch (error) {
    world.hooks.log('warn', 'apps cannot be asked for a selection, trying again', { run: cell.key, error });
    world.clock.setTimer(backoffMs(tries + 1), () => {
      if (!world.isEnded() && world.cache.holds(cell)) void ask(world, cell, tries + 1);
    });
  }
}

/** Asks what the last try of the run came to and did not know; the run waits meanwhile. */
export function askApps(world: World, cell: RunCell): void {
  cell.phase = 'loading';
  void ask(world, cell, 0);
}
