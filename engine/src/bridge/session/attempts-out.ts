/**
 * Which attempts are with which worker, as far as this node knows: so that none is sent twice and a stop reaches the
 * right stream.
 *
 *   (none) -> out (written to a session, or named in an inventory) -> (none): its result was acknowledged
 *   out -> detached (the session ended) -> out: the worker came back with it
 *                                       -> (none): it came back without, was sent again, or stayed away
 *
 * Invariants:
 * 1. An attempt stands here at most once, with one worker.
 * 2. `session` is null or open.
 */
import { attemptKey } from '../attempt-key.js';
import type { AbortOrder, AttemptRef } from '../ports.js';

/** An attempt with a worker. S is a session, W a worker. */
export interface OutAttempt<S, W> {
  readonly ref: AttemptRef;
  readonly worker: W;
  /** Where it was sent; null: detached. */
  session: S | null;
  /** Set once it was told to stop. */
  abort: AbortOrder['reason'] | null;
  /** It was to be sent while it was out: whoever asked has to ask again when it turns out not to be. */
  isWanted: boolean;
  /** What was last sent with it; null when another node or an earlier stream gave it out. */
  token: Buffer | null;
}

/** The attempts of all workers of this node. */
export class AttemptsOut<S, W> {
  readonly #byKey = new Map<string, OutAttempt<S, W>>();
  readonly #byWorker = new Map<W, Set<OutAttempt<S, W>>>();

  get size(): number {
    return this.#byKey.size;
  }

  get(ref: AttemptRef): OutAttempt<S, W> | undefined {
    return this.#byKey.get(attemptKey(ref));
  }

  /** Attempts of a worker. */
  of(worker: W): readonly OutAttempt<S, W>[] {
    return [...(this.#byWorker.get(worker) ?? [])];
  }

  /** The attempt is with the worker now, whoever had it before. */
  set(ref: AttemptRef, worker: W, session: S, token: Buffer | null): void {
    const known = this.get(ref);
    if (known !== undefined && known.worker === worker) {
      known.session = session;
      known.token = token;
      return;
    }
    if (known !== undefined) this.delete(ref);
    const out: OutAttempt<S, W> = { ref, worker, session, abort: known?.abort ?? null, isWanted: false, token };
    this.#byKey.set(attemptKey(ref), out);
    const mine = this.#byWorker.get(worker);
    if (mine === undefined) this.#byWorker.set(worker, new Set([out]));
    else mine.add(out);
  }

  delete(ref: AttemptRef): void {
    const key = attemptKey(ref);
    const out = this.#byKey.get(key);
    if (out === undefined) return;
    this.#byKey.delete(key);
    const mine = this.#byWorker.get(out.worker);
    mine?.delete(out);
    if (mine?.size === 0) this.#byWorker.delete(out.worker);
  }

  /** Everything of a session that ended is detached; returns it. */
  detach(worker: W, session: S): readonly OutAttempt<S, W>[] {
    const detached = this.of(worker).filter((out) => out.session === session);
    for (const out of detached) out.session = null;
    return detached;
  }

  /** Forgets a worker. */
  forget(worker: W): void {
    for (const { ref } of this.of(worker)) this.delete(ref);
  }
}
