import { describe, expect, it } from 'vitest';
import { PLAIN_RETRY } from '../testing/plan-builder.js';
import { mayRetry, retryWaitUs } from './retry.js';

describe('retryWaitUs', () => {
  it('grows by the backoff up to the longest interval', () => {
    const waits = [1, 2, 3, 6, 7, 8, 500].map((attempt) => retryWaitUs(PLAIN_RETRY, attempt, 0.5));
    expect(waits).toEqual([1e6, 2e6, 4e6, 32e6, 60e6, 60e6, 60e6]);
  });

  it('is random for the share that jitter names, and never longer for it', () => {
    const jittered = { ...PLAIN_RETRY, jitter: 0.2 };
    expect(retryWaitUs(jittered, 1, 0)).toBe(1_000_000);
    expect(retryWaitUs(jittered, 1, 0.5)).toBe(900_000);
    expect(retryWaitUs(jittered, 1, 0.999_999)).toBe(800_001);
    expect(retryWaitUs({ ...PLAIN_RETRY, jitter: 1 }, 1, 0.75)).toBe(250_000);
  });

  it('is nothing without an initial interval, however often', () => {
    expect(retryWaitUs({ ...PLAIN_RETRY, initialIntervalMs: 0 }, 5000, 0)).toBe(0);
  });

  it('is counted in whole microseconds, rounded up', () => {
    expect(retryWaitUs({ ...PLAIN_RETRY, initialIntervalMs: 0.0001 }, 1, 0)).toBe(1);
  });
});

describe('mayRetry', () => {
  it('asks the body and the policy', () => {
    const policy = { ...PLAIN_RETRY, nonRetryable: ['card_declined'] };
    expect(mayRetry(policy, { code: 'boom', nonRetryable: false })).toBe(true);
    expect(mayRetry(policy, { code: 'boom', nonRetryable: true })).toBe(false);
    expect(mayRetry(policy, { code: 'card_declined', nonRetryable: false })).toBe(false);
  });
});
