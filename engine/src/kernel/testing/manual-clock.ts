/** A clock that moves when the test says so. Deferred work runs at `settle`, timers at `advance`. */
import type { Clock, Timer } from '../clock.js';

/** A Clock with a hand on it. */
export interface ManualClock extends Clock {
  /** Moves the time on and fires what is due, in order of time. */
  advance(ms: number): void;
  /** Runs deferred work until there is none. */
  settle(): void;
}

/** A clock that begins at the given time, microseconds since 1970. Default: 2026-01-01. */
export function manualClock(startUs = 1_767_225_600_000_000): ManualClock {
  let nowMs = 0;
  let nextId = 0;
  const timers = new Map<number, { readonly atMs: number; readonly callback: () => void }>();
  let deferred: (() => void)[] = [];
  const setTimer = (delayMs: number, callback: () => void): Timer => {
    const id = (nextId += 1);
    timers.set(id, { atMs: nowMs + Math.max(0, delayMs), callback });
    return { cancel: () => void timers.delete(id) };
  };
  const settle = (): void => {
    while (deferred.length > 0) {
      const batch = deferred;
      deferred = [];
      for (const callback of batch) callback();
    }
  };
  const next = (untilMs: number): [number, { readonly atMs: number; readonly callback: () => void }] | undefined =>
    [...timers].filter(([, timer]) => timer.atMs <= untilMs).sort(([a, x], [b, y]) => x.atMs - y.atMs || a - b)[0];
  return {
    nowUs: () => startUs + Math.floor(nowMs * 1000),
    errorUs: () => 0,
    monotonicMs: () => nowMs,
    setTimer,
    defer: (callback) => void deferred.push(callback),
    settle,
    advance(ms) {
      const untilMs = nowMs + ms;
      settle();
      for (let due = next(untilMs); due !== undefined; due = next(untilMs)) {
        timers.delete(due[0]);
        nowMs = Math.max(nowMs, due[1].atMs);
        due[1].callback();
        settle();
      }
      nowMs = untilMs;
    },
  };
}
