/** What active work waits for, as those say who do it. */
import { DuctorError } from '../../kernel/index.js';
import type { Queryable } from '../../store/index.js';
import { deedOf, insertAudit } from '../../tenancy/index.js';
import type { AssignmentCaller } from './assignments.js';
import type { StoredAssignment } from './stored-assignment.js';
import { readAssignments } from './sql/read-assignments.js';
import { writeWorkState } from './sql/work-state.js';

/** What is said of one assignment. */
export interface WorkStateChange {
  readonly assignmentId: string;
  /** null: it waits for nothing any more. */
  readonly workState: string | null;
  /** For the audit trail. */
  readonly reason: string;
}

/**
 * Notes it within a transaction, which then has the assignment's row to itself; again is fine and changes nothing.
 *
 * @throws DuctorError not_found, assignment_state_conflict
 */
export async function setWorkState(
  tx: Queryable,
  { by, method }: AssignmentCaller,
  { assignmentId, workState, reason }: WorkStateChange,
): Promise<{ readonly assignment: StoredAssignment; readonly isNew: boolean }> {
  const { tenantId } = by;
  const isNew = await writeWorkState(tx, tenantId, assignmentId, workState);
  const assignment = (await readAssignments(tx, tenantId, [assignmentId])).get(assignmentId);
  if (assignment === undefined) throw new DuctorError('not_found', `there is no assignment ${assignmentId}`);
  if (!isNew && (assignment.state !== 'active' || assignment.workState !== workState)) {
    const message = `assignment ${assignmentId} is ${assignment.state}: only active work waits for something`;
    throw new DuctorError('assignment_state_conflict', message);
  }
  const deed = { ...deedOf(by, method, reason), tenantId, objectKind: 'assignment', objectId: assignmentId } as const;
  if (isNew) await insertAudit(tx, [{ ...deed, outcome: 'ok' }]);
  return { assignment, isNew };
}
