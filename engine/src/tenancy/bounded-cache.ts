/**
 * A cache with an end for each entry and a bound for all.
 *
 * Invariants:
 * 1. It never holds more than `maxEntries`; the oldest entry goes first, whatever it is worth.
 * 2. It never answers an entry at or after its end.
 */
import { LRUCache } from 'lru-cache';

/** A cache of values by text. */
export interface BoundedCache<V> {
  get(key: string, nowMs: number): V | undefined;
  set(key: string, value: V, endMs: number): void;
  /** Forgets what the predicate names. */
  forget(matches: (value: V) => boolean): void;
}

/** An empty cache. */
export function boundedCache<V>(maxEntries: number): BoundedCache<V> {
  // Forgetting the oldest of a Map walks over the places of all that went before it; this forgets in constant time.
  const entries = new LRUCache<string, { readonly value: V; readonly endMs: number }>({ max: maxEntries });
  return {
    get(key, nowMs) {
      // Looking at an entry must not make it younger.
      const entry = entries.peek(key);
      if (entry === undefined) return undefined;
      if (nowMs < entry.endMs) return entry.value;
      entries.delete(key);
      return undefined;
    },
    set: (key, value, endMs) => void entries.set(key, { value, endMs }),
    forget(matches) {
      const named = [...entries.entries()].filter(([, { value }]) => matches(value));
      for (const [key] of named) entries.delete(key);
    },
  };
}
