/** Which faults come in which order: drawn from a seed. */
import type { Random } from '../../engine/src/kernel/index.js';

/** What is done to what. */
export type FaultKind =
  'kill engine' | 'kill worker' | 'kill postgres' | 'kill redis' | 'pause engine' | 'pause worker';

/** How often each kind comes. */
export type FaultCounts = Readonly<Record<FaultKind, number>>;

/** A slice: 40 kills and 10 pauses. */
export const SLICE: FaultCounts = {
  'kill engine': 13,
  'kill worker': 12,
  'kill postgres': 8,
  'kill redis': 7,
  'pause engine': 6,
  'pause worker': 4,
};

/** All of them, shuffled. */
export function planFaults(counts: FaultCounts, random: Random): readonly FaultKind[] {
  const plan: FaultKind[] = [];
  for (const kind of Object.keys(SLICE)) {
    if (isKind(kind)) plan.push(...Array.from({ length: counts[kind] }, () => kind));
  }
  for (let index = plan.length - 1; index > 0; index -= 1) {
    const other = random.uint32() % (index + 1);
    const [one, two] = [plan[index], plan[other]];
    if (one !== undefined && two !== undefined) [plan[index], plan[other]] = [two, one];
  }
  return plan;
}

function isKind(kind: string): kind is FaultKind {
  return Object.hasOwn(SLICE, kind);
}
