/** What a run holds: for people. */
import { prepared, type Queryable, type Row } from '../../../store/index.js';

/** A recipient that is held. */
export interface Holding {
  readonly recipientId: string;
  readonly recipientName: string;
  readonly poolId: string;
  /** The run of the chain that selected it, and its step. */
  readonly runId: string;
  readonly path: string;
  readonly units: number;
  readonly sinceUs: number;
}

interface HoldingRow extends Row {
  readonly recipient_id: string;
  readonly name: string;
  readonly pool_id: string;
  readonly run_id: string;
  readonly path: string;
  readonly units: number;
  readonly admitted_at: number;
}

const EXPLAIN = prepared(
  'capacity_explain_holding',
  `select v.recipient_id, coalesce(r.fields ->> 'name', '') as name, v.pool_id, v.run_id, v.path, v.units, v.admitted_at
    from ductor.capacity_reservation v
    left join ductor.recipient r on r.tenant_id = v.tenant_id and r.recipient_id = v.recipient_id
    where v.tenant_id = $1::uuid and v.chain_id = $2::uuid order by v.admitted_at, v.digest, v.place limit 200`,
);

/** What a chain holds, the first 200, in the order in which it was reserved. */
export async function explainHolding(db: Queryable, tenantId: string, chainId: string): Promise<readonly Holding[]> {
  const { rows } = await db.query<HoldingRow>(EXPLAIN, [tenantId, chainId]);
  return rows.map((row) => ({
    ...{ recipientId: row.recipient_id, recipientName: row.name, poolId: row.pool_id, runId: row.run_id },
    ...{ path: row.path, units: row.units, sinceUs: row.admitted_at },
  }));
}
