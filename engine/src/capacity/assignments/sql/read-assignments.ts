import { prepared, uuidArray, type Queryable } from '../../../store/index.js';
import type { AssignmentState } from '../../authority/assignment.js';
import type { StoredAssignment } from '../stored-assignment.js';
import { ASSIGNMENT_COLUMNS, toAssignment, type AssignmentRow } from './assignment-row.js';

const READ = prepared(
  'capacity_read_assignments',
  `select ${ASSIGNMENT_COLUMNS} from ductor.assignment a
    where a.tenant_id = $1::uuid and a.assignment_id = any($2::uuid[])`,
);
const LIST = prepared(
  'capacity_list_assignments',
  `select ${ASSIGNMENT_COLUMNS} from ductor.assignment a
    where a.tenant_id = $1::uuid and ($2::uuid is null or a.recipient_id = $2::uuid)
      and ($3::uuid is null or a.pool_id = $3::uuid) and ($4::text is null or a.state = $4::text)
      and ($5::bigint is null or (a.created_at, a.assignment_id) < ($5::bigint, $6::uuid))
      and ($7::uuid is null or a.run_id = $7::uuid)
    order by a.created_at desc, a.assignment_id desc limit $8`,
);

/** Which assignments. */
export interface AssignmentQuery {
  /** null: of any. */
  readonly recipientId: string | null;
  /** null: of any. */
  readonly poolId: string | null;
  /** The run whose step made it; null: whoever did. */
  readonly runId: string | null;
  /** null: in any. */
  readonly state: AssignmentState | null;
  /** The last one of the page before; null: from the first. */
  readonly before: { readonly createdAtUs: number; readonly assignmentId: string } | null;
  readonly limit: number;
}

/** Assignments by id; those that there are not are absent. */
export async function readAssignments(
  db: Queryable,
  tenantId: string,
  assignmentIds: readonly string[],
): Promise<ReadonlyMap<string, StoredAssignment>> {
  const { rows } = await db.query<AssignmentRow>(READ, [tenantId, uuidArray(assignmentIds)]);
  return new Map(rows.map((row) => [row.assignment_id, toAssignment(row)]));
}

/** Assignments, latest first. */
export async function listAssignments(
  db: Queryable,
  tenantId: string,
  { recipientId, poolId, runId, state, before, limit }: AssignmentQuery,
): Promise<readonly StoredAssignment[]> {
  const place = [before?.createdAtUs ?? null, before?.assignmentId ?? null];
  const { rows } = await db.query<AssignmentRow>(LIST, [
    ...[tenantId, recipientId, poolId, state, ...place],
    ...[runId, limit],
  ]);
  return rows.map(toAssignment);
}
