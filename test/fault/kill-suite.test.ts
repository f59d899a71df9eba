/**
 * The kill suite: PostgreSQL, Redis, three engines and four workers as processes are killed 40 times and stopped ten
 * times under load. Nothing is lost, done twice or stuck, and what a hit engine had goes on, in the middle, within a
 * lease and a second. `npm run soak` is the long form.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cast } from '../kills/cast.js';
import { SLICE } from '../kills/plan.js';
import { runSlice, sliceLine, weaknesses } from '../kills/slice.js';
import { RESUME_LIMIT_MS } from '../kills/strike.js';
import { quantile } from '../kills/verdict.js';
import { cleanUpProcesses } from '../support/processes.js';

const SEED = Number(process.env['DUCTOR_TEST_SEED'] ?? 20_260_507);
const RUNS = 2_000;

let cast: Cast | undefined;
// Hooks run last first: processes end before their database does.
afterAll(() => cast?.close());
cleanUpProcesses();
beforeAll(async () => {
  cast = await Cast.start();
});

describe('the kill suite', () => {
  it('loses nothing, does nothing twice, and gets stuck nowhere', { timeout: 400_000 }, async () => {
    if (cast === undefined) return expect.unreachable('nothing was started');
    const slice = await runSlice(cast, { seed: SEED, runs: RUNS, faults: SLICE });
    console.log(`kill suite, ${sliceLine(slice)}`);
    expect(weaknesses(slice)).toEqual([]);
    expect(slice.runs).toBeGreaterThanOrEqual(RUNS);
    expect({ lost: slice.lost, doubled: slice.doubled, stuck: slice.stuck }).toEqual({
      ...{ lost: [], doubled: [], stuck: [] },
    });
    // The middle one: a slice has a dozen, on a machine that all of it shares. The line above says the worst.
    expect(quantile(slice.resumedMs, 0.5)).toBeLessThanOrEqual(RESUME_LIMIT_MS);
  });
});
