import { impossible } from '../../../kernel/index.js';
import type { Queryable } from '../../../store/index.js';
import type { PoolFields } from '../../objects/pool.js';
import type { KillSwitch, Pool } from '../pool.js';
import { POOL_COLUMNS, toPool, type PoolRow } from './pool-row.js';

const CHANGED = 'record_version = p.record_version + 1, updated_at = ductor.now_us()';
const THIS_ONE = 'where p.tenant_id = $1::uuid and p.pool_id = $2::uuid';

function changed(rows: readonly PoolRow[]): Pool {
  return toPool(rows[0] ?? impossible('pool-gone', 'a pool was gone while its row was locked'));
}

/** Stores what a locked pool is now. Throws what the database throws when another one has the name. */
export async function updatePool(tx: Queryable, tenantId: string, poolId: string, fields: PoolFields): Promise<Pool> {
  const { rows } = await tx.query<PoolRow>(
    `update ductor.pool p set fields = $3::jsonb, ${CHANGED} ${THIS_ONE} returning ${POOL_COLUMNS}`,
    [tenantId, poolId, JSON.stringify(fields)],
  );
  return changed(rows);
}

/** Sets the kill switch of a locked pool; null: off. Its time is the database's. */
export async function setKillSwitch(
  tx: Queryable,
  tenantId: string,
  poolId: string,
  kill: Omit<KillSwitch, 'atUs'> | null,
): Promise<Pool> {
  const { rows } = await tx.query<PoolRow>(
    `update ductor.pool p set killed_at = case when $3 then ductor.now_us() end, killed_by = $4, kill_reason = $5,
        ${CHANGED} ${THIS_ONE} returning ${POOL_COLUMNS}`,
    [tenantId, poolId, kill !== null, kill?.by ?? null, kill?.reason ?? null],
  );
  return changed(rows);
}
