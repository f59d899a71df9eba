import { prepared, type Queryable } from '../../../store/index.js';

const FIND = prepared(
  'registry_find_current_versions',
  `select k.place::integer - 1 as place, w.current_version
    from unnest($1::uuid[], $2::text[]) with ordinality as k (tenant_id, family_slug, place)
    join ductor.workflow w on w.tenant_id = k.tenant_id and w.family_slug = k.family_slug`,
);

/** Current versions of many workflows, in the order asked; undefined where there is none. */
export async function findCurrentVersions(
  db: Queryable,
  keys: readonly { readonly tenantId: string; readonly familySlug: string }[],
): Promise<readonly (number | undefined)[]> {
  const { rows } = await db.query<{ place: number; current_version: number }>(FIND, [
    keys.map(({ tenantId }) => tenantId),
    keys.map(({ familySlug }) => familySlug),
  ]);
  const found = new Map(rows.map(({ place, current_version }) => [place, current_version]));
  return keys.map((_key, place) => found.get(place));
}
