import { uuidArray, type Queryable } from '../../../store/index.js';
import type { PoolFields } from '../../objects/pool.js';

/** A pool as it is to be. */
export interface WrittenPool {
  readonly id: string;
  readonly fields: PoolFields;
}

const valuesOf = (tenantId: string, pools: readonly WrittenPool[]): unknown[] => [
  tenantId,
  uuidArray(pools.map(({ id }) => id)),
  pools.map(({ fields }) => JSON.stringify(fields)),
];

/** Stores new pools. Throws what the database throws when a name is taken. */
export async function insertPools(tx: Queryable, tenantId: string, pools: readonly WrittenPool[]): Promise<void> {
  if (pools.length === 0) return;
  await tx.query(
    `insert into ductor.pool (tenant_id, pool_id, fields)
      select $1::uuid, n.pool_id, n.fields from unnest($2::uuid[], $3::jsonb[]) as n (pool_id, fields)`,
    valuesOf(tenantId, pools),
  );
}

/** Stores what locked pools are now. */
export async function updatePools(tx: Queryable, tenantId: string, pools: readonly WrittenPool[]): Promise<void> {
  if (pools.length === 0) return;
  await tx.query(
    `update ductor.pool p set fields = n.fields, record_version = p.record_version + 1, updated_at = ductor.now_us()
      from unnest($2::uuid[], $3::jsonb[]) as n (pool_id, fields)
      where p.tenant_id = $1::uuid and p.pool_id = n.pool_id`,
    valuesOf(tenantId, pools),
  );
}
