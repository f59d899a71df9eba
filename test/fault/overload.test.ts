/**
 * An engine that is asked for more than it can do, by a rate that does not wait for its answers: the excess is refused
 * with a hint, what was accepted is carried out once, memory stays, and it recovers. How fast it is meanwhile depends
 * on the machine: `bench/overload.ts` says it.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { contradictions, readJournal } from '../support/journal.js';
import { cleanUpProcesses } from '../support/processes.js';
import { until } from '../support/wait.js';
import { ofFate, type Sample, samplesLine } from '../overload/samples.js';
import { acceptedIds, type Act, Stage } from '../overload/stage.js';

const CAPACITY_MS = 6_000;
const OVER_MS = 8_000;
/** So long after the overload the last moment in which anybody is refused is allowed to be. */
const RECOVERY_LIMIT_MS = 30_000;
/** Asked little for so long without a refusal, the engine is taken to have recovered. */
const CALM_MS = 4_000;
const TIMES = [3, 6, 12, 24];
/** A machine that stood still while it was measured can do so much. */
const LEAST_PER_SECOND = 50;
const GROWTH_LIMIT_BYTES = 256 * 1024 * 1024;

const test = testDatabase();
cleanUpProcesses();
let stage: Stage;

beforeAll(async () => {
  stage = await Stage.start(test.db, test.url);
});

describe('an engine that is asked for more than it can do', () => {
  it('refuses the excess with a hint, loses nothing of the rest, and recovers', async () => {
    const { perSecond: measured, samples } = await stage.capacity(CAPACITY_MS);
    const perSecond = Math.max(LEAST_PER_SECOND, measured);
    const act = (name: string, forMs: number, times: number): Act => ({
      ...{ name, forMs, perSecond: perSecond * times, fewPerSecond: 5 },
    });
    const heard: (readonly Sample[])[] = [samples];
    const before = stage.memoryBytes();
    // A machine that has become faster since it was measured is asked for more.
    for (const times of TIMES) {
      const [over] = await Promise.all(stage.play([act(`times ${times}`, OVER_MS, times)]));
      const { many = [], few = [] } = over ?? {};
      heard.push(many, few);
      console.log(`overload, ${times} times: ${samplesLine(many, OVER_MS)}`);
      if (ofFate(many, 'refused').length > 0) break;
    }
    const grownBytes = stage.memoryBytes() - before;
    // What was accepted is still being carried out, for as long as the machine takes.
    let refusedInCalm = Number.POSITIVE_INFINITY;
    for (let afterMs = 0; afterMs <= RECOVERY_LIMIT_MS && refusedInCalm > 0; afterMs += CALM_MS) {
      const [after] = await Promise.all(stage.play([act(`after ${afterMs}`, CALM_MS, 0.1)]));
      const { many = [], few = [] } = after ?? {};
      heard.push(many, few);
      refusedInCalm = ofFate(many, 'refused').length;
      console.log(`overload, after it: ${samplesLine(many, CALM_MS)}`);
    }

    const all = heard.flat();
    const refused = ofFate(all, 'refused');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.filter(({ retryAfterMs }) => retryAfterMs < 100)).toEqual([]);
    expect(ofFate(all, 'failed').slice(0, 3)).toEqual([]);
    expect(refusedInCalm).toBe(0);
    expect(grownBytes).toBeLessThan(GROWTH_LIMIT_BYTES);

    const ids = acceptedIds(heard);
    await stage.drained(ids.length);
    // Bodies say that they have ended before the engine hears of it.
    await until('the last results to be committed', async () => {
      const { rowCount } = await test.db.query('select 1 from ductor.runs where closed_at is null limit 1');
      return rowCount === 0;
    });
    const journal = await readJournal(test.db);
    expect(contradictions(journal)).toEqual([]);
    expect(journal.filter(({ closed }) => closed !== 'COMPLETED')).toEqual([]);
    expect(new Set(journal.map(({ runId }) => runId))).toEqual(new Set(ids));
    expect(ids).toHaveLength(journal.length);
    // One body for each run, by what the bodies wrote down themselves: keys are one to one.
    expect(stage.effects).toBe(ids.length);
  });
});
