import type { Queryable } from '../../../store/index.js';
import type { WorkflowRecord } from '../records.js';
import { toRecord, WORKFLOW_COLUMNS, type WorkflowRow } from './workflow-row.js';

/** Replaces the draft and the title of a workflow; undefined when there is none. */
export async function updateDraft(
  db: Queryable,
  tenantId: string,
  workflowId: string,
  title: string,
  draft: Buffer,
): Promise<WorkflowRecord | undefined> {
  const { rows } = await db.query<WorkflowRow>(
    `update ductor.workflow
      set draft = $4, title = $3, record_version = record_version + 1, updated_at = ductor.now_us()
      where tenant_id = $1::uuid and workflow_id = $2::uuid returning ${WORKFLOW_COLUMNS}`,
    [tenantId, workflowId, title, draft],
  );
  return rows[0] === undefined ? undefined : toRecord(rows[0]);
}
