/** A row of a run that nobody executes: families need no more. */
import type { Queryable } from '../../engine/src/store/index.js';

/**
 * Inserts an open run; without a parent it is the root of its family.
 *
 * @param workflow what it is a run of
 */
export async function insertRun(
  db: Queryable,
  run: { readonly tenantId: string; readonly runId: string },
  parent: { readonly rootId: string; readonly runId: string } | null,
  workflow = 'world',
): Promise<void> {
  await db.query(
    `insert into ductor.runs
        (started_at, version, shard, status, active, tenant_id, run_id, family_slug, root_id, parent_id)
      values (ductor.now_us(), 1, 0, 1, false, $1::uuid, $2::uuid, $5::text, $3::uuid, $4::uuid)`,
    [run.tenantId, run.runId, parent?.rootId ?? null, parent?.runId ?? null, workflow],
  );
}
