/** A clock that only moves when it is told to, with everything else a worker asks of the machine. */
import type { System, SystemTimer } from '../connection/system.js';

interface Due {
  readonly atMs: number;
  readonly callback: () => void;
}

/** A System whose time is the test's. */
export class VirtualSystem implements System {
  #nowMs: number;
  readonly #timers = new Set<Due>();

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  after(ms: number, callback: () => void): SystemTimer {
    const timer = { atMs: this.#nowMs + ms, callback };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  keepAlive(): SystemTimer {
    return { cancel: () => undefined };
  }

  nextTurn(callback: () => void): void {
    process.nextTick(callback);
  }

  random(): number {
    return 0.5;
  }

  uuid(): string {
    return '00000000-0000-4000-8000-000000000000';
  }

  /** Moves the time on, never back; timers that come due are called in their order. */
  moveTo(ms: number): void {
    for (;;) {
      const [next] = [...this.#timers].filter(({ atMs }) => atMs <= ms).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.callback();
    }
    this.#nowMs = Math.max(this.#nowMs, ms);
  }
}
