import { integerArray, prepared, uuidArray, type Queryable } from '../../../store/index.js';
import type { StoredAssignment } from '../stored-assignment.js';

const WRITE = prepared(
  'capacity_write_assignments',
  `update ductor.assignment a set state = n.state, committed_at = n.committed_at, ended_at = n.ended_at
    from unnest($2::uuid[], $3::text[], $4::bigint[], $5::bigint[]) as n (assignment_id, state, committed_at, ended_at)
    where a.tenant_id = $1::uuid and a.assignment_id = n.assignment_id`,
);

/** Stores what assignments are now whose recipients' accounts are locked. */
export async function writeAssignments(
  tx: Queryable,
  tenantId: string,
  assignments: readonly StoredAssignment[],
): Promise<void> {
  if (assignments.length === 0) return;
  await tx.query(WRITE, [
    tenantId,
    uuidArray(assignments.map(({ assignmentId }) => assignmentId)),
    assignments.map(({ state }) => state),
    integerArray(assignments.map(({ committedAtUs }) => committedAtUs)),
    integerArray(assignments.map(({ endedAtUs }) => endedAtUs)),
  ]);
}
