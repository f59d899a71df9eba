import { prepared, uuidArray, type Queryable, type Row } from '../../store/index.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const FIND = prepared(
  'gate_find_pools',
  `select p.pool_id, p.name from ductor.pool p where p.tenant_id = $1::uuid and p.name = any($2::text[])
    union all
    select p.pool_id, p.pool_id::text from ductor.pool p where p.tenant_id = $1::uuid and p.pool_id = any($3::uuid[])`,
);

/** Ids of pools by the names or ids that they are asked for; one that there is not is absent. An id goes first. */
export async function findPools(
  db: Queryable,
  tenantId: string,
  asked: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (asked.length === 0) return new Map();
  const ids = asked.filter((each) => UUID.test(each)).map((each) => each.toLowerCase());
  const { rows } = await db.query<Row & { pool_id: string; name: string }>(FIND, [tenantId, asked, uuidArray(ids)]);
  const byName = new Map(rows.map(({ pool_id: id, name }) => [name, id]));
  return new Map(
    asked.flatMap((each): [string, string][] => {
      const id = byName.get(each.toLowerCase()) ?? byName.get(each);
      return id === undefined ? [] : [[each, id]];
    }),
  );
}
