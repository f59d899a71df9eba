import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { geocoding } from '../../docs/patterns/rate-limit.js';
import { patternWorld } from '../support/pattern-world.js';

const begunMs: number[] = [];
let running = 0;
let most = 0;
const workflow = geocoding(async (place) => {
  begunMs.push(performance.now());
  running += 1;
  most = Math.max(most, running);
  await sleep(150);
  running -= 1;
  return `${place}, Earth`;
});
const client = await patternWorld([workflow]);

describe('rate-limited calls', () => {
  it('begin no faster than the API allows, and never more than two at a time', async () => {
    const places = Array.from({ length: 20 }, (_, at) => `place ${at}`);
    const runs = await Promise.all(places.map((place) => client.trigger(workflow, { place })));
    const found = await Promise.all(runs.map((run) => run.result({ timeoutMs: 30_000 })));
    expect(found).toEqual(places.map((place) => `${place}, Earth`));
    expect(most).toBeLessThanOrEqual(2);
    expect(begunMs).toHaveLength(20);
    // A turn is 100 ms after the one before. What lies between a turn and the body's first line varies.
    const tookMs = (begunMs.at(-1) ?? 0) - (begunMs[0] ?? 0);
    expect(tookMs).toBeGreaterThan(19 * 75);
  });
});
