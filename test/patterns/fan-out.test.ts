import { describe, expect, it } from 'vitest';
import { newsletter } from '../../docs/patterns/fan-out.js';
import { patternWorld } from '../support/pattern-world.js';

const sent = new Map<string, number>();
let inFlight = 0;
let most = 0;

const workflow = newsletter(async (address) => {
  sent.set(address, (sent.get(address) ?? 0) + 1);
  inFlight += 1;
  most = Math.max(most, inFlight);
  await Promise.resolve();
  inFlight -= 1;
  return !address.startsWith('gone');
});
const client = await patternWorld([workflow], 200);

const addresses = (count: number, goneEvery: number): string[] =>
  Array.from({ length: count }, (_, index) => `${index % goneEvery === 0 ? 'gone' : 'here'}-${index}@example.com`);

describe('the fan-out', () => {
  it('reaches 10,000 addresses once each, and completes though 1% of them do not exist', async () => {
    const run = await client.trigger(workflow, { addresses: addresses(10_000, 100) });
    const counts = await run.result({ timeoutMs: 60_000 });
    expect(counts).toMatchObject({ count: 10_000, completed: 9_900, failed: 100 });
    expect(counts.failures).toHaveLength(20);
    expect(counts.failures[0]).toMatchObject({ index: 0, message: 'nobody is at gone-0@example.com' });
    expect(sent.size).toBe(10_000);
    expect([...sent.values()].every((times) => times === 1)).toBe(true);
    expect(most).toBeLessThanOrEqual(100);
  }, 90_000);

  it('fails when more do not exist than are tolerated, and begins no more of them', async () => {
    sent.clear();
    const run = await client.trigger(workflow, { addresses: addresses(2_000, 4) });
    await expect(run.result({ timeoutMs: 60_000 })).rejects.toMatchObject({
      state: 'FAILED',
      // The 41st of those that do not exist: 2% are 40.
      step: 'mail[160]/send',
    });
    expect(sent.size).toBeLessThan(2_000);
  }, 90_000);
});
