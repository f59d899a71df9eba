import type { Queryable } from '../../../store/index.js';
import type { RecipientFields } from '../../objects/recipient.js';
import { keepPools } from './keep-pools.js';

/**
 * Makes these the memberships of a locked recipient, in their order, and keeps the pools from being deleted until the
 * transaction ends.
 *
 * @returns ids of pools that there are not; nothing was changed when there are any
 */
export async function putMemberships(
  tx: Queryable,
  tenantId: string,
  recipientId: string,
  memberships: RecipientFields['memberships'],
): Promise<readonly string[]> {
  const pools = memberships.map(({ pool_id }) => pool_id);
  const missing = await keepPools(tx, tenantId, pools);
  if (missing.length > 0) return missing;
  const fields = memberships.map(({ pool_id: _pool, ...rest }) => JSON.stringify(rest));
  await tx.query(
    `with given as (
        select * from unnest($3::uuid[], $4::jsonb[]) with ordinality as g (pool_id, fields, place)),
      gone as (
        delete from ductor.membership m where m.tenant_id = $1::uuid and m.recipient_id = $2::uuid
          and m.pool_id <> all($3::uuid[]))
      insert into ductor.membership (tenant_id, pool_id, recipient_id, fields, place)
        select $1::uuid, g.pool_id, $2::uuid, g.fields, g.place from given g
        on conflict (tenant_id, pool_id, recipient_id)
          do update set fields = excluded.fields, place = excluded.place`,
    [tenantId, recipientId, pools, fields],
  );
  return [];
}
