import { isUuid } from '../../../kernel/index.js';
import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';

const FIND = prepared(
  'pools_find_pool_ids',
  `select p.pool_id, p.name from ductor.pool p where p.tenant_id = $1::uuid and p.name = any($2::text[])
    union all
    select p.pool_id, p.pool_id::text from ductor.pool p where p.tenant_id = $1::uuid and p.pool_id = any($3::uuid[])`,
);

/** Ids of pools by the names or ids that they are asked for; one that there is not is absent. An id goes first. */
export async function findPoolIds(
  db: Queryable,
  tenantId: string,
  asked: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (asked.length === 0) return new Map();
  const ids = asked.map((each) => each.toLowerCase()).filter(isUuid);
  const { rows } = await db.query<Row & { pool_id: string; name: string }>(FIND, [tenantId, asked, uuidArray(ids)]);
  const byName = new Map(rows.map(({ pool_id: id, name }) => [name, id]));
  return new Map(
    asked.flatMap((each): [string, string][] => {
      const id = byName.get(each.toLowerCase()) ?? byName.get(each);
      return id === undefined ? [] : [[each, id]];
    }),
  );
}
