/**
 * Which starts may wait for their commit. A node that is asked for more than the database takes refuses the excess at
 * once, with a hint when to come again, instead of letting everybody wait longer and longer.
 *
 * States: open -> standing (for standingMs no moment without a start that waits too long) -> open (for calmMs nobody
 * had to be refused). Too long is LONG_TIMES what is usual (usual-wait.ts), and at most startWaitMs.
 *
 * Invariants:
 * 1. At most maxWaitingStarts wait, and of one tenant at most maxWaitingStartsPerTenant.
 * 2. A burst, or a database that pauses, makes nobody be refused: only a line that stands does. From then on so many
 *    wait as are committed within ROOM_TIMES what is usual, at most within startWaitMs, by the pace of the last
 *    standingMs; and always leastWaitingStarts.
 * 3. While it stands, a tenant with fewer waiting starts than tenants have on average is let in: who asks for little
 *    does not pay for who asks for much.
 */
import { DuctorError, type Clock } from '../../kernel/index.js';
import type { CoordinatorOptions } from './options.js';
import type { PendingStart } from './run-cell.js';
import { UsualWait } from './usual-wait.js';

/** Why a start was refused: the node is full, its tenant has its share of it, or the line stands. */
export type Refusal = 'node' | 'tenant' | 'overload';

/** What the door goes by. */
export type DoorOptions = Pick<
  CoordinatorOptions,
  'maxWaitingStarts' | 'maxWaitingStartsPerTenant' | 'startWaitMs' | 'leastWaitingStarts' | 'standingMs' | 'calmMs'
>;

const HINT_LEAST_MS = 100;
const HINT_MOST_MS = 5_000;
/** Who waits so many times longer than is usual waits too long. */
const LONG_TIMES = 2;
const LONG_LEAST_MS = 40;
/** Room for so many times what is usual; with what comes on top, a start waits twice as long. */
const ROOM_TIMES = 1.5;
const ROOM_LEAST_MS = 30;

/** Where next to nobody waits and it yet takes so many times longer than may be waited, it is not the line. */
const SLOW_TIMES = 2;
/** So long that is believed. */
const SLOW_MS = 30_000;
/** Where somebody waits for a smaller part of the time, the node keeps up with what comes. */
const KEEPS_UP_PART = 0.8;

/** How a start came in. */
interface Entry {
  /** Since when it waits, monotonic ms. */
  readonly atMs: number;
  /** How many waited before it. */
  readonly before: number;
}

/** The door of one incarnation. */
export class StartDoor {
  /** Those that wait, the one that came first in front. */
  readonly #inside = new Map<PendingStart, Entry>();
  readonly #ofTenant = new Map<string, number>();
  /** Since when there is always one that waits too long. */
  #longSinceMs: number | undefined;
  /** When one was refused because the line stands. */
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  #left = 0;
  /** For how long somebody waited since it is counted, but for those who wait now; and since when those do. */
  #busyMs = 0;
  #busySinceMs = 0;
  #countedSinceMs = Number.NEGATIVE_INFINITY;
  #leftPerMs = 0;
  /** Until when even short lines take long. */
  #slowUntilMs = Number.NEGATIVE_INFINITY;
  readonly #usual: UsualWait;

  constructor(
    readonly clock: Clock,
    readonly options: DoorOptions,
    readonly refused: (why: Refusal) => void,
  ) {
    this.#usual = new UsualWait(clock);
  }

