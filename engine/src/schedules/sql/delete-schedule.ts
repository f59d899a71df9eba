import type { Queryable } from '../../store/index.js';

/** Deletes a schedule and its slots. Its runs go on. */
export async function deleteSchedule(tx: Queryable, tenantId: string, id: string): Promise<void> {
  await tx.query(
    `with gone as (
      delete from ductor.schedule s where s.tenant_id = $1::uuid and s.schedule_id = $2::uuid)
    delete from ductor.schedule_slot o where o.tenant_id = $1::uuid and o.schedule_id = $2::uuid`,
    [tenantId, id],
  );
}
