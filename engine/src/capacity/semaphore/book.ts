/**
 * Who gets room under which keys: pure arithmetic over what was read under the locks of a batch.
 *
 * Invariants:
 * 1. Never more holders than the smallest limit that one of them, or the one that is granted, stated.
 * 2. All or nothing: who waits holds nothing. Rates are charged when everything else is granted.
 * 3. First come, first served, for each key. Only somebody who waits for another key is passed by those behind.
 * 4. Somebody in line whose other keys are not locked is called instead of granted, and nobody passes it until it has
 *    asked again: it does so in a batch that locks all of its keys.
 * 5. A run that holds a key as a whole holds it for its steps, too.
 * 6. Between two batches, somebody who waits has a key where it is not noted as waiting elsewhere, and there is no room
 *    there, or somebody up to it in line is called. So whoever makes room, or is called and asks, comes to it.
 * 7. Calls end: who asked in vain is noted as waiting elsewhere, and is called again only where it waits. Everybody
 *    takes its places under all keys at once, so that they stand in one order under every key, and the first of those
 *    that are called finds nobody before it.
 */
import { Cell, holderName, limitFor, type Place } from './cell.js';
import { keyOf, nameOf, type Holder, type SemaphoreChanges, type SemaphoreUsage } from './usage.js';
import type { Turn, Waiter, Want } from './usage.js';

/** What an asking came to. outside: keys that are not locked; nothing was done. */
export type Answer =
  | { readonly kind: 'granted'; readonly startAtUs: number }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'outside' };

/** What becomes of somebody in line: whoever is stopped stops all behind it. */
type Fate = 'granted' | 'passed' | 'stopped';

/**
 * How often one place may have others looked at again. Lines that stand in one order under every key need a few times;
 * of lines that do not, which must not be, two could go on for ever.
 */
const MAX_TOLD = 100;

/** The semaphores of a batch. */
export class SemaphoreBook {
  readonly #cells: Map<string, Cell>;
  readonly #isOwn: Set<string>;
  #turns: Turn[] = [];
  #isShort = false;

  /** @param nowUs database time, read under the locks */
  constructor(
    usages: readonly SemaphoreUsage[],
    readonly nowUs: number,
    cells?: Map<string, Cell>,
  ) {
    this.#cells = cells ?? new Map(usages.map((usage) => [nameOf(usage), new Cell(usage)]));
    this.#isOwn = new Set(cells === undefined ? this.#cells.keys() : []);
  }

