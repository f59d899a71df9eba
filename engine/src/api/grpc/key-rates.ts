/**
 * How often a key may call a node: a bucket of tokens for each key, filled steadily, emptied by calls. A batch, and the
 * opening of a stream, is one call; what moves on a stream is bounded by the stream.
 *
 * Invariant: a bucket holds 0 to `burst` tokens; a call that finds none changes nothing and is told when there is one.
 */
import { LRUCache } from 'lru-cache';
import { DuctorError, type Clock } from '../../kernel/index.js';

interface Bucket {
  tokens: number;
  /** When the tokens were counted, monotonic ms. */
  atMs: number;
}

/** Keys whose buckets are kept; those who called longest ago are forgotten first, and begin with a full one. */
const MAX_KEYS = 10_000;
/** Calls that may come at once, in seconds of the rate. */
const BURST_SECONDS = 2;
/** A token that was filled in parts: the sum of floating-point numbers may miss 1 by a hair. */
const WHOLE = 1 - 1e-9;

/** The buckets of a node. */
export class KeyRates {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #perMs: number;
  readonly #burst: number;
  /** By key id, in order of their last call. */
  readonly #buckets = new LRUCache<string, Bucket>({ max: MAX_KEYS });

  /** @param perSecond calls a second that a key may make on average; twice as many may come at once */
  constructor(clock: Pick<Clock, 'monotonicMs'>, perSecond: number) {
    this.#clock = clock;
    this.#perMs = perSecond / 1000;
    this.#burst = perSecond * BURST_SECONDS;
  }

  /** Counts a call. Throws limit_exceeded with the time until the next one may come. */
  take(keyId: string): void {
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#buckets.get(keyId) ?? { tokens: this.#burst, atMs: nowMs };
    bucket.tokens = Math.min(this.#burst, bucket.tokens + (nowMs - bucket.atMs) * this.#perMs);
    bucket.atMs = nowMs;
    this.#buckets.set(keyId, bucket);
    if (bucket.tokens >= WHOLE) {
      bucket.tokens = Math.max(0, bucket.tokens - 1);
      return;
    }
    const retryAfterMs = Math.ceil((1 - bucket.tokens) / this.#perMs);
    throw new DuctorError('limit_exceeded', `the key makes more than ${this.#perMs * 1000} calls a second`, {
      retryAfterMs,
      remedy: 'Retry after the hinted time; send many things in one call.',
    });
  }
}
