import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import { isUuid } from '../../../kernel/index.js';

const READ = prepared(
  'pools_read_limits',
  `select distinct r.recipient_id, (r.fields -> 'capacity' ->> 'max_concurrent')::integer as max_concurrent
    from ductor.pool p
    join ductor.membership m on m.tenant_id = p.tenant_id and m.pool_id = p.pool_id
    join ductor.recipient r on r.tenant_id = m.tenant_id and r.recipient_id = m.recipient_id
    where p.tenant_id = $1::uuid and (p.name = any($2::text[]) or p.pool_id = any($3::uuid[]))
      and (r.fields -> 'capacity' ->> 'max_concurrent')::integer > 0`,
);

/**
 * Concurrency limits of the recipients of pools, units, by recipient; of those who have one.
 *
 * @param pools names or ids; those that there are not have nobody
 */
export async function readLimits(
  db: Queryable,
  tenantId: string,
  pools: readonly string[],
): Promise<Readonly<Record<string, number>>> {
  const ids = pools.filter(isUuid).map((id) => id.toLowerCase());
  const { rows } = await db.query<Row & { recipient_id: string; max_concurrent: number }>(READ, [
    ...[tenantId, pools],
    uuidArray(ids),
  ]);
  return Object.fromEntries(rows.map((row) => [row.recipient_id, row.max_concurrent]));
}
