/** Whether somebody could tell two calls apart by the time they take. */

const REPETITIONS = 4;
const ROUNDS = 16;
/** What must not show is a query more or less, not a microsecond. */
const BUCKET_MS = 5;

/** Medians of one repetition, ms. */
export type Medians = readonly [number, number];

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** Which median is in a higher bucket. */
function slowerOf([one, other]: Medians): 'one' | 'other' | 'neither' {
  if (Math.abs(one - other) < Math.max(BUCKET_MS, Math.min(one, other))) return 'neither';
  return one > other ? 'one' : 'other';
}

/**
 * Which of two calls takes longer. They are made in turns, each first as often as the other. A repetition in which one
 * was slower shows nothing yet, a busy machine does that too: it is slower when it is in every one of several.
 *
 * @param one makes the call and returns how long it took, ms
 * @returns "neither", or the medians of all repetitions
 */
export async function slower(
  one: () => Promise<number>,
  other: () => Promise<number>,
): Promise<'neither' | readonly Medians[]> {
  const found: Medians[] = [];
  while (found.length < REPETITIONS) {
    const took: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      if (round % 2 === 0) took[0].push(await one());
      took[1].push(await other());
      if (round % 2 === 1) took[0].push(await one());
    }
    const medians: Medians = [median(took[0]), median(took[1])];
    const [first = medians] = found;
    if (slowerOf(medians) === 'neither' || slowerOf(medians) !== slowerOf(first)) return 'neither';
    found.push(medians);
  }
  return found;
}
