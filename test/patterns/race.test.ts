import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { quote } from '../../docs/patterns/race.js';
import { patternWorld } from '../support/pattern-world.js';
import { until } from '../support/wait.js';

const stopped: string[] = [];
/** Milliseconds until a supplier answers for an article. */
const DELAYS: Readonly<Record<string, number>> = { 'south chair': 20, 'north table': 20 };

const workflow = quote(async (supplier, article, signal) => {
  try {
    await sleep(DELAYS[`${supplier} ${article}`] ?? 60_000, undefined, { signal });
  } catch (error) {
    stopped.push(`${supplier} ${article}`);
    throw error;
  }
  return supplier === 'south' ? 4_200 : 9_900;
});
const client = await patternWorld([workflow]);

describe('the race', () => {
  it.each([
    ['chair', 4_200, ['north chair']],
    ['table', 9_900, ['south table']],
  ])('takes the first answer for a %s and stops who still thinks', async (article, cents, losers) => {
    const run = await client.trigger(workflow, { article, listCents: 12_000, patience: '1h' });
    await expect(run.result({ timeoutMs: 20_000 })).resolves.toBe(cents);
    await until('the losers to stop', () => losers.every((loser) => stopped.includes(loser)));
  });

  it('takes the list price when nobody answers in time', async () => {
    const run = await client.trigger(workflow, { article: 'lamp', listCents: 12_000, patience: '100ms' });
    await expect(run.result({ timeoutMs: 20_000 })).resolves.toBe(12_000);
    await until('both to stop', () => ['north lamp', 'south lamp'].every((loser) => stopped.includes(loser)));
  });
});
