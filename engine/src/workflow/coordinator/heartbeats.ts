/**
 * Signs of life of running attempts, and the progress they report: memory alone. Progress is written down with the
 * failure of its attempt, never a report by itself.
 *
 * An attempt
 *   (unknown) -> reported (progress without a watch) -> (forgotten)
 *   (unknown | reported) -> watched (its step asks for heartbeats) -> silent (said once) -> (forgotten)
 * Invariants:
 * 1. "silent" is said only when no beat came for the whole timeout, counted from when the watch began: after a takeover
 *    the time begins anew.
 * 2. What is kept is bounded by bytes, and so in count; the reports that were made longest ago go first, watches never.
 */
import { LRUCache } from 'lru-cache';
import type { Clock, Timer } from '../../kernel/index.js';
import type { Value } from '../machine/value.js';
import type { AttemptRef } from './ports.js';

const MAX_BYTES = 64 * 1024 * 1024;
/** What a report counts at least: so no more than 100,000 are kept, and room is taken only as they come. */
const MIN_REPORT_BYTES = 640;

interface Watch {
  lastBeatMs: number;
  timer: Timer;
}

function nameOf({ tenantId, runId, path, attempt }: AttemptRef): string {
  return `${tenantId}/${runId}/${path}/${attempt}`;
}

/** The heartbeats of one node. */
export class Heartbeats {
  readonly #watches = new Map<string, Watch>();
  /** By the time of the last report. */
  readonly #reports = new LRUCache<string, Value>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ data }) => Math.max(MIN_REPORT_BYTES, data.byteLength),
  });

  /** @param silent told once of each watched attempt that gave no sign of life for its timeout */
  constructor(
    readonly clock: Clock,
    readonly silent: (ref: AttemptRef) => void,
  ) {}

  /** Whether anything was reported. */
  get isEmpty(): boolean {
    return this.#reports.size === 0;
  }

  /** Watches an attempt from now on; does nothing when it is watched already. */
  watch(ref: AttemptRef, timeoutMs: number): void {
    const name = nameOf(ref);
    if (this.#watches.has(name)) return;
    const lastBeatMs = this.clock.monotonicMs();
    this.#watches.set(name, { lastBeatMs, timer: this.#timer(name, ref, timeoutMs, timeoutMs) });
  }

  /** A sign of life, perhaps with progress; null keeps what was reported before. */
  beat(ref: AttemptRef, progress: Value | null): void {
    const name = nameOf(ref);
    const watch = this.#watches.get(name);
    if (watch !== undefined) watch.lastBeatMs = this.clock.monotonicMs();
    if (progress === null) return;
    this.#reports.set(name, progress);
  }

  /** What an attempt reported last. */
  progressOf(ref: AttemptRef): Value | null {
    // Reading a report must not make it younger.
    return this.#reports.peek(nameOf(ref)) ?? null;
  }

  /** The attempt has ended. */
  forget(ref: AttemptRef): void {
    if (this.#watches.size === 0 && this.#reports.size === 0) return;
    const name = nameOf(ref);
    this.#watches.get(name)?.timer.cancel();
    this.#watches.delete(name);
    this.#reports.delete(name);
  }

  /** Forgets everything and clears all timers. */
  stop(): void {
    for (const { timer } of this.#watches.values()) timer.cancel();
    this.#watches.clear();
    this.#reports.clear();
  }

  #timer(name: string, ref: AttemptRef, timeoutMs: number, delayMs: number): Timer {
    return this.clock.setTimer(delayMs, () => {
      const watch = this.#watches.get(name);
      if (watch === undefined) return;
      const leftMs = watch.lastBeatMs + timeoutMs - this.clock.monotonicMs();
      if (leftMs > 0) {
        watch.timer = this.#timer(name, ref, timeoutMs, leftMs);
        return;
      }
      this.#watches.delete(name);
      this.silent(ref);
    });
  }
}
