import type { Row } from '../../../store/index.js';
import type { AssignmentState } from '../../authority/assignment.js';
import type { StoredAssignment } from '../stored-assignment.js';

/** Columns of an assignment `a`. */
export const ASSIGNMENT_COLUMNS = `a.tenant_id, a.assignment_id, a.recipient_id, a.pool_id, a.decision_id,
  a.routable_id, a.units, a.state, a.is_reserved, a.pinned, a.created_at, a.committed_at, a.responded_at,
  a.ended_at, a.run_id, a.claim_item_id, a.work_state,
  a.ends_with`;

/** A row of them. */
export interface AssignmentRow extends Row {
  readonly tenant_id: string;
  readonly assignment_id: string;
  readonly recipient_id: string;
  readonly pool_id: string;
  readonly decision_id: string;
  readonly routable_id: string;
  readonly units: number;
  readonly state: AssignmentState;
  readonly is_reserved: boolean;
  readonly pinned: number;
  readonly created_at: number;
  readonly committed_at: number | null;
  readonly responded_at: number | null;
  readonly ended_at: number | null;
  readonly run_id: string | null;
  readonly claim_item_id: string | null;
  readonly work_state: string | null;
  readonly ends_with: string | null;
}

/** The assignment that a row holds. */
export function toAssignment(row: AssignmentRow): StoredAssignment {
  return {
    ...{ tenantId: row.tenant_id, assignmentId: row.assignment_id, recipientId: row.recipient_id },
    ...{ poolId: row.pool_id, decisionId: row.decision_id, routableId: row.routable_id, units: row.units },
    ...{ state: row.state, isReserved: row.is_reserved, pinned: row.pinned },
    ...{ createdAtUs: row.created_at, committedAtUs: row.committed_at },
    ...{ respondedAtUs: row.responded_at, endedAtUs: row.ended_at, runId: row.run_id },
    ...{ claimItemId: row.claim_item_id, workState: row.work_state, endsWith: row.ends_with },
  };
}
