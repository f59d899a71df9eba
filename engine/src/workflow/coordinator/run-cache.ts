/**
 * The runs in memory, least recently used first, bounded by bytes.
 *
 * Invariants:
 * 1. `bytes` is the sum of slot.bytes of all slots.
 * 2. Only idle slots are evicted; a run that is waited for stays, so the bound may be passed while work is under way.
 * 3. An eviction loses nothing: state is the fold of the journal, and timers keep their key.
 */
import type { RunKey } from './ports.js';
import { stateBytes } from './run-logic.js';
import { coldSlot, isIdle, keyOf, type RunSlot } from './run-slot.js';

/** A slot without its state: the object, its key, its places in maps. */
const SLOT_BYTES = 700;
/** Slots an eviction looks at before it gives up until the next commit. */
const LOOK_AT_MOST = 512;

/** All runs in memory. */
export class RunCache {
  readonly #slots = new Map<string, RunSlot>();
  #bytes = 0;

  /** @param maxBytes bound of the cache */
  constructor(readonly maxBytes: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#slots.size;
  }

  /** The slot of a run, undefined when it is not in memory. Does not count as a use. */
  get(key: string): RunSlot | undefined {
    return this.#slots.get(key);
  }

  /** The slot of a run, cold when it was not in memory. Throws invalid_argument when the run id is not a UUID. */
  ensure(run: RunKey): RunSlot {
    const known = this.#slots.get(keyOf(run));
    if (known !== undefined) return known;
    const slot = coldSlot(run);
    this.add(slot);
    return slot;
  }

  add(slot: RunSlot): void {
    this.#slots.set(slot.key, slot);
    slot.bytes = SLOT_BYTES;
    this.#bytes += SLOT_BYTES;
  }

  /** Whether this very slot is still the one of its run. */
  holds(slot: RunSlot): boolean {
    return this.#slots.get(slot.key) === slot;
  }

  /** Counts the slot's state anew and marks it as just used. */
  used(slot: RunSlot): void {
    if (!this.holds(slot)) return;
    const bytes = slot.state === null ? SLOT_BYTES : SLOT_BYTES + stateBytes(slot.state);
    this.#bytes += bytes - slot.bytes;
    slot.bytes = bytes;
    this.#slots.delete(slot.key);
    this.#slots.set(slot.key, slot);
  }

  drop(slot: RunSlot): void {
    if (!this.holds(slot)) return;
    this.#slots.delete(slot.key);
    this.#bytes -= slot.bytes;
  }

  /** Evicts idle runs, least recently used first, until the bound holds. Returns how many went. */
  shrink(): number {
    let looked = 0;
    let evicted = 0;
    for (const slot of this.#slots.values()) {
      if (this.#bytes <= this.maxBytes || looked >= LOOK_AT_MOST) break;
      looked += 1;
      if (isIdle(slot)) {
        this.drop(slot);
        evicted += 1;
      } else {
        this.used(slot);
      }
    }
    return evicted;
  }

  /** All slots, least recently used first; a copy. */
  all(): readonly RunSlot[] {
    return [...this.#slots.values()];
  }

  clear(): void {
    this.#slots.clear();
    this.#bytes = 0;
  }
}
