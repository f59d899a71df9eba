import { uuidArray, type Queryable } from '../../../store/index.js';
import type { ClaimQueueFields } from '../claim-queue.js';

/** A queue as it is to be. */
interface WrittenQueue {
  readonly id: string;
  readonly fields: ClaimQueueFields;
}

const valuesOf = (tenantId: string, queues: readonly WrittenQueue[]): unknown[] => [
  tenantId,
  uuidArray(queues.map(({ id }) => id)),
  queues.map(({ fields }) => JSON.stringify(fields)),
];

/** Stores new queues. Throws what the database throws when a name is taken. */
export async function insertQueues(tx: Queryable, tenantId: string, queues: readonly WrittenQueue[]): Promise<void> {
  if (queues.length === 0) return;
  await tx.query(
    `insert into ductor.claim_queue (tenant_id, queue_id, fields)
      select $1::uuid, n.queue_id, n.fields from unnest($2::uuid[], $3::jsonb[]) as n (queue_id, fields)`,
    valuesOf(tenantId, queues),
  );
}

/** Stores what locked queues are now. */
export async function updateQueues(tx: Queryable, tenantId: string, queues: readonly WrittenQueue[]): Promise<void> {
  if (queues.length === 0) return;
  await tx.query(
    `update ductor.claim_queue q set fields = n.fields, record_version = q.record_version + 1,
        updated_at = ductor.now_us()
      from unnest($2::uuid[], $3::jsonb[]) as n (queue_id, fields)
      where q.tenant_id = $1::uuid and q.queue_id = n.queue_id`,
    valuesOf(tenantId, queues),
  );
}
