import { describe, expect, it } from 'vitest';
import { sleep, systemClock } from './system-clock.js';

describe('systemClock', () => {
  it('begins with the wall clock and its offset, and a wide error bound', () => {
    const ahead = systemClock({ offsetUs: 3_600_000_000 });
    const plain = systemClock();
    expect(Math.abs(plain.nowUs() - Date.now() * 1000)).toBeLessThan(100_000);
    expect(Math.abs(ahead.nowUs() - plain.nowUs() - 3_600_000_000)).toBeLessThan(100_000);
    expect(plain.errorUs()).toBeGreaterThanOrEqual(1_000_000);
  });

  it('keeps the observation with the least round trip', () => {
    const clock = systemClock();
    const at = clock.monotonicMs();
    clock.observe(5_000_000_000, at - 2, at);
    expect(clock.errorUs()).toBeGreaterThanOrEqual(1_000);
    expect(clock.errorUs()).toBeLessThan(1_100);
    // Less exact and consistent: ignored.
    clock.observe(5_000_000_000, at - 50, at);
    expect(clock.errorUs()).toBeLessThan(1_100);
    // More exact: taken.
    clock.observe(5_000_000_500, at - 1, at);
    expect(clock.errorUs()).toBeLessThan(600);
    expect(clock.nowUs()).toBeGreaterThanOrEqual(5_000_001_000);
    expect(clock.nowUs()).toBeLessThan(5_000_101_000);
  });

  it('brackets the database clock: now - error is never ahead of it', () => {
    for (const share of [0, 0.3, 1]) {
      const clock = systemClock();
      const received = clock.monotonicMs();
      const sent = received - 10;
      // The database reads its clock at `share` of the round trip; its clock shows monotonic time + 1,000 s.
      clock.observe((sent + 10 * share) * 1000 + 1e9, sent, received);
      // The estimate is cut to whole microseconds: two of slack.
      const before = clock.monotonicMs() * 1000 + 1e9;
      const estimate = clock.nowUs();
      const after = clock.monotonicMs() * 1000 + 1e9;
      expect(estimate - clock.errorUs()).toBeLessThanOrEqual(after + 2);
      expect(estimate + clock.errorUs()).toBeGreaterThanOrEqual(before - 2);
    }
  });

  it('follows a database clock that jumped, even when the observation is less exact', () => {
    const clock = systemClock();
    const at = clock.monotonicMs();
    clock.observe(1_000_000_000, at - 1, at);
    clock.observe(9_000_000_000, at - 100, at);
    expect(clock.nowUs()).toBeGreaterThan(8_999_000_000);
  });

  it('takes a fresh observation once the best one has aged', () => {
    const clock = systemClock();
    const at = clock.monotonicMs();
    clock.observe(1_000_000_000, at - 1, at);
    // A minute later the first one's bound has grown by 12 ms.
    clock.observe(1_060_000_000, at + 60_000 - 10, at + 60_000);
    expect(clock.nowUs()).toBeGreaterThan(0);
    const youngUs = clock.errorUs();
    expect(youngUs).toBeLessThanOrEqual(5_000);
  });

  it('refuses observations that make no sense', () => {
    expect(() => systemClock().observe(Number.NaN, 0, 1)).toThrow('makes no sense');
    expect(() => systemClock().observe(1, 2, 1)).toThrow('makes no sense');
  });

  it('fires timers late rather than early, and not once cancelled', async () => {
    const clock = systemClock();
    const start = clock.monotonicMs();
    let fired = 0;
    clock.setTimer(1, () => (fired += 1)).cancel();
    // Node fires longer delays than 2^31 - 1 ms at once.
    const long = clock.setTimer(3e9, () => (fired += 1));
    await sleep(clock, 10.2);
    expect(clock.monotonicMs() - start).toBeGreaterThanOrEqual(9.5);
    long.cancel();
    expect(fired).toBe(0);
  });

  it('defers behind the current work and before timers', async () => {
    const clock = systemClock();
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      clock.setTimer(5, resolve);
      clock.defer(() => order.push('deferred'));
      order.push('current');
    });
    expect(order).toEqual(['current', 'deferred']);
  });
});
