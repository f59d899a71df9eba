/**
 * The machine's clock as a Clock. The only file of the engine that reads the machine's time or sets its timers.
 *
 * Database time is estimated as monotonic time plus an offset. The offset comes from the wall clock until the first
 * observation, then from the best observation.
 *
 * Invariants:
 * 1. An observation brackets the database's clock: at its receipt that shows a time in [dbUs, dbUs + round trip].
 * 2. The error bound of an observation grows with its age by DRIFT_PPM; a fresh one with a smaller bound replaces it.
 * 3. An observation that contradicts the estimate (stepped clock, suspended machine, fail-over) replaces it at once.
 */
import type { Clock, Timer } from './clock.js';
import { DuctorError } from './errors/ductor-error.js';

/** A Clock that learns the database's time. */
export interface SystemClock extends Clock {
  /**
   * Tells what the database's clock showed.
   *
   * @param dbUs what the database answered, microseconds since 1970
   * @param sentMonoMs monotonicMs() just before the question was sent
   * @param receivedMonoMs monotonicMs() just after the answer came
   */
  observe(dbUs: number, sentMonoMs: number, receivedMonoMs: number): void;
}

/** Optional parts of systemClock. */
export interface SystemClockOptions {
  /** Added to the wall clock until the first observation, microseconds. Default 0. */
  readonly offsetUs?: number;
}

/** What a clock is made of: the machine's own, or one that a simulation holds in its hand. */
export interface ClockParts extends Pick<Clock, 'monotonicMs' | 'setTimer' | 'defer'> {
  /** What the machine says the time is, ms since 1970; read once. */
  readonly wallMs: () => number;
}

/** How far two clocks may drift apart, parts per million; ordinary crystals stay under 100. */
const DRIFT_PPM = 200;
/** Error bound before anything was observed: the machine and the database may disagree by that much. */
const UNOBSERVED_ERROR_US = 1_000_000;
/** Longest delay setTimeout takes; longer ones are cut in pieces. */
const MAX_DELAY_MS = 0x7fff_ffff;

interface Sample {
  readonly offsetUs: number;
  readonly errorUs: number;
  readonly atMonoMs: number;
}

/** The error bound of a sample after it aged. */
function agedErrorUs(sample: Sample, monoMs: number): number {
  return sample.errorUs + ((monoMs - sample.atMonoMs) * DRIFT_PPM) / 1000;
}

/** Whether the estimate should move to the fresh sample (invariants 2 and 3). */
function replaces(fresh: Sample, current: Sample): boolean {
  const aged = agedErrorUs(current, fresh.atMonoMs);
  return fresh.errorUs <= aged || Math.abs(fresh.offsetUs - current.offsetUs) > fresh.errorUs + aged;
}

/** setTimeout for any delay; node fires delays over 2^31 - 1 ms at once. */
function setLongTimer(delayMs: number, callback: () => void): Timer {
  let left = Math.max(0, delayMs);
  let handle: NodeJS.Timeout | undefined;
  const arm = (): void => {
    // Rounded up: node truncates fractions, and a timer may be late but never early.
    const slice = Math.min(Math.ceil(left), MAX_DELAY_MS);
    left -= slice;
    handle = setTimeout(left > 0 ? arm : callback, slice);
  };
  arm();
  return { cancel: () => clearTimeout(handle) };
}

/** A clock that learns the database's time, over these parts. */
export function learningClock(parts: ClockParts, options: SystemClockOptions = {}): SystemClock {
  const { monotonicMs, setTimer, defer } = parts;
  const startMs = monotonicMs();
  let best: Sample = {
    offsetUs: parts.wallMs() * 1000 - startMs * 1000 + (options.offsetUs ?? 0),
    errorUs: UNOBSERVED_ERROR_US,
    atMonoMs: startMs,
  };
  return {
    nowUs: () => Math.floor(monotonicMs() * 1000 + best.offsetUs),
    errorUs: () => Math.ceil(agedErrorUs(best, monotonicMs())),
    monotonicMs,
    setTimer,
    defer,
    observe(dbUs, sentMonoMs, receivedMonoMs) {
      const roundTripUs = (receivedMonoMs - sentMonoMs) * 1000;
      if (!Number.isFinite(dbUs) || !(roundTripUs >= 0)) {
        throw new DuctorError('internal', `clock observation ${dbUs} with round trip ${roundTripUs} us makes no sense`);
      }
      const half = roundTripUs / 2;
      const fresh = { offsetUs: dbUs + half - receivedMonoMs * 1000, errorUs: half, atMonoMs: receivedMonoMs };
      if (replaces(fresh, best)) best = fresh;
    },
  };
}

/**
 * The machine's clock.
 *
 * @param options offset to begin with; default none
 */
export function systemClock(options: SystemClockOptions = {}): SystemClock {
  const defer = (callback: () => void): void => void setImmediate(callback);
  const monotonicMs = (): number => performance.now();
  return learningClock({ monotonicMs, wallMs: () => Date.now(), setTimer: setLongTimer, defer }, options);
}

/**
 * Calls back every so many ms of the machine, without keeping a process alive that has nothing else to do. For
 * watchdogs in shells only; what a simulation must control takes a Clock.
 */
export function backgroundTimer(periodMs: number, callback: () => void): Timer {
  const handle = setInterval(callback, periodMs);
  handle.unref();
  return { cancel: () => clearInterval(handle) };
}

/** Resolves after at least so many ms of the clock. */
export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(delayMs, resolve);
  });
}
