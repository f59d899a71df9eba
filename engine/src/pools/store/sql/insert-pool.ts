import type { Queryable } from '../../../store/index.js';
import type { PoolFields } from '../../objects/pool.js';
import type { Pool } from '../pool.js';
import { POOL_COLUMNS, toPool, type PoolRow } from './pool-row.js';

/** Stores a new pool; undefined: its name is taken. */
export async function insertPool(
  tx: Queryable,
  tenantId: string,
  poolId: string,
  fields: PoolFields,
): Promise<Pool | undefined> {
  const { rows } = await tx.query<PoolRow>(
    `insert into ductor.pool as p (tenant_id, pool_id, fields) values ($1::uuid, $2::uuid, $3::jsonb)
      on conflict (tenant_id, name) do nothing returning ${POOL_COLUMNS}`,
    [tenantId, poolId, JSON.stringify(fields)],
  );
  return rows[0] && toPool(rows[0]);
}
