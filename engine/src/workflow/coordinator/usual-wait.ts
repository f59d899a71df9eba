/**
 * How long starts wait for their commit when nobody is refused: learned, so that a node which is asked for too much can
 * keep to what its callers are used to, on whatever machine and database it stands.
 *
 * A window is a second, and says the wait within which 99 % of its starts stayed; the middle of the last WINDOWS is
 * what is usual. While starts are refused, windows say hardly more than that (CREEP), so that an overload of a minute
 * does not become what is usual; one of hours does, up to what the operator allows.
 *
 * Invariant: unknown until WINDOWS_LEAST windows had starts; then a wait above 0.
 */
import type { Clock } from '../../kernel/index.js';

const WINDOW_MS = 1_000;
const WINDOWS = 31;
const WINDOWS_LEAST = 8;
/** Waits of a window that are looked at; more say the same. */
const SAMPLES = 1_000;
/** With the middle of so many windows behind it, what is usual doubles in four minutes. */
const CREEP = 1.05;
const LEAST_MS = 1;

/** What is usual at one node. */
export class UsualWait {
  #samples: number[] = [];
  #windows: number[] = [];
  #sinceMs: number;
  #usualMs: number | undefined;

  constructor(readonly clock: Pick<Clock, 'monotonicMs'>) {
    this.#sinceMs = clock.monotonicMs();
  }

  /** What is usual, ms; undefined: not known yet. */
  get ms(): number | undefined {
    return this.#usualMs;
  }

  /**
   * A start was committed.
   *
   * @param waitMs how long it waited
   * @param isRefusing whether others are refused these days
   */
  note(waitMs: number, isRefusing: boolean): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.#sinceMs >= WINDOW_MS) this.#close(nowMs, isRefusing);
    if (this.#samples.length < SAMPLES) this.#samples.push(waitMs);
  }

  #close(nowMs: number, isRefusing: boolean): void {
    const samples = this.#samples.sort((a, b) => a - b);
    this.#samples = [];
    this.#sinceMs = nowMs;
    const wait = samples[Math.ceil(samples.length * 0.99) - 1];
    if (wait === undefined || (isRefusing && this.#usualMs === undefined)) return;
    const most = isRefusing && this.#usualMs !== undefined ? this.#usualMs * CREEP : Number.POSITIVE_INFINITY;
    this.#windows.push(Math.max(LEAST_MS, Math.min(wait, most)));
    if (this.#windows.length > WINDOWS) this.#windows.shift();
    if (this.#windows.length < WINDOWS_LEAST) return;
    this.#usualMs = this.#windows.toSorted((a, b) => a - b)[this.#windows.length >> 1];
  }
}
