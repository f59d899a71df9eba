/**
 * How work of each recipient of a pool ended, counted exactly, in the state of the pool's strategies: who chooses reads
 * it under the same lock as the reports write it. Beyond so many outcomes of one recipient both counts are halved, so
 * that old ones are forgotten.
 */
import type { PoolState } from '../core/candidate.js';

/** Counts of one recipient. */
export interface OutcomeCounts {
  readonly samples: number;
  readonly successes: number;
}

const SAMPLES = 'samples';
const SUCCESSES = 'successes';
const MAX_SAMPLES = 10_000;

/** The counts of each recipient. */
export function countsOf(state: PoolState): (recipientId: string) => OutcomeCounts {
  const [samples = {}, successes = {}] = [state[SAMPLES]?.of, state[SUCCESSES]?.of];
  const at = (of: Readonly<Record<string, number>>, id: string): number => (Object.hasOwn(of, id) ? (of[id] ?? 0) : 0);
  return (id) => ({ samples: at(samples, id), successes: at(successes, id) });
}

/**
 * The state after one more outcome.
 *
 * @param members of the pool: those that left are forgotten
 */
export function afterCount(
  state: PoolState,
  { recipientId, isSuccess }: { readonly recipientId: string; readonly isSuccess: boolean },
  members: ReadonlySet<string>,
): PoolState {
  const before = countsOf(state);
  const known = Object.keys(state[SAMPLES]?.of ?? {});
  const ids = [...new Set([...known, recipientId])].filter((id) => members.has(id)).sort();
  const counts = ids.map((id): readonly [string, OutcomeCounts] => {
    const { samples, successes } = before(id);
    if (id !== recipientId) return [id, { samples, successes }];
    const [all, good] = [samples + 1, successes + (isSuccess ? 1 : 0)];
    const isFull = all > MAX_SAMPLES;
    return [
      id,
      isFull ? { samples: Math.floor(all / 2), successes: Math.floor(good / 2) } : { samples: all, successes: good },
    ];
  });
  const column = (pick: (each: OutcomeCounts) => number): Readonly<Record<string, number>> =>
    Object.fromEntries(counts.map(([id, each]) => [id, pick(each)]));
  return {
    ...state,
    [SAMPLES]: { of: column(({ samples }) => samples) },
    [SUCCESSES]: { of: column(({ successes }) => successes) },
  };
}
