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
import { DueHeap, type Due } from './due-heap.js';

const RECHECK_MS = 1_000;
/** Shortest sleep: the error bound of the clock moves, and a zero sleep would spin. */
const SHORTEST_MS = 1;

/** Receives all keys that are due, at least one, with how late they are at most, microseconds. */
export type Fire = (keys: readonly string[], lateUs: number) => void;

/** The timers of one node's runs. */
export class WakeTimers {
  readonly #heap = new DueHeap();
  readonly #armed = new Map<string, number>();
  #order = 0;
  #timer: Timer | null = null;
  #timerDueUs = Number.POSITIVE_INFINITY;

  constructor(
    readonly clock: Clock,
    readonly fire: Fire,
  ) {}

  /** Number of armed keys. */
  get size(): number {
    return this.#armed.size;
  }

  /** Fires this key at its due time, microseconds since 1970; replaces an earlier due time. */
  arm(key: string, dueUs: number): void {
    if (this.#armed.get(key) === dueUs) return;
    this.#armed.set(key, dueUs);
    this.#heap.push({ key, dueUs, order: (this.#order += 1) });
    this.#shrink();
    if (dueUs < this.#timerDueUs) this.#setTimer();
  }

  disarm(key: string): void {
    this.#armed.delete(key);
  }

  /** Disarms everything. */
  clear(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#timerDueUs = Number.POSITIVE_INFINITY;
    this.#armed.clear();
    this.#heap.rebuild([]);
  }

  #surelyUs(): number {
    return this.clock.nowUs() - this.clock.errorUs();
  }

  #isLeftover(due: Due): boolean {
    return this.#armed.get(due.key) !== due.dueUs;
  }

  #setTimer(): void {
    this.#timer?.cancel();
    this.#timer = null;
    let top = this.#heap.peek();
    for (; top !== undefined && this.#isLeftover(top); top = this.#heap.peek()) this.#heap.pop();
    this.#timerDueUs = top?.dueUs ?? Number.POSITIVE_INFINITY;
    if (top === undefined) return;
    const waitMs = Math.ceil((top.dueUs - this.#surelyUs()) / 1000);
    const boundedMs = Math.min(RECHECK_MS, Math.max(SHORTEST_MS, waitMs));
    this.#timer = this.clock.setTimer(boundedMs, () => this.#onTimer());
  }

  #onTimer(): void {
    const nowUs = this.#surelyUs();
    const keys: string[] = [];
    let lateUs = 0;
    for (let top = this.#heap.peek(); top !== undefined && top.dueUs <= nowUs; top = this.#heap.peek()) {
      this.#heap.pop();
      if (this.#isLeftover(top)) continue;
      this.#armed.delete(top.key);
      keys.push(top.key);
      lateUs = Math.max(lateUs, nowUs - top.dueUs);
    }
    this.#setTimer();
    if (keys.length > 0) this.fire(keys, lateUs);
  }

  #shrink(): void {
    if (this.#heap.size < 1_024 || this.#heap.size < this.#armed.size * 2) return;
    this.#heap.rebuild([...this.#armed].map(([key, dueUs]) => ({ key, dueUs, order: (this.#order += 1) })));
  }
}
