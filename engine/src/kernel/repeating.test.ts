import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { manualClock } from './testing/manual-clock.js';
import { repeating } from './repeating.js';

/** Work that ends when the test says so, over a clock that counts the timers that are left. */
function world() {
  const clock = manualClock();
  const left = new Set<symbol>();
  const counted: typeof clock.setTimer = (delayMs, callback) => {
    const name = Symbol('timer');
    left.add(name);
    const timer = clock.setTimer(delayMs, () => {
      left.delete(name);
      callback();
    });
    return {
      cancel() {
        left.delete(name);
        timer.cancel();
      },
    };
  };
  const ends: ((error?: Error) => void)[] = [];
  const errors: unknown[] = [];
  const loop = repeating(
    { ...clock, setTimer: counted },
    1_000,
    () =>
      new Promise<void>((resolve, reject) => {
        ends.push((error) => (error === undefined ? resolve() : reject(error)));
      }),
    (error) => errors.push(error),
  );
  return { clock, loop, ends, errors, timers: () => left.size };
}

describe('work that is repeated', () => {
  it('begins a pause after its start, and a pause after each end, whatever it threw', async () => {
    const { clock, loop, ends, errors } = world();
    loop.start();
    clock.advance(999);
    expect(ends).toHaveLength(0);
    clock.advance(1);
    clock.advance(10_000);
    expect(ends).toHaveLength(1);
    ends[0]?.(new RangeError('mine'));
    await turn();
    clock.advance(1_000);
    expect([ends.length, errors]).toEqual([2, [new RangeError('mine')]]);
  });

  it('leaves no timer when it is stopped at rest', async () => {
    const { clock, loop, ends, timers } = world();
    loop.start();
    await loop.stop();
    clock.advance(10_000);
    expect([ends.length, timers(), loop.isStopped]).toEqual([0, 0, true]);
  });

  it('leaves none when it is stopped at work, which it waits for', async () => {
    const { clock, loop, ends, timers } = world();
    loop.start();
    clock.advance(1_000);
    let isOver = false;
    const stopped = loop.stop().then(() => (isOver = true));
    await turn();
    expect(isOver).toBe(false);
    ends[0]?.();
    await stopped;
    clock.advance(10_000);
    expect([ends.length, timers()]).toEqual([1, 0]);
  });

  it('begins at once when it is woken, once more behind what is under way, and never once it is stopped', async () => {
    const { clock, loop, ends, timers } = world();
    loop.wake();
    expect([ends.length, timers()]).toEqual([0, 0]);
    loop.start();
    clock.advance(10);
    loop.wake();
    expect([ends.length, timers()]).toEqual([1, 0]);
    loop.wake();
    loop.wake();
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await turn();
    expect(ends).toHaveLength(2);
    ends[1]?.();
    await turn();
    expect([ends.length, timers()]).toEqual([2, 1]);
    clock.advance(1_000);
    loop.wake();
    const stopped = loop.stop();
    ends[2]?.();
    await stopped;
    await turn();
    loop.wake();
    expect([ends.length, timers()]).toEqual([3, 0]);
  });
});
