import { prepared, uuidArray, integerArray, type Queryable, type Row } from '../../../store/index.js';

/** A decision that shadows are to be compared with. */
export interface DueDecision {
  readonly tenantId: string;
  readonly decisionId: string;
}

interface DueRow extends Row {
  readonly tenant_id: string;
  readonly decision_id: string;
}

const INSERT = prepared(
  'routing_insert_shadow_due',
  `insert into ductor.shadow_due (tenant_id, decision_id, decided_at)
    select $1::uuid, n.id, n.at from unnest($2::uuid[], $3::bigint[]) as n (id, at)`,
);
const TAKE = prepared(
  'routing_take_shadow_due',
  `delete from ductor.shadow_due d
    using (select tenant_id, decision_id from ductor.shadow_due order by decided_at limit $1 for update skip locked) n
    where d.tenant_id = n.tenant_id and d.decision_id = n.decision_id
    returning d.tenant_id, d.decision_id`,
);

const HAS = prepared('routing_has_shadow_due', 'select exists (select 1 from ductor.shadow_due) as has');

/** Whether any wait, of any tenant: one statement, for nodes that have nothing to do. */
export async function hasShadowDue(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ readonly has: boolean }>(HAS);
  return rows[0]?.has === true;
}

/** Notes decisions, in the transaction that makes them. */
export async function insertShadowDue(
  tx: Queryable,
  tenantId: string,
  decisions: readonly { readonly decisionId: string; readonly decidedAtUs: number }[],
): Promise<void> {
  if (decisions.length === 0) return;
  await tx.query(INSERT, [
    tenantId,
    uuidArray(decisions.map(({ decisionId }) => decisionId)),
    integerArray(decisions.map(({ decidedAtUs }) => decidedAtUs)),
  ]);
}

/** Takes some, oldest first, of all tenants; those that another node takes right now are left to it. */
export async function takeShadowDue(tx: Queryable, limit: number): Promise<readonly DueDecision[]> {
  const { rows } = await tx.query<DueRow>(TAKE, [limit]);
  return rows.map((row) => ({ tenantId: row.tenant_id, decisionId: row.decision_id }));
}
