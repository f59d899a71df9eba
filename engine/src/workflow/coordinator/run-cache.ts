/**
 * The runs in memory, bounded by bytes. Evicts by second chance: one look in turn at each run; one that was used since
 * the last look stays until the next. (Moving every used run to the end of the map would cost two map writes a tick.)
 *
 * Invariants:
 * 1. `bytes` is the sum of cell.bytes of all cells.
 * 2. Only idle cells are evicted; a run that is waited for stays, so the bound may be passed while work is under way.
 * 3. An eviction loses nothing: state is the fold of the journal, and timers keep their key.
 */
import type { RunKey } from './ports.js';
import { stateBytes } from './run-logic.js';
import { coldCell, isIdle, keyOf, type RunCell } from './run-cell.js';

/** A cell without its state: the object, its key, its places in maps. */
const CELL_BYTES = 700;
/** Cells an eviction looks at before it gives up until the next commit. */
const LOOK_AT_MOST = 512;

/** All runs in memory. */
export class RunCache {
  readonly #cells = new Map<string, RunCell>();
  #bytes = 0;

  /** @param maxBytes bound of the cache */
  constructor(readonly maxBytes: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#cells.size;
  }

  /** The cell of a run, undefined when it is not in memory. Does not count as a use. */
  get(key: string): RunCell | undefined {
    return this.#cells.get(key);
  }

  /** The cell of a run, cold when it was not in memory. Throws invalid_argument when the run id is not a UUID. */
  ensure(run: RunKey): RunCell {
    const known = this.#cells.get(keyOf(run));
    if (known !== undefined) return known;
    const cell = coldCell(run);
    this.add(cell);
    return cell;
  }

  add(cell: RunCell): void {
    this.#cells.set(cell.key, cell);
    cell.bytes = CELL_BYTES;
    this.#bytes += CELL_BYTES;
  }

  /** Whether this very cell is still the one of its run. */
  holds(cell: RunCell): boolean {
    return this.#cells.get(cell.key) === cell;
  }

  /** Counts the cell's state anew and marks it as used. */
  used(cell: RunCell): void {
    if (!this.holds(cell)) return;
    const bytes = cell.state === null ? CELL_BYTES : CELL_BYTES + stateBytes(cell.state);
    this.#bytes += bytes - cell.bytes;
    cell.bytes = bytes;
    cell.isRecent = true;
  }

  drop(cell: RunCell): void {
    if (!this.holds(cell)) return;
    this.#cells.delete(cell.key);
    this.#bytes -= cell.bytes;
  }

  /** Evicts idle runs that were not used lately until the bound holds. Returns how many went. */
  shrink(): number {
    let looked = 0;
    let evicted = 0;
    for (const cell of this.#cells.values()) {
      if (this.#bytes <= this.maxBytes || looked >= LOOK_AT_MOST) break;
      looked += 1;
      if (isIdle(cell) && !cell.isRecent) {
        this.drop(cell);
        evicted += 1;
      } else {
        cell.isRecent = false;
        this.#cells.delete(cell.key);
        this.#cells.set(cell.key, cell);
      }
    }
    return evicted;
  }

  /** All cells; a copy. */
  all(): readonly RunCell[] {
    return [...this.#cells.values()];
  }

  clear(): void {
    this.#cells.clear();
    this.#bytes = 0;
  }
}
