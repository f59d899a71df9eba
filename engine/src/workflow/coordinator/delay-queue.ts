/**
 * Things to do after one fixed delay, in the order they came, with a single timer for all of them.
 *
 * Invariants:
 * 1. Items are handed out in the order they were pushed, each once, none before its delay has passed, and none later
 *    than a twentieth of the delay after it: at 60,000 items a second a timer for each would cost more than the items.
 * 2. A timer is set exactly while there are items.
 * 3. items[0 .. head) are handed out already; they are cut off when they are the larger half.
 */
import type { Clock, Timer } from '../../kernel/index.js';

/** A queue with one fixed delay. */
export interface DelayQueue<T> {
  push(item: T): void;
  /** Forgets everything and clears the timer. */
  clear(): void;
}

/** Share of the delay by which items may be late so that they come together. */
const SLACK = 0.05;

/**
 * @param delayMs delay of every item
 * @param due receives all items whose delay has passed, at least one
 */
export function delayQueue<T>(clock: Clock, delayMs: number, due: (items: readonly T[]) => void): DelayQueue<T> {
  let items: { readonly item: T; readonly dueMs: number }[] = [];
  let head = 0;
  let timer: Timer | null = null;
  const arm = (): void => {
    const first = items[head];
    const waitMs = first === undefined ? 0 : first.dueMs - clock.monotonicMs();
    timer = first === undefined ? null : clock.setTimer(Math.max(waitMs, 0) + delayMs * SLACK, fire);
  };
  const fire = (): void => {
    const nowMs = clock.monotonicMs();
    const ready: T[] = [];
    for (let next = items[head]; next !== undefined && next.dueMs <= nowMs; next = items[head]) {
      ready.push(next.item);
      head += 1;
    }
    if (head * 2 > items.length) {
      items = items.slice(head);
      head = 0;
    }
    arm();
    if (ready.length > 0) due(ready);
  };
  return {
    push(item) {
      items.push({ item, dueMs: clock.monotonicMs() + delayMs });
      if (timer === null) arm();
    },
    clear() {
      timer?.cancel();
      timer = null;
      items = [];
      head = 0;
    },
  };
}
