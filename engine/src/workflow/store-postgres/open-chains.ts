/** Which chains of runs are open. */
import type { Ending } from '../../routing/index.js';
import { prepared, uuidArray, type Queryable, type Row } from '../../store/index.js';

const OPEN = prepared(
  'open_chains',
  `select k.n::int - 1 as n
    from unnest($1::uuid[], $2::uuid[]) with ordinality as k (tenant_id, chain_id, n)
    where exists (select 1 from ductor.runs r
        where r.tenant_id = k.tenant_id and r.run_id = k.chain_id and r.closed_at is null)
      or exists (select 1 from ductor.runs c
        where c.tenant_id = k.tenant_id and c.chain_id = k.chain_id and c.closed_at is null)`,
);

/** Those of some chains of which a run is open. A first run that is not kept any more does not close its chain. */
export async function openChains<C extends Ending>(db: Queryable, chains: readonly C[]): Promise<ReadonlySet<C>> {
  if (chains.length === 0) return new Set();
  const { rows } = await db.query<Row & { n: number }>(OPEN, [
    uuidArray(chains.map(({ tenantId }) => tenantId)),
    uuidArray(chains.map(({ chainId }) => chainId)),
  ]);
  return new Set(rows.flatMap(({ n }) => chains[n] ?? []));
}
