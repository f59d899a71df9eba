/**
 * Looks keys up in the database, many with one query: while one query is under way the next ones gather.
 *
 * Invariants:
 * 1. At most one query is under way, with at most BATCH keys.
 * 2. At most MAX_WAITING keys wait; more are refused, so that a flood of guesses cannot pile up.
 * 3. A key that waits already is not looked up twice.
 */
import { DuctorError, equalBytes, hmacSha256, type Clock, type PurposeKeys } from '../kernel/index.js';
import type { Queryable } from '../store/index.js';
import { findKeys, type KeyRow } from './sql/find-keys.js';

/** A key that was presented, by its hashes. */
export interface HashedKey {
  /** Hex of the hash under the current secret: names the key in memory. */
  readonly id: string;
  /** Under the current secret first, then under the previous. */
  readonly hashes: readonly [Buffer, ...Buffer[]];
}

/** What a look found. */
export interface FoundKey {
  readonly row: KeyRow;
  /** The stored hash was made under the previous secret. */
  readonly isOldHash: boolean;
}

/** Finds one key; undefined when there is none. Throws limit_exceeded, database_unavailable. */
export type KeyLookup = (key: HashedKey) => Promise<FoundKey | undefined>;

const BATCH = 200;
const MAX_WAITING = 2_000;

/** The hashes a key may be stored under. */
export function hashKey(keys: PurposeKeys, apiKey: string): HashedKey {
  const [current, ...previous] = keys;
  const first = hmacSha256(current, apiKey);
  return { id: first.toString('hex'), hashes: [first, ...previous.map((key) => hmacSha256(key, apiKey))] };
}

interface Waiter {
  readonly key: HashedKey;
  readonly promise: Promise<FoundKey | undefined>;
  readonly resolve: (found: FoundKey | undefined) => void;
  readonly reject: (error: unknown) => void;
}

function newWaiter(key: HashedKey): Waiter {
  let resolve: Waiter['resolve'] = () => undefined;
  let reject: Waiter['reject'] = () => undefined;
  const promise = new Promise<FoundKey | undefined>((onFound, onError) => {
    resolve = onFound;
    reject = onError;
  });
  return { key, promise, resolve, reject };
}

/** The row that holds one of the key's hashes, compared in constant time. */
function match({ hashes: [current, ...previous] }: HashedKey, rows: readonly KeyRow[]): FoundKey | undefined {
  for (const row of rows) {
    if (equalBytes(row.key_hash, current)) return { row, isOldHash: false };
    if (previous.some((hash) => equalBytes(row.key_hash, hash))) return { row, isOldHash: true };
  }
  return undefined;
}

/** A lookup in this database. */
export function keyLookup(db: Queryable, clock: Clock): KeyLookup {
  const waiting = new Map<string, Waiter>();
  let isBusy = false;

  const runBatch = async (batch: readonly Waiter[]): Promise<void> => {
    try {
      const rows = await findKeys(
        db,
        batch.flatMap(({ key }) => key.hashes),
      );
      for (const waiter of batch) waiter.resolve(match(waiter.key, rows));
    } catch (error) {
      for (const waiter of batch) waiter.reject(error);
    }
  };
  const pump = async (): Promise<void> => {
    while (waiting.size > 0) {
      const batch = [...waiting.values()].slice(0, BATCH);
      for (const { key } of batch) waiting.delete(key.id);
      await runBatch(batch);
    }
    isBusy = false;
  };
  return (key) => {
    const known = waiting.get(key.id);
    if (known !== undefined) return known.promise;
    if (waiting.size >= MAX_WAITING) {
      const message = `${MAX_WAITING} keys wait to be looked up`;
      return Promise.reject(new DuctorError('limit_exceeded', message, { retryAfterMs: 1_000 }));
    }
    const waiter = newWaiter(key);
    waiting.set(key.id, waiter);
    if (!isBusy) {
      isBusy = true;
      clock.defer(() => void pump());
    }
    return waiter.promise;
  };
}
