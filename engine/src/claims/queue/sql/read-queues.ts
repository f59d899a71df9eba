import { prepared, uuidArray, type Queryable } from '../../../store/index.js';
import type { ClaimQueue } from '../claim-queue.js';
import { QUEUE_COLUMNS, toQueue, type QueueRow } from './queue-row.js';

const FIND_TEXT = `select ${QUEUE_COLUMNS} from ductor.claim_queue q
  where q.tenant_id = $1::uuid and q.queue_id = $2::uuid`;
const FIND = prepared('claims_find_queue', FIND_TEXT);
const LOCK = prepared('claims_lock_queue', `${FIND_TEXT} for update of q`);
const LIST = prepared(
  'claims_list_queues',
  `select ${QUEUE_COLUMNS} from ductor.claim_queue q
    where q.tenant_id = $1::uuid and q.name > $2 order by q.name limit $3`,
);
const LOCK_VERSIONS = prepared(
  'claims_lock_queue_versions',
  `select q.queue_id as id, q.record_version as version from ductor.claim_queue q
    where q.tenant_id = $1::uuid and q.queue_id = any($2::uuid[]) order by q.queue_id for update of q`,
);
const KEEP = prepared(
  'claims_keep_queues',
  `select queue_id from ductor.claim_queue where tenant_id = $1::uuid and queue_id = any($2::uuid[])
    order by queue_id for key share`,
);

/** One queue; undefined when there is none. */
export async function findQueue(db: Queryable, tenantId: string, queueId: string): Promise<ClaimQueue | undefined> {
  const { rows } = await db.query<QueueRow>(FIND, [tenantId, queueId]);
  return rows[0] && toQueue(rows[0]);
}

/** One queue, locked until the transaction ends; undefined when there is none. */
export async function lockQueue(tx: Queryable, tenantId: string, queueId: string): Promise<ClaimQueue | undefined> {
  const { rows } = await tx.query<QueueRow>(LOCK, [tenantId, queueId]);
  return rows[0] && toQueue(rows[0]);
}

/** Queues after a name ('': from the first), by name. */
export async function listQueues(
  db: Queryable,
  tenantId: string,
  { afterName, limit }: { readonly afterName: string; readonly limit: number },
): Promise<readonly ClaimQueue[]> {
  const { rows } = await db.query<QueueRow>(LIST, [tenantId, afterName, limit]);
  return rows.map(toQueue);
}

/** Keeps queues from being removed until the transaction ends; returns ids of those that there are. */
export async function keepQueues(
  tx: Queryable,
  tenantId: string,
  queueIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (queueIds.length === 0) return new Set();
  const { rows } = await tx.query<{ queue_id: string }>(KEEP, [tenantId, uuidArray(queueIds)]);
  return new Set(rows.map(({ queue_id }) => queue_id));
}

/** All queues of a tenant, at most so many, by name. */
export function allQueues(db: Queryable, tenantId: string, limit: number): Promise<readonly ClaimQueue[]> {
  return listQueues(db, tenantId, { afterName: '', limit });
}

/** Locks queues until the transaction ends, in the order of their ids; their versions by id. */
export async function lockQueueVersions(
  tx: Queryable,
  tenantId: string,
  queueIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (queueIds.length === 0) return new Map();
  const ids = uuidArray(queueIds);
  const { rows } = await tx.query<{ id: string; version: number }>(LOCK_VERSIONS, [tenantId, ids]);
  return new Map(rows.map(({ id, version }) => [id, version]));
}
