import { describe, expect, it } from 'vitest';
import { Breaker } from './breaker.js';

/** A breaker that has failed so often in a row at this time. */
function failing(times: number, atMs = 0): Breaker {
  const breaker = new Breaker();
  for (let count = 0; count < times; count += 1) breaker.failed(atMs, false);
  return breaker;
}

describe('a breaker', () => {
  it('opens at the fifth failure in a row', () => {
    expect(failing(4).circuit(0)).toBe('closed');
    expect(failing(5).circuit(0)).toBe('open');
    const mended = failing(4);
    mended.succeeded();
    mended.failed(0, false);
    expect(mended.circuit(0)).toBe('closed');
  });

  it('lets one try after a second, then after twice the time, up to a minute', () => {
    const breaker = failing(5);
    let nowMs = 0;
    for (const waitMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      expect(breaker.circuit(nowMs + waitMs - 1)).toBe('open');
      nowMs += waitMs;
      expect(breaker.circuit(nowMs)).toBe('half_open');
      breaker.failed(nowMs, true);
    }
  });

  it('is not opened anew by what was called before it opened', () => {
    const breaker = failing(5);
    breaker.failed(900, false);
    expect(breaker.circuit(1_000)).toBe('half_open');
    expect(breaker.failures).toBe(6);
  });

  it('is closed by any success, and begins anew', () => {
    const breaker = failing(5);
    breaker.failed(1_000, true);
    breaker.succeeded();
    expect([breaker.circuit(1_000), breaker.failures, breaker.retryAtMs]).toEqual(['closed', 0, null]);
    for (let count = 0; count < 5; count += 1) breaker.failed(5_000, false);
    expect(breaker.circuit(6_000)).toBe('half_open');
  });
});
