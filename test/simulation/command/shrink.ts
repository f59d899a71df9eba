/** Leaves out kinds of faults as long as the seed still fails, so that what is left is what it takes. */
import type { FaultKind } from '../faults.js';
import { runSeed } from '../scenario/run-seed.js';

/** Kinds without which the seed does not fail (or fails no more). */
export async function shrinkFaults(seed: number, kinds: readonly FaultKind[]): Promise<readonly FaultKind[]> {
  const without = new Set<string>();
  for (const kind of kinds) {
    without.add(kind);
    const { violations } = await runSeed(seed, { without });
    if (violations.length === 0) without.delete(kind);
  }
  return kinds.filter((kind) => !without.has(kind));
}
