import { prepared, type Queryable } from '../../../store/index.js';

const FIND = prepared(
  'registry_find_version_by_digest',
  `select v.version from ductor.workflow w
    join ductor.workflow_version v on v.tenant_id = w.tenant_id and v.workflow_id = w.workflow_id
    where w.tenant_id = $1::uuid and w.family_slug = $2 and v.digest = $3`,
);

/** Version of this content; undefined when it was never published. */
export async function findVersionByDigest(
  db: Queryable,
  tenantId: string,
  familySlug: string,
  digest: Buffer,
): Promise<number | undefined> {
  const { rows } = await db.query<{ version: number }>(FIND, [tenantId, familySlug, digest]);
  return rows[0]?.version;
}
