import { prepared, type Queryable } from '../../../store/index.js';
import type { WorkflowRecord } from '../records.js';
import { toRecord, WORKFLOW_COLUMNS, type WorkflowRow } from './workflow-row.js';

/** A workflow to make. */
export interface NewWorkflow {
  readonly tenantId: string;
  readonly workflowId: string;
  readonly familySlug: string;
  readonly title: string;
  readonly draft: Buffer | null;
}

const INSERT = prepared(
  'registry_insert_workflow',
  `insert into ductor.workflow (tenant_id, workflow_id, family_slug, title, draft)
    values ($1::uuid, $2::uuid, $3, $4, $5) on conflict (tenant_id, family_slug) do nothing
    returning ${WORKFLOW_COLUMNS}`,
);

/** Makes a workflow; undefined when the slug is taken. */
export async function insertWorkflow(db: Queryable, workflow: NewWorkflow): Promise<WorkflowRecord | undefined> {
  const { tenantId, workflowId, familySlug, title, draft } = workflow;
  const { rows } = await db.query<WorkflowRow>(INSERT, [tenantId, workflowId, familySlug, title, draft]);
  return rows[0] === undefined ? undefined : toRecord(rows[0]);
}
