/** Families as they stand while their rows are locked. */
import { familyName, type Family, type Reservation } from '../../capacity/index.js';
import { prepared, uuidArray, type Queryable, type Row } from '../../store/index.js';
import type { FamilyRun, FamilyUsage } from '../coordinator/gate-ports.js';

interface RunRow extends Row {
  readonly tenant_id: string;
  readonly root_id: string;
  readonly run_id: string;
  readonly chain_id: string;
  readonly parent_id: string | null;
  readonly is_open: boolean;
}

/**
 * Everybody of the families of `f` who is open, children that are still to begin among them, and everybody above these,
 * as table expressions the last of which is `up`. One snapshot: a child is seen as a message or as a run, never as
 * neither.
 */
export function familyRunsSql(): string {
  return `o as materialized (
  select r.tenant_id, f.root_id, r.run_id, coalesce(r.chain_id, r.run_id) as chain_id, r.parent_id, true as is_open
  from f join ductor.runs r on r.tenant_id = f.tenant_id and r.root_id = f.root_id and r.closed_at is null
  union all
  select r.tenant_id, f.root_id, r.run_id, r.run_id, null::uuid, true
  from f join ductor.runs r on r.tenant_id = f.tenant_id and r.run_id = f.root_id and r.closed_at is null
  union all
  select r.tenant_id, f.root_id, r.run_id, r.chain_id, null::uuid, true
  from f join ductor.runs r on r.tenant_id = f.tenant_id and r.chain_id = f.root_id and r.closed_at is null
  where r.root_id is null
  union all
  select i.tenant_id, f.root_id, i.chain_id, i.chain_id, i.sender_id, true
  from f join ductor.run_inbox i on i.tenant_id = f.tenant_id and i.root_id = f.root_id
), up as (
  select o.* from o
  union
  select r.tenant_id, up.root_id, r.run_id, coalesce(r.chain_id, r.run_id), r.parent_id, r.closed_at is null
  from up join ductor.runs r on r.tenant_id = up.tenant_id and r.run_id = up.parent_id
)`;
}

const READ = prepared(
  'gate_read_families',
  `with recursive f as materialized (
  select t.tenant_id, t.root_id from unnest($1::uuid[], $2::uuid[]) as t (tenant_id, root_id)
), ${familyRunsSql()}
select up.tenant_id, up.root_id, up.run_id, up.chain_id, up.parent_id, up.is_open from up`,
);

/**
 * Who of locked families is open.
 *
 * @param held what they hold
 */
export async function readFamilies(
  tx: Queryable,
  families: readonly Family[],
  held: readonly Reservation[],
): Promise<readonly FamilyUsage[]> {
  if (families.length === 0) return [];
  const { rows } = await tx.query<RunRow>(READ, [
    uuidArray(families.map(({ tenantId }) => tenantId)),
    uuidArray(families.map(({ rootId }) => rootId)),
  ]);
  const runs = new Map<string, FamilyRun[]>(families.map((family) => [familyName(family), []]));
  for (const row of rows) {
    const { run_id: runId, chain_id: chainId, parent_id: parentId, is_open: isOpen } = row;
    runs.get(familyName({ tenantId: row.tenant_id, rootId: row.root_id }))?.push({ runId, chainId, parentId, isOpen });
  }
  return families.map(({ tenantId, rootId }) => {
    const name = familyName({ tenantId, rootId });
    return { tenantId, rootId, held: held.filter((each) => familyName(each) === name), runs: runs.get(name) ?? [] };
  });
}