  /** A book to try something in; `keep` of this one makes it true. */
  fork(): SemaphoreBook {
    return new SemaphoreBook([], this.nowUs, new Map(this.#cells));
  }

  /** It came to the end of what was read of a line: it has to be decided anew, with more of it. */
  get isShort(): boolean {
    return this.#isShort;
  }

  /** Takes over what was done in a fork of this book. Returns who has to hear of it. */
  keep(fork: SemaphoreBook): readonly Turn[] {
    this.#isShort ||= fork.#isShort;
    for (const name of fork.#isOwn) {
      const cell = fork.#cells.get(name);
      if (cell !== undefined) this.#cells.set(name, cell);
    }
    return fork.#turns;
  }

  /** Asks, or asks again in its turn. Whoever waits stays in line. */
  ask(who: Holder, ticket: number, wanted: readonly Want[]): Answer {
    const { tenantId } = who;
    if (wanted.some((want) => !this.#has(tenantId, keyOf(want)))) return { kind: 'outside' };
    const run = { ...who, path: '' };
    const isOfRun = (want: Want): boolean =>
      who.path !== '' && this.#cell(tenantId, keyOf(want))?.holds.has(holderName(run)) === true;
    const wants = wanted.filter((want) => want.kind === 'rate' || !isOfRun(want));
    const keys = keysOf(wants);
    const waiter: Waiter = { ...who, ticket, wants, isCalled: false, isElsewhere: false, sinceUs: this.nowUs };
    if (keys.length === 0) return { kind: 'granted', startAtUs: this.#charge(waiter) };
    const name = holderName(who);
    const hasAll = keys.every((key) => this.#cell(tenantId, key)?.holds.has(name) === true);
    // It was called twice, say: the message that says when it may begin is on its way.
    if (hasAll) return { kind: 'waiting' };
    for (const key of keys) {
      const cell = this.#cell(tenantId, key);
      const place = cell?.placeOf(who);
      if (cell === undefined) continue;
      if (place !== undefined) cell.mark(place, { isCalled: false });
      else if (cell.isInLine(who)) this.#isShort = true;
      else cell.lineUp(waiter);
    }
    this.#passOn(tenantId, keys);
    return this.#takeTurn(who, ticket) ?? { kind: 'waiting' };
  }

  /** Gives back whatever it holds of these, or leaves the line; those who wait get their turn. False: outside. */
  release(who: Holder, wants: readonly Want[]): boolean {
    const keys = keysOf(wants);
    if (keys.some((key) => !this.#has(who.tenantId, key))) return false;
    for (const key of keys) {
      const cell = this.#cell(who.tenantId, key);
      if (cell !== undefined && !cell.giveBack(who)) cell.leave(who);
    }
    this.#passOn(who.tenantId, keys);
    return true;
  }

  /** What has to be written. */
  changes(): SemaphoreChanges {
    const cells = [...this.#cells.values()].filter(({ isChanged }) => isChanged);
    return {
      semaphores: cells.map(({ tenantId, key, limit, held, nextAtUs }) => ({ tenantId, key, limit, held, nextAtUs })),
      holds: cells.flatMap(({ key, holds }) =>
        [...holds.values()].flatMap(({ who, limit, isStored }) =>
          isStored ? [] : [{ ...who, key, limit, sinceUs: this.nowUs }],
        ),
      ),
      releases: cells.flatMap(({ key, released }) => [...released.values()].map((who) => ({ ...who, key }))),
      waits: cells.flatMap(({ key, line, behind }) =>
        [...line, ...behind].flatMap(({ waiter, isStored, isCalled, isElsewhere }) =>
          isStored ? [] : [{ ...waiter, key, isCalled, isElsewhere }],
        ),
      ),
      leaves: cells.flatMap(({ key, left }) => [...left.values()].map((who) => ({ ...who, key }))),
      marks: cells.flatMap(({ key, line }) =>
        line.flatMap(({ waiter, isStored, isCalled, isElsewhere }) => {
          const { tenantId, runId, path } = waiter;
          const isSame = isCalled === waiter.isCalled && isElsewhere === waiter.isElsewhere;
          return isStored && !isSame ? [{ tenantId, runId, path, key, isCalled, isElsewhere }] : [];
        }),
      ),
    };
  }

  #has(tenantId: string, key: string): boolean {
    return this.#cells.has(nameOf({ tenantId, key }));
  }

  /** The semaphore, as a copy of this fork's own. */
  #cell(tenantId: string, key: string): Cell | undefined {
    const name = nameOf({ tenantId, key });
    const cell = this.#cells.get(name);
    if (cell === undefined || this.#isOwn.has(name)) return cell;
    const own = new Cell(cell);
    this.#cells.set(name, own);
    this.#isOwn.add(name);
    return own;
  }

  /** Gives room to those who wait for these keys, and for what they free or let pass in turn. */
  #passOn(tenantId: string, keys: readonly string[]): void {
    const queue = [...keys];
    const told = new Map<Place, number>();
    for (let key = queue.shift(); key !== undefined; key = queue.shift()) {
      const cell = this.#cell(tenantId, key);
      if (cell === undefined) continue;
      let isStopped = false;
      for (let at = 0; at < cell.line.length && !isStopped;) {
        const place = cell.line[at];
        if (place === undefined) break;
        const { is, freed } = this.#consider(cell, place);
        const times = (told.get(place) ?? 0) + freed.length;
        told.set(place, times);
        if (is === 'granted' || times <= MAX_TOLD) queue.push(...freed.filter((other) => other !== key));
        isStopped = is === 'stopped';
        if (is !== 'granted') at += 1;
      }
      if (!isStopped && cell.isShort) this.#isShort = true;
    }
  }

  /** What becomes of somebody in line, for those behind, and keys under which others may come in now. */
  #consider(cell: Cell, place: Place): { readonly is: Fate; readonly freed: readonly string[] } {
    const { waiter } = place;
    const { tenantId, wants } = waiter;
    if (place.isCalled) return { is: 'stopped', freed: [] };
    if (wants.every((want) => this.#has(tenantId, keyOf(want)))) return this.#letIn(cell, waiter);
    if (place.isElsewhere) return { is: 'passed', freed: [] };
    if (cell.hasRoom(limitFor(wants, cell.key) ?? 0)) {
      cell.mark(place, { isCalled: true });
      this.#turns.push({ to: waiter, ticket: waiter.ticket, startAtUs: null });
    }
    return { is: 'stopped', freed: [] };
  }

  /** Lets somebody in all of whose keys are locked, or notes where it waits. */
  #letIn(cell: Cell, waiter: Waiter): { readonly is: Fate; readonly freed: readonly string[] } {
    const { tenantId, runId, path, wants } = waiter;
    const keys = keysOf(wants);
    const seen = keys.flatMap((key) => {
      const at = this.#cell(tenantId, key);
      const place = at?.placeOf(waiter);
      return at === undefined || place === undefined ? [] : [{ at, place }];
    });
    if (seen.length < keys.length) {
      this.#isShort = true;
      return { is: 'stopped', freed: [] };
    }
    const isOpen = ({ at, place }: (typeof seen)[number]): boolean =>
      at.hasRoom(limitFor(wants, at.key) ?? 0) && at.isFirst(place);
    const open = seen.filter(isOpen);
    if (open.length === seen.length) {
      const who = { tenantId, runId, path };
      for (const { at } of open) {
        at.leave(who);
        at.take(who, limitFor(wants, at.key) ?? 1);
      }
      this.#turns.push({ to: who, ticket: waiter.ticket, startAtUs: this.#charge(waiter) });
      return { is: 'granted', freed: keys };
    }
    const freed = open.filter(({ place }) => !place.isElsewhere).map(({ at }) => at.key);
    for (const one of seen) one.at.mark(one.place, { isElsewhere: open.includes(one) });
    return { is: open.some(({ at }) => at.key === cell.key) ? 'passed' : 'stopped', freed };
  }

  /** Charges the rates. Returns when it may begin. */
  #charge({ tenantId, wants }: Waiter): number {
    let startAtUs = this.nowUs;
    for (const want of wants) {
      if (want.kind !== 'rate') continue;
      const cell = this.#cell(tenantId, keyOf(want));
      if (cell === undefined) continue;
      const atUs = Math.max(this.nowUs, cell.nextAtUs);
      cell.nextAtUs = atUs + Math.ceil(want.perUs / want.limit);
      cell.isChanged = true;
      startAtUs = Math.max(startAtUs, atUs);
    }
    return startAtUs;
  }

  /** The turn of the one that asks is its answer. */
  #takeTurn(who: Holder, ticket: number): Answer | undefined {
    const name = holderName(who);
    const turn = this.#turns.find(({ to, ticket: of }) => holderName(to) === name && of === ticket);
    if (turn === undefined || turn.startAtUs === null) return undefined;
    this.#turns = this.#turns.filter((other) => other !== turn);
    return { kind: 'granted', startAtUs: turn.startAtUs };
  }
}

/** Keys of which room is wanted, each once, in order. */
function keysOf(wants: readonly Want[]): readonly string[] {
  return [...new Set(wants.flatMap((want) => (want.kind === 'concurrency' ? [keyOf(want)] : [])))].sort();
}
