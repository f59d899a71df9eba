/** What a process of the simulator is asked to do, and what it answers. */
import type { PlantedBug } from '../cast/engine.js';
import { CANARY, PLANTED_BUGS } from '../planted/bugs.js';
import { runSeed, type SeedReport } from '../scenario/run-seed.js';

/** One piece of work. */
export type Task =
  | { readonly kind: 'seed'; readonly seed: number }
  /** The same seed once more, to compare. */
  | { readonly kind: 'again'; readonly seed: number }
  /** Seeds from 1 with a planted bug, until it is caught. */
  | { readonly kind: 'bug'; readonly name: string; readonly seeds: number };

/** What became of it. */
export type Answer = Found & { /** Processor time it took. */ readonly cpuMs: number };

type Found =
  | { readonly kind: 'seed' | 'again'; readonly report: SeedReport }
  | {
      readonly kind: 'bug';
      readonly name: string;
      /** The first seed that caught it; null: none did. */
      readonly seed: number | null;
      readonly violation: string;
    };

/** A planted bug or the canary by its name. */
export function bugNamed(name: string): PlantedBug | undefined {
  return [CANARY, ...PLANTED_BUGS].find((bug) => bug.name === name);
}

async function hunt(name: string, seeds: number): Promise<Found> {
  const bug = bugNamed(name);
  for (let seed = 1; bug !== undefined && seed <= seeds; seed += 1) {
    const { violations } = await runSeed(seed, { bug });
    const [violation] = violations;
    if (violation !== undefined) return { kind: 'bug', name, seed, violation };
  }
  return { kind: 'bug', name, seed: null, violation: '' };
}

async function find(task: Task): Promise<Found> {
  if (task.kind === 'bug') return hunt(task.name, task.seeds);
  return { kind: task.kind, report: await runSeed(task.seed) };
}

/** Does a piece of work. */
export async function doTask(task: Task): Promise<Answer> {
  const before = process.cpuUsage();
  const found = await find(task);
  const { user, system } = process.cpuUsage(before);
  return { ...found, cpuMs: (user + system) / 1000 };
}
