/** Assignments as messages. */
import { AssignmentState as State, type Assignment, type AssignmentClock } from '../../../gen/ductor/v1/assignment.js';
import type { AssignmentState, StoredAssignment } from '../../../capacity/index.js';
import type { StoredClock } from '../../../routing/index.js';
import { timestampOf } from './timestamp.js';

/** States of assignments by name. */
export const ASSIGNMENT_STATES: Readonly<Record<AssignmentState, State>> = {
  offered: State.ASSIGNMENT_STATE_OFFERED,
  active: State.ASSIGNMENT_STATE_ACTIVE,
  completed: State.ASSIGNMENT_STATE_COMPLETED,
  declined: State.ASSIGNMENT_STATE_DECLINED,
  released: State.ASSIGNMENT_STATE_RELEASED,
};

const timeOf = (us: number | null) => (us === null ? undefined : timestampOf(us));

function clockMessage(clock: StoredClock): AssignmentClock {
  const { clause, warnUs, dueUs, warnedUs, breachedUs, settledUs, pausedUs, escalateBy } = clock;
  return {
    ...{ pausedAt: timeOf(pausedUs), raisedPriorityBy: breachedUs === null ? 0 : escalateBy },
    ...{ clause, warnAt: timestampOf(warnUs), dueAt: timestampOf(dueUs) },
    ...{ warnedAt: timeOf(warnedUs), breachedAt: timeOf(breachedUs), settledAt: timeOf(settledUs) },
  };
}

/** An assignment as a message. */
export function assignmentMessage(assignment: StoredAssignment, clocks: readonly StoredClock[] = []): Assignment {
  const { assignmentId: id, recipientId, poolId, decisionId, routableId, units, state } = assignment;
  const { createdAtUs, committedAtUs, respondedAtUs, endedAtUs } = assignment;
  return {
    ...{ runId: assignment.runId ?? '', workState: assignment.workState ?? '' },
    ...{ id, recipientId, poolId, decisionId, routableId, units, state: ASSIGNMENT_STATES[state] },
    createdAt: timestampOf(createdAtUs),
    ...{ committedAt: timeOf(committedAtUs), respondedAt: timeOf(respondedAtUs), endedAt: timeOf(endedAtUs) },
    clocks: clocks.filter((clock) => clock.assignmentId === id).map(clockMessage),
  };
}
