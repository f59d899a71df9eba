/**
 * A cache with an end for each entry and a bound for all.
 *
 * Invariants:
 * 1. It never holds more than `maxEntries`; the oldest entry goes first, whatever it is worth.
 * 2. It never answers an entry at or after its end.
 */

/** A cache of values by text. */
export interface BoundedCache<V> {
  get(key: string, nowMs: number): V | undefined;
  set(key: string, value: V, endMs: number): void;
  /** Forgets what the predicate names. */
  forget(matches: (value: V) => boolean): void;
}

/** An empty cache. */
export function boundedCache<V>(maxEntries: number): BoundedCache<V> {
  const entries = new Map<string, { readonly value: V; readonly endMs: number }>();
  return {
    get(key, nowMs) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (nowMs < entry.endMs) return entry.value;
      entries.delete(key);
      return undefined;
    },
    set(key, value, endMs) {
      // Deleted first, so that the order of the map is the order of the last write.
      entries.delete(key);
      entries.set(key, { value, endMs });
      if (entries.size <= maxEntries) return;
      for (const oldest of entries.keys()) {
        entries.delete(oldest);
        return;
      }
    },
    forget(matches) {
      for (const [key, { value }] of entries) if (matches(value)) entries.delete(key);
    },
  };
}
