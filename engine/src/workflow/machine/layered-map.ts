/**
 * A persistent map: an edit never changes the map it began from, and costs as much as the entries it touches, not as
 * much as the map holds.
 *
 * Two layers: `base`, shared by many maps, and `overlay`, what changed since, copied by every edit that changes
 * something. An overlay that grew beyond OVERLAY_MAX is merged into a new base.
 * 1. Iteration goes by first entry of each key, whenever merges happened. A key that was removed does not come back.
 */
const OVERLAY_MAX = 32;

/** The map; made by emptyMap and LayeredEdit only. */
export class LayeredMap<V extends object> implements ReadonlyMap<string, V> {
  /** @param overlay null stands for an entry of the base that is gone */
  constructor(
    readonly base: ReadonlyMap<string, V>,
    readonly overlay: ReadonlyMap<string, V | null>,
    readonly size: number,
  ) {}

  get(key: string): V | undefined {
    const changed = this.overlay.get(key);
    return changed === undefined ? this.base.get(key) : (changed ?? undefined);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  *entries(): Generator<[string, V], undefined> {
    for (const [key, value] of this.base) {
      const changed = this.overlay.get(key);
      if (changed === undefined) yield [key, value];
      else if (changed !== null) yield [key, changed];
    }
    for (const [key, value] of this.overlay) if (value !== null && !this.base.has(key)) yield [key, value];
  }

  *keys(): Generator<string, undefined> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): Generator<V, undefined> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): Generator<[string, V], undefined> {
    return this.entries();
  }

  forEach(callback: (value: V, key: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [key, value] of this.entries()) callback(value, key, this);
  }
}

/** A map of nothing. */
export function emptyMap<V extends object>(): LayeredMap<V> {
  return new LayeredMap<V>(new Map(), new Map(), 0);
}

/** A change in the making: reads see what was set. */
export class LayeredEdit<V extends object> {
  #overlay: Map<string, V | null> | null = null;
  #size: number;

  constructor(readonly before: LayeredMap<V>) {
    this.#size = before.size;
  }

  get(key: string): V | undefined {
    const changed = this.#overlay === null ? this.before.overlay.get(key) : this.#overlay.get(key);
    return changed === undefined ? this.before.base.get(key) : (changed ?? undefined);
  }

  set(key: string, value: V): void {
    if (this.get(key) === undefined) this.#size += 1;
    this.#own().set(key, value);
  }

  delete(key: string): void {
    if (this.get(key) === undefined) return;
    this.#size -= 1;
    if (this.before.base.has(key)) this.#own().set(key, null);
    else this.#own().delete(key);
  }

  /** The map as it stands now. */
  now(): LayeredMap<V> {
    return this.#overlay === null ? this.before : new LayeredMap(this.before.base, this.#overlay, this.#size);
  }

  /** The map as it stands now; the edit must not be used any more. */
  done(): LayeredMap<V> {
    if (this.#overlay === null || this.#overlay.size <= OVERLAY_MAX) return this.now();
    const base = new Map(this.before.base);
    for (const [key, value] of this.#overlay) {
      if (value === null) base.delete(key);
      else base.set(key, value);
    }
    return new LayeredMap(base, new Map(), this.#size);
  }

  #own(): Map<string, V | null> {
    this.#overlay ??= new Map(this.before.overlay);
    return this.#overlay;
  }
}
