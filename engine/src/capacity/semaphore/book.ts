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
 */
import { Cell, holderName, limitFor, type Place } from './cell.js';
import { keyOf, nameOf, type Holder, type SemaphoreChanges, type SemaphoreUsage } from './usage.js';
import type { Turn, Waiter, Want } from './usage.js';

/** What an asking came to. outside: keys that are not locked; nothing was done. */
export type Answer =
  | { readonly kind: 'granted'; readonly startAtUs: number }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'outside' };

/** The semaphores of a batch. */
export class SemaphoreBook {
  readonly #cells: Map<string, Cell>;
  readonly #isOwn: Set<string>;
  #turns: Turn[] = [];

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

  /** Takes over what was done in a fork of this book. Returns who has to hear of it. */
  keep(fork: SemaphoreBook): readonly Turn[] {
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
    const waiter: Waiter = { ...who, ticket, wants, isCalled: false, sinceUs: this.nowUs };
    if (keys.length === 0) return { kind: 'granted', startAtUs: this.#charge(waiter) };
    const name = holderName(who);
    const hasAll = keys.every((key) => this.#cell(tenantId, key)?.holds.has(name) === true);
    // It was called twice, say.
    if (hasAll) return { kind: 'granted', startAtUs: this.nowUs };
    for (const key of keys) {
      const cell = this.#cell(tenantId, key);
      const place = cell?.placeOf(who);
      if (cell === undefined) continue;
      if (!cell.isInLine(who)) cell.lineUp(waiter);
      else if (place?.isCalled === true) {
        place.isCalled = false;
        cell.isChanged = true;
      }
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
        [...line, ...behind].flatMap(({ waiter, isStored, isCalled }) =>
          isStored ? [] : [{ ...waiter, key, isCalled }],
        ),
      ),
      leaves: cells.flatMap(({ key, left }) => [...left.values()].map((who) => ({ ...who, key }))),
      calls: cells.flatMap(({ key, line }) =>
        line.flatMap(({ waiter: { tenantId, runId, path, isCalled: before }, isStored, isCalled }) =>
          isStored && isCalled !== before ? [{ tenantId, runId, path, key, isCalled }] : [],
        ),
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

  /** Gives room to those who wait for these keys, and for what they free in turn. */
  #passOn(tenantId: string, keys: readonly string[]): void {
    const queue = [...keys];
    for (let key = queue.shift(); key !== undefined; key = queue.shift()) {
      const cell = this.#cell(tenantId, key);
      if (cell === undefined) continue;
      for (let at = 0; at < cell.line.length;) {
        const place = cell.line[at];
        const next = place === undefined ? 'stop' : this.#consider(cell, place);
        if (next === 'stop') break;
        if (next === 'granted') queue.push(...keysOf(place?.waiter.wants ?? []).filter((other) => other !== key));
        else at += 1;
      }
    }
  }

  #consider(cell: Cell, place: Place): 'granted' | 'passed' | 'stop' {
    const { waiter } = place;
    const { tenantId, wants } = waiter;
    if (!cell.hasRoom(limitFor(wants, cell.key) ?? 0)) return 'stop';
    if (wants.some((want) => !this.#has(tenantId, keyOf(want)))) {
      if (!place.isCalled) {
        place.isCalled = true;
        cell.isChanged = true;
        this.#turns.push({ to: waiter, ticket: waiter.ticket, startAtUs: null });
      }
      return 'stop';
    }
    const keys = keysOf(wants);
    const isFree = keys.every((key) => this.#cell(tenantId, key)?.hasRoom(limitFor(wants, key) ?? 0) === true);
    if (!isFree) return 'passed';
    const { runId, path } = waiter;
    const who = { tenantId, runId, path };
    for (const key of keys) {
      const other = this.#cell(tenantId, key);
      other?.leave(who);
      other?.take(who, limitFor(wants, key) ?? 1);
    }
    this.#turns.push({ to: who, ticket: waiter.ticket, startAtUs: this.#charge(waiter) });
    return 'granted';
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
