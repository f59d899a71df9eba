/**
 * The lane of claims on a node: concurrent calls of a tenant share a transaction.
 *
 *   waiting -> in a batch -> answered
 *
 * Invariants:
 * 1. A tenant has at most one batch in flight here; calls are done in the order in which they came.
 * 2. A call is answered once its transaction has been committed, never before.
 * 3. A call that comes too late for sure is answered without a transaction (known.ts).
 * 4. A batch whose locks are not had in time is tried call by call; only what fails alone is
 *    capacity_authority_unavailable.
 */
import { readItems, type ClaimWaiters } from '../../claims/index.js';
import { DuctorError, type Clock } from '../../kernel/index.js';
import { classify, type TenantAccess } from '../../store/index.js';
import type { PoolViews } from '../views/pool-views.js';
import type { ClaimCall, ClaimResult } from './claim-call.js';
import { known } from './known.js';
import { runClaims } from './run-claims.js';

/** Most calls of a batch. */
const MAX_BATCH = 64;
/** Most calls of a tenant that wait; beyond, new ones are refused. */
const MAX_WAITING = 10_000;
/** How often a transaction is repeated that the database gave up for another one. */
const MAX_REPEATS = 3;

/** What it needs. */
export interface ClaimLaneParts {
  readonly db: TenantAccess;
  readonly clock: Clock;
  readonly views: PoolViews;
  readonly newId: () => string;
  readonly waiters: ClaimWaiters;
}

interface WaitingCall {
  readonly call: ClaimCall;
  readonly resolve: (result: ClaimResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Calls of one tenant. */
interface Queue {
  readonly calls: WaitingCall[];
  isBusy: boolean;
}

/** See above. */
export class ClaimLane {
  readonly #parts: ClaimLaneParts;
  readonly #queues = new Map<string, Queue>();

  constructor(parts: ClaimLaneParts) {
    this.#parts = parts;
  }

  /**
   * Does it. Resolves with the item as it is then, or with what was decided against it: not_found, claim_rescinded,
   * claim_not_offered, claim_state_conflict, claim_budget_exhausted, recipient_capacity_exhausted. Rejects with
   * capacity_authority_unavailable, limit_exceeded, database_unavailable.
   */
  act(call: ClaimCall): Promise<ClaimResult> {
    const { tenantId } = call.by;
    const queue = this.#queues.get(tenantId) ?? { calls: [], isBusy: false };
    this.#queues.set(tenantId, queue);
    if (queue.calls.length >= MAX_WAITING) {
      throw new DuctorError('limit_exceeded', `${MAX_WAITING} calls about claims wait at this node`);
    }
    return new Promise((resolve, reject) => {
      queue.calls.push({ call, resolve, reject });
      if (queue.isBusy) return;
      queue.isBusy = true;
      // What else comes in with the same read of the socket joins the batch.
      this.#parts.clock.defer(() => void this.#drain(tenantId, queue));
    });
  }

  async #drain(tenantId: string, queue: Queue): Promise<void> {
    while (queue.calls.length > 0) await this.#run(tenantId, queue.calls.splice(0, MAX_BATCH));
    queue.isBusy = false;
    this.#queues.delete(tenantId);
  }

  /** Never rejects. */
  async #run(tenantId: string, waiting: readonly WaitingCall[]): Promise<void> {
    try {
      const results = await this.#commit(
        tenantId,
        waiting.map(({ call }) => call),
      );
      for (const [index, { resolve, reject }] of waiting.entries()) {
        const result = results[index];
        if (result === undefined) reject(new DuctorError('internal', 'a call about a claim has no result'));
        else resolve(result);
      }
    } catch (error) {
      const { class: found } = classify(error);
      if (found === 'lock' && waiting.length > 1) {
        for (const each of waiting) await this.#run(tenantId, [each]);
        return;
      }
      const isOutage = found === 'lock' || found === 'serialization' || found === 'timeout';
      const text = 'the locks of the recipient and the item were not had in time';
      const reason = isOutage ? new DuctorError('capacity_authority_unavailable', text) : error;
      for (const { reject } of waiting) reject(reason);
    }
  }

  /** Runs the transaction of those calls that need one; again, when the database gave it up for another one. */
  async #commit(tenantId: string, calls: readonly ClaimCall[]): Promise<readonly ClaimResult[]> {
    const { waiters, newId, views: poolViews } = this.#parts;
    const db = this.#parts.db.asTenant(tenantId);
    const items = await readItems(db, tenantId, [...new Set(calls.map(({ itemId }) => itemId))]);
    const answers = known(calls, items);
    const open = calls.filter((_, index) => answers[index] === undefined);
    if (open.length === 0) return answers.filter((answer) => answer !== undefined);
    // Pools of items do not change; their views only say which clocks begin.
    const claims = open.flatMap(({ verb, itemId }) => (verb === 'claim' ? (items.get(itemId)?.poolId ?? []) : []));
    const views = await poolViews.pools(tenantId, [...new Set(claims)]);
    for (let repeats = 0; ; repeats += 1) {
      try {
        const parts = { waiters, newId, views, items };
        const results = (await db.transaction((tx) => runClaims(tx, tenantId, open, parts))).values();
        return answers.flatMap((answer) => answer ?? results.next().value ?? []);
      } catch (error) {
        if (classify(error).class !== 'serialization' || repeats >= MAX_REPEATS) throw error;
      }
    }
  }
}
