import type { Queryable } from '../../../store/index.js';
import type { WorkflowRecord } from '../records.js';
import { toRecord, WORKFLOW_COLUMNS, type WorkflowRow } from './workflow-row.js';

/** Workflows of a tenant after a slug, in order of slugs, at most `limit`. */
export async function listWorkflows(
  db: Queryable,
  tenantId: string,
  afterSlug: string,
  limit: number,
): Promise<readonly WorkflowRecord[]> {
  const { rows } = await db.query<WorkflowRow>(
    `select ${WORKFLOW_COLUMNS} from ductor.workflow
      where tenant_id = $1::uuid and family_slug > $2 order by family_slug limit $3`,
    [tenantId, afterSlug, limit],
  );
  return rows.map(toRecord);
}
