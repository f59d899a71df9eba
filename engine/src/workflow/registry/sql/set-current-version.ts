import { impossible } from '../../../kernel/index.js';
import type { Queryable } from '../../../store/index.js';
import type { WorkflowRecord } from '../records.js';
import { toRecord, WORKFLOW_COLUMNS, type WorkflowRow } from './workflow-row.js';

/** Makes a version the current one of a workflow whose row the transaction has locked. */
export async function setCurrentVersion(
  tx: Queryable,
  tenantId: string,
  workflowId: string,
  version: number,
  title: string,
): Promise<WorkflowRecord> {
  const { rows } = await tx.query<WorkflowRow>(
    `update ductor.workflow
      set current_version = $3, title = $4, record_version = record_version + 1, updated_at = ductor.now_us()
      where tenant_id = $1::uuid and workflow_id = $2::uuid returning ${WORKFLOW_COLUMNS}`,
    [tenantId, workflowId, version, title],
  );
  return rows[0] === undefined ? impossible('registry-set-current', 'a locked row is gone') : toRecord(rows[0]);
}
