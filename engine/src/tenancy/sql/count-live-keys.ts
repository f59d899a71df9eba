import type { Queryable } from '../../store/index.js';

/**
 * How many live keys of a tenant have a name. Until the transaction ends nobody else counts keys of this name: two that
 * make one at once see each other's.
 */
export async function countLiveKeys(tx: Queryable, tenantId: string, name: string): Promise<number> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 4720150311005))', [`${tenantId} ${name}`]);
  const { rows } = await tx.query<{ n: number }>(
    `select count(*)::int as n from ductor.api_keys
      where tenant_id = $1::uuid and name = $2 and revoked_at is null
        and (expires_at is null or expires_at > ductor.ductor_now())`,
    [tenantId, name],
  );
  return rows[0]?.n ?? 0;
}