  /** Lets a start in. Throws limit_exceeded, saying what is full and when to come again. */
  enter(start: PendingStart): void {
    const { tenantId } = start.request;
    const nowMs = this.clock.monotonicMs();
    const own = this.#ofTenant.get(tenantId) ?? 0;
    const why = this.#why(own, nowMs);
    if (why !== undefined) {
      this.refused(why.refusal);
      throw new DuctorError('limit_exceeded', why.text, { retryAfterMs: this.#hintMs(nowMs) });
    }
    if (this.#inside.size === 0) this.#busySinceMs = nowMs;
    this.#inside.set(start, { atMs: nowMs, before: this.#inside.size });
    this.#ofTenant.set(tenantId, own + 1);
  }

  /** A start waits no longer, one way or the other. */
  leave(start: PendingStart): void {
    const entry = this.#inside.get(start);
    if (entry === undefined) return;
    this.#inside.delete(start);
    const nowMs = this.clock.monotonicMs();
    if (this.#inside.size === 0) this.#busyMs += nowMs - this.#busySinceMs;
    this.#learn(entry, nowMs);
    this.#left += 1;
    const { tenantId } = start.request;
    const left = (this.#ofTenant.get(tenantId) ?? 1) - 1;
    if (left > 0) this.#ofTenant.set(tenantId, left);
    else this.#ofTenant.delete(tenantId);
    this.#look(nowMs);
  }

  #learn({ atMs, before }: Entry, nowMs: number): void {
    const stands = this.#stands(nowMs);
    this.#usual.note(nowMs - atMs, stands);
    const isShort = before < this.options.leastWaitingStarts;
    if (!stands || !isShort || nowMs < this.#slowUntilMs) return;
    if (nowMs - atMs > SLOW_TIMES * this.#roomMs(nowMs)) this.#slowUntilMs = nowMs + SLOW_MS;
  }

  #why(own: number, nowMs: number): { readonly refusal: Refusal; readonly text: string } | undefined {
    const { maxWaitingStarts, maxWaitingStartsPerTenant } = this.options;
    if (this.#inside.size >= maxWaitingStarts) {
      return { refusal: 'node', text: `${maxWaitingStarts} starts wait on this node` };
    }
    if (own >= maxWaitingStartsPerTenant) {
      return { refusal: 'tenant', text: `${own} starts of this tenant wait on this node` };
    }
    this.#look(nowMs);
    if (!this.#stands(nowMs)) return undefined;
    if (this.#inside.size < this.#room(nowMs) || own < this.#inside.size / this.#ofTenant.size) return undefined;
    this.#refusedAtMs = nowMs;
    const waitMs = Math.round(this.#oldestMs(nowMs));
    return { refusal: 'overload', text: `this node is asked for more than it can do: starts wait ${waitMs} ms` };
  }

  /** Notes since when there is always one that waits too long, and at what pace starts go. */
  #look(nowMs: number): void {
    if (this.#oldestMs(nowMs) < this.#atMost(LONG_TIMES, LONG_LEAST_MS)) this.#longSinceMs = undefined;
    else this.#longSinceMs ??= nowMs;
    const passedMs = nowMs - this.#countedSinceMs;
    if (passedMs < this.options.standingMs) return;
    // Starts that come in bursts leave as quickly as they can, and then there is nothing to do: that is no slow pace.
    const busyMs = this.#busyMs + (this.#inside.size > 0 ? nowMs - this.#busySinceMs : 0);
    const perMs = this.#left / Math.max(1, Math.min(passedMs, busyMs));
    [this.#busyMs, this.#busySinceMs] = [0, nowMs];
    // Nobody waited now and then: what comes can be done, though not all of a burst at once.
    if (busyMs < KEEPS_UP_PART * passedMs) this.#refusedAtMs = Number.NEGATIVE_INFINITY;
    // Where nobody was refused, so many came: that more can be done was seen before.
    const isKept = this.#refusedAtMs < this.#countedSinceMs && this.#stands(nowMs);
    this.#leftPerMs = isKept ? Math.max(perMs, this.#leftPerMs) : perMs;
    this.#left = 0;
    this.#countedSinceMs = nowMs;
  }

  #stands(nowMs: number): boolean {
    const { standingMs, calmMs } = this.options;
    if (this.#longSinceMs !== undefined && nowMs - this.#longSinceMs >= standingMs) return true;
    return nowMs - this.#refusedAtMs < calmMs;
  }

  /** So many may wait while the line stands. */
  #room(nowMs: number): number {
    return Math.max(this.options.leastWaitingStarts, this.#leftPerMs * this.#roomMs(nowMs));
  }

  /** So long may be waited while the line stands. */
  #roomMs(nowMs: number): number {
    return nowMs < this.#slowUntilMs ? this.options.startWaitMs : this.#atMost(ROOM_TIMES, ROOM_LEAST_MS);
  }

  /** So many times what is usual, ms; what may be waited at most while nothing is known. */
  #atMost(times: number, leastMs: number): number {
    const { startWaitMs } = this.options;
    const { ms } = this.#usual;
    return ms === undefined ? startWaitMs : Math.min(startWaitMs, Math.max(leastMs, ms * times));
  }

  #oldestMs(nowMs: number): number {
    const [oldest] = this.#inside.values();
    return oldest === undefined ? 0 : nowMs - oldest.atMs;
  }

  /** What waits now is gone by then, at the pace at which it goes. */
  #hintMs(nowMs: number): number {
    return Math.round(Math.min(HINT_MOST_MS, Math.max(HINT_LEAST_MS, this.#oldestMs(nowMs))));
  }
}
