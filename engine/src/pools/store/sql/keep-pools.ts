import type { Queryable } from '../../../store/index.js';

/**
 * Keeps pools from being deleted until the transaction ends.
 *
 * @returns ids of pools that there are not
 */
export async function keepPools(
  tx: Queryable,
  tenantId: string,
  poolIds: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await tx.query<{ pool_id: string }>(
    `select pool_id from ductor.pool where tenant_id = $1::uuid and pool_id = any($2::uuid[])
      order by pool_id for key share`,
    [tenantId, poolIds],
  );
  return poolIds.filter((id) => !rows.some(({ pool_id }) => pool_id === id));
}
