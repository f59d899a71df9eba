import { prepared, type Queryable } from '../../../store/index.js';

const LOAD = prepared(
  'registry_load_definition',
  `select v.definition from ductor.workflow w
    join ductor.workflow_version v on v.tenant_id = w.tenant_id and v.workflow_id = w.workflow_id
    where w.tenant_id = $1::uuid and w.family_slug = $2 and v.version = $3`,
);

/** The definition of a version as stored; undefined when there is none. */
export async function loadDefinition(
  db: Queryable,
  tenantId: string,
  familySlug: string,
  version: number,
): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ definition: Buffer }>(LOAD, [tenantId, familySlug, version]);
  return rows[0]?.definition;
}
