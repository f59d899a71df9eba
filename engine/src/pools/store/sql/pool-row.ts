import type { Row } from '../../../store/index.js';
import type { PoolFields } from '../../objects/pool.js';
import type { Pool } from '../pool.js';

/** Columns of a pool `p`, its members with it. */
export const POOL_COLUMNS = `p.tenant_id, p.pool_id, p.fields, p.killed_at, p.killed_by, p.kill_reason,
  p.record_version, p.created_at, p.updated_at, array(
    select m.recipient_id from ductor.membership m
      where m.tenant_id = p.tenant_id and m.pool_id = p.pool_id order by m.recipient_id) as recipient_ids`;

/** A row of them. */
export interface PoolRow extends Row {
  readonly tenant_id: string;
  readonly pool_id: string;
  readonly fields: PoolFields;
  readonly killed_at: number | null;
  readonly killed_by: string | null;
  readonly kill_reason: string | null;
  readonly record_version: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly recipient_ids: readonly string[];
}

/** The pool that a row holds. */
export function toPool(row: PoolRow): Pool {
  const { killed_at: atUs, killed_by: by, kill_reason: reason } = row;
  return {
    ...{ tenantId: row.tenant_id, poolId: row.pool_id, fields: row.fields },
    killSwitch: atUs === null ? null : { atUs, by: by ?? '', reason: reason ?? '' },
    ...{ recipientIds: row.recipient_ids, recordVersion: row.record_version },
    ...{ createdAtUs: row.created_at, updatedAtUs: row.updated_at },
  };
}
