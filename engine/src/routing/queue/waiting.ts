/** What waits in queues of pools, for those who ask. */
import { DuctorError } from '../../kernel/index.js';
import type { TenantAccess } from '../../store/index.js';
import { deedOf, insertAudit, type Principal } from '../../tenancy/index.js';
import { listWaiting, readDepths, readWaiting, type ListedWork, type WaitingQuery } from './sql/read-waiting.js';
import type { QueueWaiters } from './queue-waiters.js';
import { removeWaiting } from './sql/write-waiting.js';

/** See above. Ids of other tenants answer not_found, as those of nothing do. */
export interface Waiting {
  /** What waits in a queue, in its order. */
  list(tenantId: string, query: WaitingQuery): Promise<readonly ListedWork[]>;
  /** How much waits in the queue of a pool. */
  depth(tenantId: string, poolId: string): Promise<number>;
  /** Throws not_found. */
  get(tenantId: string, decisionId: string): Promise<ListedWork>;
  /**
   * Takes work out of its queue: nothing comes of it. Doing it again changes nothing. Throws not_found,
   * waiting_state_conflict.
   */
  remove(caller: WaitingCaller, decisionId: string, reason: string): Promise<ListedWork>;
}

/** Who takes work out of a queue. */
export interface WaitingCaller {
  readonly by: Principal;
  /** Full name of the RPC, for the audit trail. */
  readonly method: string;
}

function unknown(decisionId: string): DuctorError {
  return new DuctorError('not_found', `decision ${decisionId} queued no work`);
}

/** Waiting work in this database. */
export function createWaiting(db: TenantAccess, waiters: QueueWaiters): Waiting {
  const get = async (tenantId: string, decisionId: string): Promise<ListedWork> => {
    const found = await readWaiting(db.asTenant(tenantId), tenantId, decisionId);
    if (found === undefined) throw unknown(decisionId);
    return found;
  };
  return {
    get,
    list: (tenantId, query) => listWaiting(db.asTenant(tenantId), tenantId, query),
    async depth(tenantId, poolId) {
      return (await readDepths(db.asTenant(tenantId), tenantId, [poolId])).get(poolId) ?? 0;
    },
    remove: ({ by, method }, decisionId, reason) =>
      db.asTenant(by.tenantId).transaction(async (tx) => {
        const { tenantId } = by;
        const removed = await removeWaiting(tx, tenantId, [decisionId]);
        const left = removed.flatMap(({ firstId: workId, waiter }) =>
          waiter === null ? [] : [{ waiter, workId, came: { kind: 'removed', reason } as const }],
        );
        await waiters.told(tx, tenantId, left);
        const found = await readWaiting(tx, tenantId, decisionId);
        if (found === undefined) throw unknown(decisionId);
        if (found.state === 'decided') {
          const message = `the work of decision ${decisionId} waits no more: it came to decision ${found.decidedAs}`;
          throw new DuctorError('waiting_state_conflict', message, {
            remedy: 'Release the assignment, if that made one.',
          });
        }
        const deed = { ...deedOf(by, method, reason), tenantId };
        if (removed.length > 0)
          await insertAudit(tx, [{ ...deed, objectKind: 'waiting_work', objectId: decisionId, outcome: 'ok' }]);
        return found;
      }),
  };
}
