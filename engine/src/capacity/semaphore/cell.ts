/** One semaphore while a batch is decided. Changed by book.ts alone. */
import type { Holder, SemaphoreUsage, Waiter, Want } from './usage.js';
import { keyOf } from './usage.js';

/** Somebody in line, with what the tables know of it. */
export interface Place {
  readonly waiter: Waiter;
  /** It stands in the tables. */
  readonly isStored: boolean;
  isCalled: boolean;
  isElsewhere: boolean;
}

/** Name of a holder within its tenant. */
export function holderName({ runId, path }: Holder): string {
  return `${runId}/${path}`;
}

/** The limit that somebody in line stated for a key; undefined when it does not want it. */
export function limitFor(wants: readonly Want[], key: string): number | undefined {
  let least: number | undefined;
  for (const want of wants) {
    if (want.kind !== 'concurrency' || keyOf(want) !== key) continue;
    if (least === undefined || want.limit < least) least = want.limit;
  }
  return least;
}

/** A semaphore in the making. */
export class Cell {
  readonly tenantId: string;
  readonly key: string;
  nextAtUs: number;
  isChanged = false;
  /** Holders by the limit they stated. */
  readonly holders = new Map<number, number>();
  /** Holders by name, as far as they are known. */
  readonly holds = new Map<string, { readonly who: Holder; readonly limit: number; readonly isStored: boolean }>();
  readonly released = new Map<string, Holder>();
  line: Place[];
  /** Who came while the line was longer than what is known of it: behind everybody. */
  behind: Place[] = [];
  readonly left = new Map<string, Holder>();
  /** Who stands in line in the tables, as far as it is known, by name. */
  readonly #waits: ReadonlySet<string>;
  readonly isLonger: boolean;

  constructor(from: SemaphoreUsage | Cell) {
    this.tenantId = from.tenantId;
    this.key = from.key;
    this.nextAtUs = from.nextAtUs;
    this.isLonger = from.isLonger;
    if (from instanceof Cell) {
      this.#waits = from.#waits;
      this.isChanged = from.isChanged;
      for (const [limit, count] of from.holders) this.holders.set(limit, count);
      for (const [name, hold] of from.holds) this.holds.set(name, hold);
      for (const [name, who] of from.released) this.released.set(name, who);
      for (const [name, who] of from.left) this.left.set(name, who);
      this.line = from.line.map((place) => ({ ...place }));
      this.behind = from.behind.map((place) => ({ ...place }));
      return;
    }
    this.#waits = new Set(from.waits.map(holderName));
    for (const { limit, count } of from.holders) this.holders.set(limit, count);
    for (const { limit, ...who } of from.holds) this.holds.set(holderName(who), { who, limit, isStored: true });
    this.line = from.line.map((waiter) => {
      const { isCalled, isElsewhere } = waiter;
      return { waiter, isStored: true, isCalled, isElsewhere };
    });
  }

  /** How many hold it. */
  get held(): number {
    let held = 0;
    for (const count of this.holders.values()) held += count;
    return held;
  }

  /** The smallest limit that a holder stated; 0: nobody holds it. */
  get limit(): number {
    return this.holders.size === 0 ? 0 : Math.min(...this.holders.keys());
  }

  /** Whether there is room for one more that states this limit. */
  hasRoom(limit: number): boolean {
    const { held } = this;
    return held < limit && (this.holders.size === 0 || held < this.limit);
  }

  /** Somebody may be let in of whom nothing is known: all of the line that is known has been passed. */
  get isShort(): boolean {
    return this.isLonger && this.hasRoom(Infinity);
  }

  /** Changes what is noted of a place. */
  mark(place: Place, noted: Partial<Pick<Place, 'isCalled' | 'isElsewhere'>>): void {
    const { isCalled = place.isCalled, isElsewhere = place.isElsewhere } = noted;
    if (isCalled === place.isCalled && isElsewhere === place.isElsewhere) return;
    Object.assign(place, { isCalled, isElsewhere });
    this.isChanged = true;
  }

  /** Whether nobody before this place in line still has to be let in first. */
  isFirst(place: Place): boolean {
    for (const other of this.line) {
      if (other === place) return true;
      if (other.isCalled || !other.isElsewhere) return false;
    }
    return false;
  }

  take(who: Holder, limit: number): void {
    this.isChanged = true;
    this.holders.set(limit, (this.holders.get(limit) ?? 0) + 1);
    const name = holderName(who);
    const isStored = this.released.delete(name);
    this.holds.set(name, { who, limit, isStored });
  }

  /** False: it held nothing. */
  giveBack(who: Holder): boolean {
    const name = holderName(who);
    const hold = this.holds.get(name);
    if (hold === undefined) return false;
    this.isChanged = true;
    this.holds.delete(name);
    const count = (this.holders.get(hold.limit) ?? 1) - 1;
    if (count === 0) this.holders.delete(hold.limit);
    else this.holders.set(hold.limit, count);
    if (hold.isStored) this.released.set(name, who);
    return true;
  }

  placeOf(who: Holder): Place | undefined {
    const name = holderName(who);
    return [...this.line, ...this.behind].find(({ waiter }) => holderName(waiter) === name);
  }

  /** Whether somebody stands in line, wherever. */
  isInLine(who: Holder): boolean {
    const name = holderName(who);
    return this.placeOf(who) !== undefined || (this.#waits.has(name) && !this.left.has(name));
  }

  lineUp(waiter: Waiter): void {
    this.isChanged = true;
    const place = { waiter, isStored: false, isCalled: false, isElsewhere: false };
    if (this.isLonger) this.behind.push(place);
    else this.line.push(place);
  }

  /** Takes somebody out of the line, also one that is not known to stand in it. */
  leave(who: Holder): void {
    this.isChanged = true;
    const name = holderName(who);
    const place = this.placeOf(who);
    const isOther = ({ waiter }: Place): boolean => holderName(waiter) !== name;
    this.line = this.line.filter(isOther);
    this.behind = this.behind.filter(isOther);
    if (place?.isStored !== false) this.left.set(name, who);
  }
}
