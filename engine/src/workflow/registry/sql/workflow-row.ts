/** Rows of `workflow`. */
import type { Row } from '../../../store/index.js';
import { storedDefinition, type WorkflowRecord } from '../records.js';

/** Columns of a whole row, in every statement that answers one. */
export const WORKFLOW_COLUMNS = `workflow_id::text, family_slug, title, current_version, draft, record_version,
  created_at, updated_at`;

/** A whole row. */
export interface WorkflowRow extends Row {
  readonly workflow_id: string;
  readonly family_slug: string;
  readonly title: string;
  readonly current_version: number;
  readonly draft: Buffer | null;
  readonly record_version: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The row as others see it. */
export function toRecord(row: WorkflowRow): WorkflowRecord {
  return {
    id: row.workflow_id,
    familySlug: row.family_slug,
    title: row.title,
    currentVersion: row.current_version,
    draft: row.draft === null ? null : storedDefinition(row.draft),
    recordVersion: row.record_version,
    createdAtUs: row.created_at,
    updatedAtUs: row.updated_at,
  };
}

/** How a workflow is named from outside. */
export interface WorkflowKey {
  readonly tenantId: string;
  /** Exactly one of the two is set. */
  readonly workflowId: string | null;
  readonly familySlug: string | null;
}

/** Condition for $1 tenant, $2 id or null, $3 slug or null; each half uses its own index. */
export const BY_KEY = `tenant_id = $1::uuid and (workflow_id = $2::uuid or family_slug = $3)`;

/** Parameters of BY_KEY. */
export function keyValues(key: WorkflowKey): readonly (string | null)[] {
  return [key.tenantId, key.workflowId, key.familySlug];
}
