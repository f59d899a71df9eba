import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ordering } from '../../docs/patterns/serial.js';
import { patternWorld } from '../support/pattern-world.js';

const credit = new Map<string, number>();
const running = new Set<string>();
const charged: string[] = [];
/** Reads, waits, writes: two at a time for one customer would lose a charge. */
const workflow = ordering(async (customer, amount) => {
  if (running.has(customer)) throw new Error(`two orders of ${customer} at a time`);
  running.add(customer);
  charged.push(customer);
  const before = credit.get(customer) ?? 100;
  await sleep(50);
  credit.set(customer, before - amount);
  running.delete(customer);
  return before - amount;
});
const client = await patternWorld([workflow]);

describe('per-customer serial execution', () => {
  it('works off the orders of a customer one by one as they came, and customers side by side', async () => {
    const amounts = [1, 2, 3, 4, 5, 6];
    const customers = ['ada', 'grace'];
    const results = new Map<string, number[]>();
    for (const amount of amounts) {
      for (const customer of customers) {
        const run = await client.trigger(workflow, { customer, amount });
        void run.result({ timeoutMs: 30_000 }).then((left) => {
          results.set(customer, [...(results.get(customer) ?? []), left]);
        });
      }
    }
    const done = (): number => [...results.values()].reduce((sum, each) => sum + each.length, 0);
    await expect.poll(done, { timeout: 25_000 }).toBe(12);
    for (const customer of customers) {
      expect(credit.get(customer)).toBe(79);
      expect((results.get(customer) ?? []).toSorted((a, b) => b - a)).toEqual([99, 97, 94, 90, 85, 79]);
    }
    // Nobody waits for another customer: each is served before the other has been served whole.
    expect(charged.indexOf('grace')).toBeLessThan(charged.lastIndexOf('ada'));
    expect(charged.indexOf('ada')).toBeLessThan(charged.lastIndexOf('grace'));
  });
});
