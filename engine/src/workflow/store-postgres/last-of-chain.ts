/** The last run of a chain: the only one that can be open. */
import { type Queryable, type Row, prepared } from '../../store/index.js';
import type { RunKey } from '../coordinator/ports.js';

const LAST_OF_CHAIN = prepared(
  'last_of_chain',
  `select coalesce((
    select c.run_id from ductor.runs c
    where c.tenant_id = r.tenant_id and c.chain_id = coalesce(r.chain_id, r.run_id)
    order by c.chain_no desc limit 1), r.run_id) as run_id
  from ductor.runs r where r.tenant_id = $1::uuid and r.run_id = $2::uuid`,
);

/** See RunReader.lastOfChain. */
export async function lastOfChain(db: Queryable, key: RunKey): Promise<RunKey> {
  const { rows } = await db.query<Row & { run_id: string }>(LAST_OF_CHAIN, [key.tenantId, key.runId]);
  return { tenantId: key.tenantId, runId: rows[0]?.run_id ?? key.runId };
}
