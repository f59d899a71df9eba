import { prepared, type Queryable } from '../../../store/index.js';

const SET = prepared(
  'capacity_set_work_state',
  `update ductor.assignment a set work_state = $3::text
    where a.tenant_id = $1::uuid and a.assignment_id = $2::uuid and a.state = 'active'
      and a.work_state is distinct from $3::text`,
);

/** Notes what active work waits for; false: it is not active, or that is noted already. */
export async function writeWorkState(
  tx: Queryable,
  tenantId: string,
  assignmentId: string,
  workState: string | null,
): Promise<boolean> {
  return (await tx.query(SET, [tenantId, assignmentId, workState])).rowCount === 1;
}
