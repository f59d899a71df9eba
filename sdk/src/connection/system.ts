/** The machine's clock, timers and randomness, in one place so that tests can pass their own. */
import { randomUUID } from 'node:crypto';

/** A timer that can be cleared. */
export interface SystemTimer {
  cancel(): void;
}

/** What the SDK asks of the machine. */
export interface System {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs once after so many ms; does not keep the process alive. */
  after(ms: number, callback: () => void): SystemTimer;
  /** Keeps the process alive until cancelled. */
  keepAlive(): SystemTimer;
  /** Runs when what is happening now is done, so that everything of one turn goes out together. */
  nextTurn(callback: () => void): void;
  /** A number in [0, 1). */
  random(): number;
  uuid(): string;
}

/** The real machine. */
export const machine: System = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
  keepAlive() {
    const timer = setInterval(() => undefined, 60_000);
    return { cancel: () => clearInterval(timer) };
  },
  // After all promise callbacks that are ready now, and before the loop looks at its sockets again.
  nextTurn: (callback) => process.nextTick(callback),
  random: () => Math.random(),
  uuid: () => randomUUID(),
};
