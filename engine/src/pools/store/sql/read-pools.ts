import { prepared, uuidArray, type Queryable } from '../../../store/index.js';
import type { Pool } from '../pool.js';
import { POOL_COLUMNS, toPool, type PoolRow } from './pool-row.js';
import { versionsOf, type VersionRow, type Versions } from './version-row.js';

const FIND = prepared(
  'pools_find_pool',
  `select ${POOL_COLUMNS} from ductor.pool p where p.tenant_id = $1::uuid and p.pool_id = $2::uuid`,
);
const LOCK = prepared(
  'pools_lock_pool',
  `select ${POOL_COLUMNS} from ductor.pool p where p.tenant_id = $1::uuid and p.pool_id = $2::uuid for update of p`,
);
const LIST = prepared(
  'pools_list_pools',
  `select ${POOL_COLUMNS} from ductor.pool p
    where p.tenant_id = $1::uuid and p.name > $2 and ($3::text is null or p.status = $3)
    order by p.name limit $4`,
);
const ALL = prepared(
  'pools_all_pools',
  `select ${POOL_COLUMNS} from ductor.pool p where p.tenant_id = $1::uuid order by p.name limit $2`,
);
const VERSIONS = prepared(
  'pools_lock_pool_versions',
  `select p.pool_id as id, p.record_version as version from ductor.pool p
    where p.tenant_id = $1::uuid and p.pool_id = any($2::uuid[]) order by p.pool_id for update`,
);

/** One pool; undefined when there is none. */
export async function findPool(db: Queryable, tenantId: string, poolId: string): Promise<Pool | undefined> {
  const { rows } = await db.query<PoolRow>(FIND, [tenantId, poolId]);
  return rows[0] && toPool(rows[0]);
}

/** One pool, locked until the transaction ends; undefined when there is none. */
export async function lockPool(tx: Queryable, tenantId: string, poolId: string): Promise<Pool | undefined> {
  const { rows } = await tx.query<PoolRow>(LOCK, [tenantId, poolId]);
  return rows[0] && toPool(rows[0]);
}

/** Pools of a tenant after a name ('': from the first), by name. `status` null: of any. */
export async function listPools(
  db: Queryable,
  tenantId: string,
  { afterName, status, limit }: { readonly afterName: string; readonly status: string | null; readonly limit: number },
): Promise<readonly Pool[]> {
  const { rows } = await db.query<PoolRow>(LIST, [tenantId, afterName, status, limit]);
  return rows.map(toPool);
}

/** The pools of a tenant by name, so many at most. */
export async function allPools(db: Queryable, tenantId: string, limit: number): Promise<readonly Pool[]> {
  const { rows } = await db.query<PoolRow>(ALL, [tenantId, limit]);
  return rows.map(toPool);
}

/** Locks pools until the transaction ends, in the order of their ids; their versions, of those that there are. */
export async function lockPoolVersions(tx: Queryable, tenantId: string, ids: readonly string[]): Promise<Versions> {
  const { rows } = await tx.query<VersionRow>(VERSIONS, [tenantId, uuidArray(ids)]);
  return versionsOf(rows);
}
