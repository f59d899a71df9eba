import type { Row } from '../../../store/index.js';
import type { ClaimQueue, ClaimQueueFields } from '../claim-queue.js';

/** Columns of a queue `q`. */
export const QUEUE_COLUMNS = 'q.tenant_id, q.queue_id, q.fields, q.record_version, q.created_at, q.updated_at';

/** A row of them. */
export interface QueueRow extends Row {
  readonly tenant_id: string;
  readonly queue_id: string;
  readonly fields: ClaimQueueFields;
  readonly record_version: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The queue that a row holds. */
export function toQueue(row: QueueRow): ClaimQueue {
  return {
    ...{ tenantId: row.tenant_id, id: row.queue_id, version: row.record_version, fields: row.fields },
    ...{ createdAtUs: row.created_at, updatedAtUs: row.updated_at },
  };
}
