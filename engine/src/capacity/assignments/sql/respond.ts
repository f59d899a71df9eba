import { prepared, type Queryable } from '../../../store/index.js';

const RESPOND = prepared(
  'capacity_respond',
  `update ductor.assignment a set responded_at = ductor.now_us()
    where a.tenant_id = $1::uuid and a.assignment_id = $2::uuid and a.state = 'active' and a.responded_at is null`,
);

/** Notes the first response of active work; false: it is not active, or somebody has noted it before. */
export async function noteResponse(tx: Queryable, tenantId: string, assignmentId: string): Promise<boolean> {
  return (await tx.query(RESPOND, [tenantId, assignmentId])).rowCount === 1;
}
