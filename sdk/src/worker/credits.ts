/**
 * Who may send how many tasks. Pure bookkeeping; the worker asks, then sends what it is told.
 *
 * Invariants
 *   C1 slots of what runs + credits of all streams <= slots, always.
 *   C2 a credit is given to a stream once and used by one task (which may use several), or taken back by
 *      `revoked`, or lost with its stream.
 *   C3 with at least as many slots as streams, no stream stays without a credit while another holds two or more unused.
 */

/** Asks of credits: give `grant` to a stream, or ask a stream to give `revoke` back. */
export interface CreditMove<S> {
  readonly stream: S;
  readonly grant: number;
  readonly revoke: number;
}

/** Ledger of slots and credits; S identifies a stream. */
export class CreditLedger<S> {
  readonly #slots: number;
  readonly #credits = new Map<S, number>();
  readonly #revoking = new Set<S>();
  #running = 0;

  /** @param slots tasks the worker runs at once */
  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Slots of the tasks that run now. */
  get running(): number {
    return this.#running;
  }

  /** A stream is ready to carry tasks. */
  open(stream: S): void {
    if (!this.#credits.has(stream)) this.#credits.set(stream, 0);
  }

  /** A stream ended; its unused credits are free again. */
  close(stream: S): void {
    this.#credits.delete(stream);
    this.#revoking.delete(stream);
  }

  /** A task of so many slots came in on a stream. */
  begin(stream: S, slots = 1): void {
    const credits = this.#credits.get(stream);
    if (credits !== undefined) this.#credits.set(stream, Math.max(0, credits - slots));
    this.#running += slots;
  }

  /** A task's result was sent: its slots are free. */
  end(slots = 1): void {
    this.#running -= slots;
  }

  /** A stream gave so many unused credits back. */
  revoked(stream: S, count: number): void {
    this.#revoking.delete(stream);
    const credits = this.#credits.get(stream);
    if (credits !== undefined) this.#credits.set(stream, Math.max(0, credits - count));
  }

  /** Hands out free slots evenly, and asks a rich stream to give back for a stream that has none. */
  settle(): readonly CreditMove<S>[] {
    const grants = new Map<S, number>();
    for (let free = this.#free(); free > 0; free -= 1) {
      const poorest = this.#extreme((a, b) => a < b);
      if (poorest === undefined) break;
      this.#credits.set(poorest.stream, poorest.credits + 1);
      grants.set(poorest.stream, (grants.get(poorest.stream) ?? 0) + 1);
    }
    const moves: CreditMove<S>[] = [...grants].map(([stream, grant]) => ({ stream, grant, revoke: 0 }));
    const poorest = this.#extreme((a, b) => a < b);
    const richest = this.#extreme((a, b) => a > b);
    if (
      poorest !== undefined &&
      richest !== undefined &&
      poorest.credits === 0 &&
      richest.credits >= 2 &&
      !this.#revoking.has(richest.stream)
    ) {
      this.#revoking.add(richest.stream);
      moves.push({ stream: richest.stream, grant: 0, revoke: Math.floor(richest.credits / 2) });
    }
    return moves;
  }

  #free(): number {
    let held = this.#running;
    for (const credits of this.#credits.values()) held += credits;
    return this.#slots - held;
  }

  #extreme(better: (a: number, b: number) => boolean): { stream: S; credits: number } | undefined {
    let best: { stream: S; credits: number } | undefined;
    for (const [stream, credits] of this.#credits) {
      if (best === undefined || better(credits, best.credits)) best = { stream, credits };
    }
    return best;
  }
}
