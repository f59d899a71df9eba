import { prepared, type Queryable, type Row } from '../../../store/index.js';

/** A member of a pool, as far as figures need it. */
export interface Member {
  readonly recipientId: string;
  /** Whether it is in use and available. */
  readonly isActive: boolean;
  /** Units at a time; 0: unlimited. */
  readonly maxConcurrent: number;
}

interface MemberRow extends Row {
  readonly recipient_id: string;
  readonly is_active: boolean;
  readonly max_concurrent: number;
}

const LIST = prepared(
  'pools_list_members',
  `select r.recipient_id, r.status = 'STATUS_ACTIVE' and r.state = 'RECIPIENT_STATE_AVAILABLE' as is_active,
      (r.fields -> 'capacity' ->> 'max_concurrent')::integer as max_concurrent
    from ductor.membership m
    join ductor.recipient r on r.tenant_id = m.tenant_id and r.recipient_id = m.recipient_id
    where m.tenant_id = $1::uuid and m.pool_id = $2::uuid order by r.recipient_id`,
);

/** All members of a pool, by id. */
export async function listMembers(db: Queryable, tenantId: string, poolId: string): Promise<readonly Member[]> {
  const { rows } = await db.query<MemberRow>(LIST, [tenantId, poolId]);
  return rows.map((row) => ({
    recipientId: row.recipient_id,
    isActive: row.is_active,
    maxConcurrent: row.max_concurrent,
  }));
}
