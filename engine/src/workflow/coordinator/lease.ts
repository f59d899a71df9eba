/**
 * The lease of an incarnation by this process's own clock. A lease counts from the moment its heartbeat was sent, so it
 * ends here no later than in the database; past it nothing is sent or committed until a heartbeat renews it.
 *
 *   held <-> lapsed
 */
import type { Clock } from '../../kernel/index.js';

/** The lease. */
export class Lease {
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(
    readonly clock: Clock,
    readonly leaseMs: number,
  ) {}

  isHeld(): boolean {
    return this.clock.monotonicMs() < this.#untilMs;
  }

  /** @param sentMs monotonicMs() just before the heartbeat was sent */
  renewed(sentMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, sentMs + this.leaseMs);
  }

  end(): void {
    this.#untilMs = Number.NEGATIVE_INFINITY;
  }
}
