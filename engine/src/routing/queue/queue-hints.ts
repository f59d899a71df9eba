/**
 * Hints that somebody may have become free: queues of their pools are looked at at once, and not with the next look.
 *
 * Only whoever frees somebody gives them, on the same node, after the commit; what is lost costs seconds. Hints that
 * come close together are one.
 */
import type { Clock, Timer } from '../../kernel/index.js';
import type { TenantAccess } from '../../store/index.js';
import { wakeQueues } from './sql/pool-queues.js';

/** How long hints are gathered. */
const GATHER_MS = 10;

interface Hinted {
  readonly pools: Set<string>;
  readonly recipients: Set<string>;
}

/** What hints need. */
interface HintParts {
  readonly db: TenantAccess;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** See above. */
export class QueueHints {
  readonly #hinted = new Map<string, Hinted>();
  #parts: HintParts | undefined;
  #look: () => Promise<void> = () => Promise.resolve();
  #timer: Timer | undefined;
  #underWay: Promise<void> = Promise.resolve();

  /** Begins to follow hints; before that they are nobody's. */
  start(parts: HintParts, look: () => Promise<void>): void {
    this.#parts = parts;
    this.#look = look;
  }

  /** Resolves when none is followed any more. */
  async stop(): Promise<void> {
    this.#parts = undefined;
    this.#timer?.cancel();
    await this.#underWay;
  }

  /** Recipients have given units back. */
  freed(tenantId: string, recipientIds: readonly string[]): void {
    this.#note(tenantId, [], recipientIds);
  }

  /** Pools, or who belongs to them, changed. */
  changed(tenantId: string, poolIds: readonly string[]): void {
    this.#note(tenantId, poolIds, []);
  }

  #note(tenantId: string, poolIds: readonly string[], recipientIds: readonly string[]): void {
    if (this.#parts === undefined || poolIds.length + recipientIds.length === 0) return;
    const hinted = this.#hinted.get(tenantId) ?? { pools: new Set(), recipients: new Set() };
    this.#hinted.set(tenantId, hinted);
    for (const id of poolIds) hinted.pools.add(id);
    for (const id of recipientIds) hinted.recipients.add(id);
    this.#timer ??= this.#parts.clock.setTimer(GATHER_MS, () => {
      this.#timer = undefined;
      this.#underWay = this.#underWay.then(() => this.#follow());
    });
  }

  /** Never rejects. */
  async #follow(): Promise<void> {
    const parts = this.#parts;
    const all = [...this.#hinted];
    this.#hinted.clear();
    if (parts === undefined) return;
    try {
      let woken = 0;
      for (const [tenantId, { pools, recipients }] of all) {
        woken += await wakeQueues(parts.db.asTenant(tenantId), tenantId, [...pools], [...recipients]);
      }
      if (woken > 0) await this.#look();
    } catch (error) {
      parts.onError(error);
    }
  }
}
