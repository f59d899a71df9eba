import type { Queryable } from '../../../store/index.js';

/**
 * How many endpoints a tenant has that have another name. Locks them against others who count until the transaction
 * ends: of two that would be the last one, one is.
 */
export async function countOtherEndpoints(tx: Queryable, tenantId: string, name: string): Promise<number> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('ductor/endpoint/' || $1, 0))`, [tenantId]);
  const { rows } = await tx.query<{ count: number }>(
    'select count(*)::integer as count from ductor.endpoint where tenant_id = $1::uuid and name <> $2',
    [tenantId, name],
  );
  return rows[0]?.count ?? 0;
}
