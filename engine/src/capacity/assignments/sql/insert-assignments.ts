import { BatchBlob, integerArray, prepared, uuidArray, type Queryable } from '../../../store/index.js';
import type { StoredAssignment } from '../stored-assignment.js';

const INSERT = prepared(
  'capacity_insert_assignments',
  `insert into ductor.assignment (tenant_id, assignment_id, recipient_id, pool_id, decision_id, routable_id, units,
      state, created_at, committed_at, run_id, claim_item_id, ends_with)
    select $1::uuid, n.assignment_id, n.recipient_id, n.pool_id, n.decision_id,
        convert_from(substring($2::bytea from n.o + 1 for n.l), 'UTF8'), n.units,
        case when n.committed_at is null then 'offered' else 'active' end, n.created_at, n.committed_at,
        n.run_id, n.claim_item_id, n.ends_with
      from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::integer[], $8::integer[], $9::integer[],
        $10::bigint[], $11::bigint[], $12::uuid[], $13::uuid[], $14::uuid[])
        as n (assignment_id, recipient_id, pool_id, decision_id, o, l, units, created_at, committed_at, run_id,
          claim_item_id, ends_with)`,
);

/** Stores new assignments that are offered or active, without reservations behind them. */
export async function insertAssignments(
  tx: Queryable,
  tenantId: string,
  assignments: readonly StoredAssignment[],
): Promise<void> {
  if (assignments.length === 0) return;
  const blob = new BatchBlob();
  const slices = assignments.map(({ routableId }) => blob.append(Buffer.from(routableId, 'utf8')));
  const ids = (idOf: (each: StoredAssignment) => string | null): string => uuidArray(assignments.map(idOf));
  const numbers = (valueOf: (each: StoredAssignment) => number | null): string =>
    integerArray(assignments.map(valueOf));
  await tx.query(INSERT, [
    tenantId,
    blob.toBuffer(),
    ids(({ assignmentId }) => assignmentId),
    ids(({ recipientId }) => recipientId),
    ids(({ poolId }) => poolId),
    ids(({ decisionId }) => decisionId),
    integerArray(slices.map(({ offset }) => offset)),
    integerArray(slices.map(({ length }) => length)),
    numbers(({ units }) => units),
    numbers(({ createdAtUs }) => createdAtUs),
    numbers(({ committedAtUs }) => committedAtUs),
    ids(({ runId }) => runId),
    ids(({ claimItemId }) => claimItemId),
    ids(({ endsWith }) => endsWith),
  ]);
}
