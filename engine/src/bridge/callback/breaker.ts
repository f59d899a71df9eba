/**
 * Whether an endpoint is worth calling. Pure: the time is an argument.
 *
 *   closed --TRIP failures in a row--> open --its time has passed--> half open --success--> closed
 *                                                                             --failure--> open, twice as long
 * A success closes it from everywhere: whatever was called longest ago, the endpoint answers now.
 */

/** States. */
export type Circuit = 'closed' | 'open' | 'half_open';

/** Failures in a row that open it. */
const TRIP_FAILURES = 5;
/** How long it stays open the first time. */
const FIRST_OPEN_MS = 1_000;
/** The longest it stays open. */
const LONGEST_OPEN_MS = 60_000;

/** A circuit breaker. */
export class Breaker {
  #failures = 0;
  #openedTimes = 0;
  /** When it lets one call try; null: it is closed. */
  #retryAtMs: number | null = null;

  /** Failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** When an open one becomes half open, monotonic ms; null: it is closed. */
  get retryAtMs(): number | null {
    return this.#retryAtMs;
  }

  /** Its state at this time. */
  circuit(nowMs: number): Circuit {
    if (this.#retryAtMs === null) return 'closed';
    return nowMs < this.#retryAtMs ? 'open' : 'half_open';
  }

  /** A call was answered as it should. */
  succeeded(): void {
    this.#failures = 0;
    this.#openedTimes = 0;
    this.#retryAtMs = null;
  }

  /**
   * A call failed.
   *
   * @param isProbe whether it was the one that a half open circuit let through
   */
  failed(nowMs: number, isProbe: boolean): void {
    this.#failures += 1;
    // What was called before it opened says nothing new.
    if (this.#retryAtMs !== null && !isProbe) return;
    if (this.#failures < TRIP_FAILURES) return;
    this.#retryAtMs = nowMs + Math.min(LONGEST_OPEN_MS, FIRST_OPEN_MS * 2 ** Math.min(this.#openedTimes, 16));
    this.#openedTimes += 1;
  }
}
