/**
 * Looks at items of claim queues when they are due: begins their next wave, or lets them expire.
 *
 * Every node looks; an item is taken under a lock that others pass over. Invariants: 1. a wave begins once, and none
 * begins in a pool that is paused or switched off; 2. an item expires once, and who waits for it is told in that
 * transaction; 3. work that nobody waits for is then decided again, under a key of idempotency that its item names: a
 * node that dies in between is followed by one that gets the same decision.
 */
import { lookAt, noteDecidedAgain, takeDueItems, tellWaiters, writeItems } from '../../claims/index.js';
import type { ClaimItem, ClaimWaiters, DueItem, Look } from '../../claims/index.js';
import { readPoolStatus, type PoolStatus } from '../../pools/index.js';
import { BATCH, DueDriver, NOBODY, type DueDriverParts } from '../due/due-driver.js';
import type { RouteCall, Routed } from '../lane/route-call.js';
import { isExpiredAsk } from './claim-item-of.js';

/** How long an item that has expired rests before its work is tried to be decided once more. */
const AGAIN_US = 30_000_000;

/** What became of an item. */
export interface ClaimLook {
  readonly kind: 'opened' | 'expired';
  readonly item: ClaimItem;
}

/** What it works with. */
export interface ClaimDriverParts extends DueDriverParts {
  readonly waiters: ClaimWaiters;
  readonly route: (call: RouteCall) => Promise<Routed>;
  /** Told once it is committed. */
  readonly onLook: (look: ClaimLook) => void;
}

/** An item that was due, and what the look at it came to. */
interface Looked {
  readonly due: DueItem;
  readonly look: Look;
}

function lookedAt(due: DueItem, nowUs: number, pool: PoolStatus | undefined): Looked {
  const mayOpen = pool !== undefined && !pool.isKilled && pool.status === 'STATUS_ACTIVE';
  const { kind, item } = lookAt(due.item, nowUs, mayOpen);
  // Looked at again until the work has been decided: whoever was to do that may have died.
  const isAgain = item.state === 'expired' && item.waiter === null;
  return { due, look: { kind, item: isAgain ? { ...item, nextUs: nowUs + AGAIN_US } : item } };
}

/** See above. */
export class ClaimDriver extends DueDriver<ClaimDriverParts> {
  constructor(parts: ClaimDriverParts) {
    super(parts, 'items');
  }

  protected async batch(): Promise<number> {
    const found = await this.#lookAtDue();
    for (const { look } of found) if (look.kind !== 'wait') this.parts.onLook({ kind: look.kind, item: look.item });
    await Promise.all(found.map((each) => this.#decideAgain(each)));
    return found.length;
  }

  #lookAtDue(): Promise<readonly Looked[]> {
    return this.parts.db.transaction(async (tx) => {
      const due = await takeDueItems(tx, BATCH);
      const pools = await readPoolStatus(
        tx,
        due.map(({ item }) => item),
      );
      const { rows } = await tx.query<{ now_us: number }>('select ductor.now_us() as now_us');
      const nowUs = rows[0]?.now_us ?? 0;
      const found = due.map((each) => lookedAt(each, nowUs, pools.get(each.item.poolId)));
      await writeItems(
        tx,
        found.map(({ look }) => look.item),
      );
      const expired = found.flatMap(({ look: { kind, item } }) => (kind === 'expired' ? [{ kind, item }] : []));
      await tellWaiters(this.parts.waiters, tx, expired);
      return found;
    });
  }

  /** Has work decided again that nobody claimed: its pool may have a fallback for that. */
  async #decideAgain({ due, look: { item } }: Looked): Promise<void> {
    if (item.state !== 'expired' || item.waiter !== null) return;
    try {
      const ask: unknown = JSON.parse(due.ask);
      if (!isExpiredAsk(ask)) return;
      const { tenantId, itemId } = item;
      const call = { tenantId, principalId: NOBODY, ask, idempotencyKey: `claim/${itemId}` };
      const { stored } = await this.parts.route(call);
      if (stored.outcomeClass === 'infrastructure') return;
      await noteDecidedAgain(this.parts.db.asTenant(tenantId), item, stored.decisionId);
    } catch (error) {
      this.parts.onError(error);
    }
  }
}
