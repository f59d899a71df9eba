import { impossible } from '../../../kernel/index.js';
import type { Queryable } from '../../../store/index.js';

/** Content to publish. */
export interface NewVersion {
  readonly tenantId: string;
  readonly workflowId: string;
  readonly digest: Buffer;
  readonly definition: Buffer;
}

/** Makes the next version of a workflow whose row the transaction has locked. Returns its number. */
export async function insertVersion(tx: Queryable, version: NewVersion): Promise<number> {
  const { tenantId, workflowId, digest, definition } = version;
  const { rows } = await tx.query<{ version: number }>(
    `insert into ductor.workflow_version (tenant_id, workflow_id, version, digest, definition)
      select $1::uuid, $2::uuid, coalesce(max(version), 0) + 1, $3, $4 from ductor.workflow_version
        where tenant_id = $1::uuid and workflow_id = $2::uuid
      returning version`,
    [tenantId, workflowId, digest, definition],
  );
  return rows[0]?.version ?? impossible('registry-insert-version', 'an insert answered no row');
}
