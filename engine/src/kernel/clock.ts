/** Time as an argument. Nothing in the engine but the adapter in system-clock.ts reads a clock of the machine. */

/** A timer that was set and can be cleared. */
export interface Timer {
  /** Clears it; does nothing once it fired. */
  cancel(): void;
}

/**
 * What a room may ask about time. Two notions, never mixed: estimated database time for everything that is stored or
 * compared with stored times, monotonic time for leases and waits of this process.
 */
export interface Clock {
  /** Estimated database time, microseconds since 1970. */
  nowUs(): number;
  /** How far nowUs may be ahead of the database, in us. A stored time has passed when nowUs() - errorUs() has. */
  errorUs(): number;
  /** Milliseconds of this process that never go back; comparable only with themselves. */
  monotonicMs(): number;
  /** Runs the callback once, after at least so many ms. */
  setTimer(delayMs: number, callback: () => void): Timer;
  /** Runs the callback as soon as the current work is done; before any timer. */
  defer(callback: () => void): void;
}
