import { describe, expect, it } from 'vitest';
import { afterHealthOutcome, HEALTHY, isPanic, type Health } from './health.js';

const OTHERS = { ejected: 0, total: 10 };

function afterFailures(count: number, health: Health = HEALTHY, others = OTHERS, atUs = 0): Health {
  let after = health;
  for (let failure = 0; failure < count; failure += 1) {
    after = afterHealthOutcome(after, { recipientId: 'r', atUs, isSuccess: false }, {}, others);
  }
  return after;
}

describe('ejection', () => {
  it('comes after five failures in a row, for 30 s and a little more', () => {
    expect(afterFailures(4).ejectedUntilUs).toBeUndefined();
    const until = afterFailures(5).ejectedUntilUs ?? 0;
    expect(until).toBeGreaterThanOrEqual(30_000_000);
    expect(until).toBeLessThan(34_500_000);
  });
  it('begins to count anew with a success', () => {
    const four = afterFailures(4);
    const healed = afterHealthOutcome(four, { recipientId: 'r', atUs: 0, isSuccess: true }, {}, OTHERS);
    expect(afterFailures(4, healed).ejectedUntilUs).toBeUndefined();
  });
  it('lasts longer each time, at most 5 minutes, is never shortened, and is forgotten after 10 minutes without', () => {
    let health = HEALTHY;
    const lasts: number[] = [];
    for (let episode = 0; episode < 14; episode += 1) {
      const atUs = health.ejectedUntilUs ?? 0;
      health = afterFailures(5, health, OTHERS, atUs);
      lasts.push(((health.ejectedUntilUs ?? 0) - atUs) / 1_000_000);
    }
    expect(lasts[1]).toBeGreaterThanOrEqual(60);
    expect(Math.max(...lasts)).toBeLessThan(345);
    const again = afterFailures(5, health, OTHERS, 0);
    expect(again.ejectedUntilUs).toBe(health.ejectedUntilUs);
    const later = (health.ejectedUntilUs ?? 0) + 600_000_000;
    expect((afterFailures(5, health, OTHERS, later).ejectedUntilUs ?? 0) - later).toBeLessThan(34_500_000);
  });
  it('never takes out more than half, nor the last one', () => {
    expect(afterFailures(9, HEALTHY, { ejected: 5, total: 10 }).ejectedUntilUs).toBeUndefined();
    expect(afterFailures(9, HEALTHY, { ejected: 4, total: 10 }).ejectedUntilUs).toBeDefined();
    expect(afterFailures(9, HEALTHY, { ejected: 0, total: 1 }).ejectedUntilUs).toBeUndefined();
  });
  it('is ignored when too few are healthy', () => {
    expect([isPanic(5, 10, 50), isPanic(4, 10, 50), isPanic(0, 0, 50), isPanic(0, 3, 0), isPanic(0, 3, 50)]).toEqual([
      false,
      true,
      false,
      false,
      true,
    ]);
  });
});
