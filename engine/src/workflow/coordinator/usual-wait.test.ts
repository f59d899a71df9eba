import { describe, expect, it } from 'vitest';
import { manualClock } from '../../kernel/testing/manual-clock.js';
import { UsualWait } from './usual-wait.js';

function kit() {
  const clock = manualClock();
  const usual = new UsualWait(clock);
  /** So many seconds of 100 starts each, of which one waits so long. */
  const pass = (seconds: number, longestMs: number, isRefusing = false): void => {
    for (let second = 0; second < seconds; second += 1) {
      for (let start = 0; start < 100; start += 1) {
        usual.note(start < 2 ? longestMs : 1, isRefusing);
        clock.advance(10);
      }
    }
    usual.note(longestMs, isRefusing);
  };
  return { usual, pass };
}

describe('what starts usually wait', () => {
  it('is not known at first', () => {
    const { usual, pass } = kit();
    pass(7, 20);
    expect(usual.ms).toBeUndefined();
    pass(2, 20);
    expect(usual.ms).toBe(20);
  });

  it('is not what one moment was like, and follows what lasts', () => {
    const { usual, pass } = kit();
    pass(20, 20);
    pass(5, 900);
    expect(usual.ms).toBe(20);
    pass(30, 60);
    expect(usual.ms).toBe(60);
  });

  it('hardly follows waits of a node that refuses, and does so in the end', () => {
    const { usual, pass } = kit();
    pass(40, 20);
    pass(60, 900, true);
    expect(usual.ms).toBeGreaterThan(20);
    expect(usual.ms).toBeLessThan(25);
    pass(600, 900, true);
    expect(usual.ms).toBeGreaterThan(40);
  });

  it('learns nothing from a node that refuses from its first moment', () => {
    const { usual, pass } = kit();
    pass(20, 900, true);
    expect(usual.ms).toBeUndefined();
  });
});
