/**
 * Wakes runs when stored times have passed: a heap of due times and one clock timer for its head.
 *
 * A key is armed (one due time) or not armed. arm() replaces the due time, disarm() and firing end it.
 * Invariants:
 * 1. A key fires only when clock.nowUs() - clock.errorUs() has reached its due time (no timer fires early).
 * 2. A heap item counts only while `armed` holds exactly its due time; others are leftovers and are skipped.
 * 3. The clock timer never sleeps longer than RECHECK_MS, so a clock that jumps ahead is noticed.
 */
import type { Clock, Timer } from '../../kernel/index.js';
import { DueHeap } from './due-heap.js';

const RECHECK_MS = 1_000;
/** Shortest sleep: the error bound of the clock moves, and a zero sleep would spin. */
const SHORTEST_MS = 1;

/** The timers of one node's runs. */
export interface WakeTimers {
  /** Fires this key at its due time, microseconds since 1970; replaces an earlier due time. */
  arm(key: string, dueUs: number): void;
  disarm(key: string): void;
  /** Number of armed keys. */
  count(): number;
  /** Disarms everything. */
  clear(): void;
}

/** @param fire receives all keys that are due, at least one, with how late they are at most, microseconds */
export function wakeTimers(clock: Clock, fire: (keys: readonly string[], lateUs: number) => void): WakeTimers {
  const heap = new DueHeap();
  const armed = new Map<string, number>();
  let order = 0;
  let timer: Timer | null = null;
  let timerDueUs = Number.POSITIVE_INFINITY;

  const surelyUs = (): number => clock.nowUs() - clock.errorUs();
  const dropLeftovers = (): void => {
    for (let top = heap.peek(); top !== undefined && armed.get(top.key) !== top.dueUs; top = heap.peek()) heap.pop();
  };
  const setTimer = (): void => {
    timer?.cancel();
    timer = null;
    dropLeftovers();
    const top = heap.peek();
    timerDueUs = top?.dueUs ?? Number.POSITIVE_INFINITY;
    if (top === undefined) return;
    const waitMs = Math.ceil((top.dueUs - surelyUs()) / 1000);
    timer = clock.setTimer(Math.min(RECHECK_MS, Math.max(SHORTEST_MS, waitMs)), onTimer);
  };
  const onTimer = (): void => {
    const nowUs = surelyUs();
    const keys: string[] = [];
    let lateUs = 0;
    for (let top = heap.peek(); top !== undefined && top.dueUs <= nowUs; top = heap.peek()) {
      heap.pop();
      if (armed.get(top.key) !== top.dueUs) continue;
      armed.delete(top.key);
      keys.push(top.key);
      lateUs = Math.max(lateUs, nowUs - top.dueUs);
    }
    setTimer();
    if (keys.length > 0) fire(keys, lateUs);
  };
  const shrink = (): void => {
    if (heap.size < 1_024 || heap.size < armed.size * 2) return;
    heap.rebuild([...armed].map(([key, dueUs]) => ({ key, dueUs, order: (order += 1) })));
  };

  return {
    arm(key, dueUs) {
      if (armed.get(key) === dueUs) return;
      armed.set(key, dueUs);
      heap.push({ key, dueUs, order: (order += 1) });
      shrink();
      if (dueUs < timerDueUs) setTimer();
    },
    disarm(key) {
      armed.delete(key);
    },
    count: () => armed.size,
    clear() {
      timer?.cancel();
      timer = null;
      timerDueUs = Number.POSITIVE_INFINITY;
      armed.clear();
      heap.rebuild([]);
    },
  };
}
