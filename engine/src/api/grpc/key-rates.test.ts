import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { testDatabase } from '../../store/testing/index.js';
import { bearer, httpCall, member } from '../testing/http-call.js';
import { KeyRates } from './key-rates.js';
import { startTestNode } from './testing/test-node.js';

/** A clock that is set by hand. */
const handClock = () => ({ ms: 0, monotonicMs: () => 0 });

function taken(rates: KeyRates, keyId: string): number | 'fine' {
  try {
    rates.take(keyId);
    return 'fine';
  } catch (error) {
    return error instanceof DuctorError ? (error.retryAfterMs ?? Number.NaN) : Number.NaN;
  }
}

describe('KeyRates', () => {
  it('lets twice the rate come at once, then one for each interval, and says when', () => {
    const clock = handClock();
    clock.monotonicMs = () => clock.ms;
    const rates = new KeyRates(clock, 10);
    for (let call = 0; call < 20; call += 1) expect(taken(rates, 'a')).toBe('fine');
    expect(taken(rates, 'a')).toBe(100);
    expect(taken(rates, 'b')).toBe('fine');
    clock.ms += 50;
    expect(taken(rates, 'a')).toBe(50);
    clock.ms += 50;
    expect([taken(rates, 'a'), taken(rates, 'a')]).toEqual(['fine', 100]);
  });

  it('never lets more through than burst and rate allow, and keeps its word about the next one', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), pauses, (perSecond, waits) => {
        const clock = handClock();
        clock.monotonicMs = () => clock.ms;
        const rates = new KeyRates(clock, perSecond);
        let fine = 0;
        for (const wait of waits) {
          clock.ms += wait;
          const answer = taken(rates, 'a');
          if (answer === 'fine') fine += 1;
          else {
            clock.ms += answer;
            expect(taken(rates, 'a')).toBe('fine');
            fine += 1;
          }
        }
        expect(fine).toBeLessThanOrEqual(perSecond * 2 + (clock.ms * perSecond) / 1000 + 1e-6);
      }),
      { numRuns: 2_000 },
    );
  });

  it('forgets keys beyond its bound', () => {
    const rates = new KeyRates({ monotonicMs: () => 0 }, 1);
    for (let call = 0; call < 2; call += 1) rates.take('first');
    expect(taken(rates, 'first')).toBe(1_000);
    for (let key = 0; key < 10_000; key += 1) rates.take(`key ${key}`);
    expect(taken(rates, 'first')).toBe('fine');
  });
});

const database = testDatabase();

describe('a node', () => {
  it('answers 429 with the time to retry, and lets other keys call', async () => {
    const node = await startTestNode(database.db, { callsPerKey: 2 });
    const { apiKey } = await node.tenant('eager');
    const call = (key: string) => httpCall(node.address, { path: '/api/workflows', headers: bearer(key) });
    const answers = await Promise.all(Array.from({ length: 40 }, () => call(apiKey)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(5);
    expect(refused[0]?.headers['retry-after']).toBe('1');
    expect(member(refused[0]?.json, 'error')).toMatchObject({ code: 'limit_exceeded', retryable: true });
    expect(member(refused[0]?.json, 'error', 'retry_after')).toMatch(/^\d+ms$/);
    expect((await call((await node.tenant('patient')).apiKey)).status).toBe(200);
    await node.stop();
  });
});
