/**
 * Which starts may wait for their commit. A node that is asked for more than the database takes refuses the excess at
 * once, with a hint when to come again, instead of letting everybody wait longer and longer.
 *
 * States: open -> standing (for standingMs no moment without a start that waits longer than startWaitMs) -> open (for
 * calmMs nobody had to be refused).
 *
 * Invariants:
 * 1. At most maxWaitingStarts wait, and of one tenant at most maxWaitingStartsPerTenant.
 * 2. A burst, or a database that pauses, makes nobody be refused: only a line that stands does. From then on so many
 *    wait as are committed within startWaitMs, by the pace of the last standingMs.
 * 3. While it stands, a tenant with fewer waiting starts than tenants have on average is let in: who asks for little
 *    does not pay for who asks for much.
 */
import { DuctorError, type Clock } from '../../kernel/index.js';
import type { CoordinatorOptions } from './options.js';
import type { PendingStart } from './run-cell.js';

/** Why a start was refused: the node is full, its tenant has its share of it, or the line stands. */
export type Refusal = 'node' | 'tenant' | 'overload';

/** What the door goes by. */
export type DoorOptions = Pick<
  CoordinatorOptions,
  'maxWaitingStarts' | 'maxWaitingStartsPerTenant' | 'startWaitMs' | 'standingMs' | 'calmMs'
>;

const HINT_LEAST_MS = 100;
const HINT_MOST_MS = 5_000;

/** The door of one incarnation. */
export class StartDoor {
  /** Since when each waits, monotonic ms, the one that came first in front. */
  readonly #since = new Map<PendingStart, number>();
  readonly #ofTenant = new Map<string, number>();
  /** Since when there is always one that waits too long. */
  #longSinceMs: number | undefined;
  /** When one was refused because the line stands. */
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  #left = 0;
  #countedSinceMs = Number.NEGATIVE_INFINITY;
  #leftPerMs = 0;

  constructor(
    readonly clock: Clock,
    readonly options: DoorOptions,
    readonly refused: (why: Refusal) => void,
  ) {}

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
    this.#since.set(start, nowMs);
    this.#ofTenant.set(tenantId, own + 1);
  }

  /** A start waits no longer, one way or the other. */
  leave(start: PendingStart): void {
    if (!this.#since.delete(start)) return;
    this.#left += 1;
    const { tenantId } = start.request;
    const left = (this.#ofTenant.get(tenantId) ?? 1) - 1;
    if (left > 0) this.#ofTenant.set(tenantId, left);
    else this.#ofTenant.delete(tenantId);
    this.#look(this.clock.monotonicMs());
  }

  #why(own: number, nowMs: number): { readonly refusal: Refusal; readonly text: string } | undefined {
    const { maxWaitingStarts, maxWaitingStartsPerTenant } = this.options;
    if (this.#since.size >= maxWaitingStarts) {
      return { refusal: 'node', text: `${maxWaitingStarts} starts wait on this node` };
    }
    if (own >= maxWaitingStartsPerTenant) {
      return { refusal: 'tenant', text: `${own} starts of this tenant wait on this node` };
    }
    this.#look(nowMs);
    if (!this.#stands(nowMs)) return undefined;
    if (this.#since.size < this.#room() || own < this.#since.size / this.#ofTenant.size) return undefined;
    this.#refusedAtMs = nowMs;
    const waitMs = Math.round(this.#oldestMs(nowMs));
    return { refusal: 'overload', text: `this node is asked for more than it can do: starts wait ${waitMs} ms` };
  }

  /** Notes since when there is always one that waits too long, and at what pace starts go. */
  #look(nowMs: number): void {
    if (this.#oldestMs(nowMs) < this.options.startWaitMs) this.#longSinceMs = undefined;
    else this.#longSinceMs ??= nowMs;
    const passedMs = nowMs - this.#countedSinceMs;
    if (passedMs < this.options.standingMs) return;
    this.#leftPerMs = this.#left / passedMs;
    this.#left = 0;
    this.#countedSinceMs = nowMs;
  }

  #stands(nowMs: number): boolean {
    const { standingMs, calmMs } = this.options;
    if (this.#longSinceMs !== undefined && nowMs - this.#longSinceMs >= standingMs) return true;
    return nowMs - this.#refusedAtMs < calmMs;
  }

  /** So many may wait while the line stands. */
  #room(): number {
    return Math.max(1, this.#leftPerMs * this.options.startWaitMs);
  }

  #oldestMs(nowMs: number): number {
    const [sinceMs = nowMs] = this.#since.values();
    return nowMs - sinceMs;
  }

  /** What waits now is gone by then, at the pace at which it goes. */
  #hintMs(nowMs: number): number {
    return Math.round(Math.min(HINT_MOST_MS, Math.max(HINT_LEAST_MS, this.#oldestMs(nowMs))));
  }
}
