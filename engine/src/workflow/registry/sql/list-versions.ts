import type { Queryable } from '../../../store/index.js';
import { storedDefinition, type WorkflowVersionRecord } from '../records.js';

interface VersionRow extends Record<string, unknown> {
  readonly version: number;
  readonly digest: string;
  readonly definition: Buffer;
  readonly published_at: number;
}

/** Versions of a workflow before one (0: from the newest), newest first, at most `limit`. */
export async function listVersions(
  db: Queryable,
  tenantId: string,
  workflowId: string,
  beforeVersion: number,
  limit: number,
): Promise<readonly WorkflowVersionRecord[]> {
  const { rows } = await db.query<VersionRow>(
    `select version, encode(digest, 'hex') as digest, definition, published_at from ductor.workflow_version
      where tenant_id = $1::uuid and workflow_id = $2::uuid and ($3 = 0 or version < $3)
      order by version desc limit $4`,
    [tenantId, workflowId, beforeVersion, limit],
  );
  return rows.map((row) => ({
    version: row.version,
    digest: row.digest,
    definition: storedDefinition(row.definition),
    publishedAtUs: row.published_at,
  }));
}
