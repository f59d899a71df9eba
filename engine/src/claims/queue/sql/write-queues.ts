import { impossible } from '../../../kernel/index.js';
import { prepared, uuidArray, type Queryable } from '../../../store/index.js';
import type { ClaimQueue, ClaimQueueFields } from '../claim-queue.js';
import { QUEUE_COLUMNS, toQueue, type QueueRow } from './queue-row.js';

const INSERT = prepared(
  'claims_insert_queue',
  `insert into ductor.claim_queue as q (tenant_id, queue_id, fields) values ($1::uuid, $2::uuid, $3::jsonb)
    on conflict (tenant_id, name) do nothing returning ${QUEUE_COLUMNS}`,
);
const UPDATE = prepared(
  'claims_update_queue',
  `update ductor.claim_queue q set fields = $3::jsonb, record_version = q.record_version + 1,
      updated_at = ductor.now_us()
    where q.tenant_id = $1::uuid and q.queue_id = $2::uuid returning ${QUEUE_COLUMNS}`,
);
const WAITS = prepared(
  'claims_queues_with_work',
  `select distinct i.queue_id from ductor.claim_item i
    where i.tenant_id = $1::uuid and i.queue_id = any($2::uuid[]) and i.state in ('open', 'claimed')`,
);

/** Stores a new queue; undefined: its name is taken. */
export async function insertQueue(
  tx: Queryable,
  tenantId: string,
  queueId: string,
  fields: ClaimQueueFields,
): Promise<ClaimQueue | undefined> {
  const { rows } = await tx.query<QueueRow>(INSERT, [tenantId, queueId, JSON.stringify(fields)]);
  return rows[0] && toQueue(rows[0]);
}

/** Stores what a locked queue is now. Throws what the database throws when another one has the name. */
export async function updateQueue(
  tx: Queryable,
  tenantId: string,
  queueId: string,
  fields: ClaimQueueFields,
): Promise<ClaimQueue> {
  const { rows } = await tx.query<QueueRow>(UPDATE, [tenantId, queueId, JSON.stringify(fields)]);
  return toQueue(rows[0] ?? impossible('claim-queue-gone', 'a queue was gone while its row was locked'));
}

/** Those of locked queues in which work waits, or out of which somebody has work. */
export async function queuesWithWork(
  tx: Queryable,
  tenantId: string,
  queueIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (queueIds.length === 0) return new Set();
  const { rows } = await tx.query<{ queue_id: string }>(WAITS, [tenantId, uuidArray(queueIds)]);
  return new Set(rows.map(({ queue_id }) => queue_id));
}

/** Removes locked queues, and what recipients and teams have used of them. */
export async function deleteQueues(tx: Queryable, tenantId: string, queueIds: readonly string[]): Promise<void> {
  if (queueIds.length === 0) return;
  const ids = [tenantId, uuidArray(queueIds)];
  await tx.query('delete from ductor.claim_queue where tenant_id = $1::uuid and queue_id = any($2::uuid[])', ids);
  await tx.query(
    'delete from ductor.claim_budget_usage where tenant_id = $1::uuid and queue_id = any($2::uuid[])',
    ids,
  );
  await tx.query('delete from ductor.claim_team_usage where tenant_id = $1::uuid and queue_id = any($2::uuid[])', ids);
}
