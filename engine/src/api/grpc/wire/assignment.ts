/** Assignments as messages. */
import { AssignmentState as State, type Assignment } from '../../../gen/ductor/v1/assignment.js';
import type { AssignmentState, StoredAssignment } from '../../../capacity/index.js';
import { timestampOf } from './timestamp.js';

/** States of assignments by name. */
export const ASSIGNMENT_STATES: Readonly<Record<AssignmentState, State>> = {
  offered: State.ASSIGNMENT_STATE_OFFERED,
  active: State.ASSIGNMENT_STATE_ACTIVE,
  completed: State.ASSIGNMENT_STATE_COMPLETED,
  declined: State.ASSIGNMENT_STATE_DECLINED,
  released: State.ASSIGNMENT_STATE_RELEASED,
};

/** An assignment as a message. */
export function assignmentMessage(assignment: StoredAssignment): Assignment {
  const { assignmentId: id, recipientId, poolId, decisionId, routableId, units, state } = assignment;
  const { createdAtUs, committedAtUs, endedAtUs } = assignment;
  return {
    ...{ id, recipientId, poolId, decisionId, routableId, units, state: ASSIGNMENT_STATES[state] },
    createdAt: timestampOf(createdAtUs),
    committedAt: committedAtUs === null ? undefined : timestampOf(committedAtUs),
    endedAt: endedAtUs === null ? undefined : timestampOf(endedAtUs),
  };
}
