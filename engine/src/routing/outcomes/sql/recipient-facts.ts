import { prepared, type Queryable, type Row } from '../../../store/index.js';
import type { LearnedColumns } from '../../standing/sql/learned-columns.js';

/** What was learned of a recipient from how its work went. */
export interface LearnedRow extends Row, LearnedColumns {
  readonly failures_in_a_row: number;
  readonly episode: number;
}

const OPEN = prepared(
  'routing_open_facts',
  `insert into ductor.recipient_fact (tenant_id, recipient_id) values ($1::uuid, $2::uuid) on conflict do nothing`,
);
const LOCK = prepared(
  'routing_lock_facts',
  `select latency_us, latency_at, success_milli, failure_milli, rated_at, responses, failures_in_a_row, episode,
      ejected_until, cooldown_until, limit_episode, probe_until
    from ductor.recipient_fact where tenant_id = $1::uuid and recipient_id = $2::uuid for update`,
);
const EJECTED = prepared(
  'routing_count_ejected',
  `select n.now_us, count(m.recipient_id)::integer as total,
      (count(*) filter (where f.ejected_until > n.now_us))::integer as ejected
    from (select ductor.now_us() as now_us offset 0) n
    left join ductor.membership m on m.tenant_id = $1::uuid and m.pool_id = $2::uuid
    left join ductor.recipient_fact f on f.tenant_id = m.tenant_id and f.recipient_id = m.recipient_id
    group by n.now_us`,
);
const WRITE = prepared(
  'routing_write_facts',
  `update ductor.recipient_fact set latency_us = $3, latency_at = $4, success_milli = $5, failure_milli = $6,
      rated_at = $7, responses = $8, failures_in_a_row = $9, episode = $10, ejected_until = $11, cooldown_until = $12,
      limit_episode = $13, probe_until = $14
    where tenant_id = $1::uuid and recipient_id = $2::uuid`,
);

/** What was learned of a recipient, locked until the transaction ends; made when nothing was. */
export async function lockLearned(tx: Queryable, tenantId: string, recipientId: string): Promise<LearnedRow> {
  const values = [tenantId, recipientId];
  await tx.query(OPEN, values);
  const { rows } = await tx.query<LearnedRow>(LOCK, values);
  const [found = NOTHING_LEARNED] = rows;
  return found;
}

/** Of a recipient of whose work nobody has reported anything. */
export const NOTHING_LEARNED: LearnedRow = {
  ...{ latency_us: null, latency_at: null, success_milli: null, failure_milli: null, rated_at: null, responses: null },
  ...{ failures_in_a_row: 0, episode: 0, ejected_until: null, cooldown_until: null },
  ...{ limit_episode: 0, probe_until: null },
};

/** How many of the members of a pool are ejected now, and the database's time. */
export async function countEjected(
  tx: Queryable,
  tenantId: string,
  poolId: string,
): Promise<{ readonly nowUs: number; readonly ejected: number; readonly total: number }> {
  const { rows } = await tx.query<{ now_us: number; total: number; ejected: number }>(EJECTED, [tenantId, poolId]);
  const [row] = rows;
  return { nowUs: row?.now_us ?? 0, ejected: row?.ejected ?? 0, total: row?.total ?? 0 };
}

/** Stores what is known of a locked recipient now. */
export async function writeLearned(
  tx: Queryable,
  tenantId: string,
  recipientId: string,
  row: LearnedRow,
): Promise<void> {
  await tx.query(WRITE, [
    ...[tenantId, recipientId, row.latency_us, row.latency_at, row.success_milli, row.failure_milli, row.rated_at],
    ...[row.responses, row.failures_in_a_row, row.episode, row.ejected_until, row.cooldown_until],
    ...[row.limit_episode, row.probe_until],
  ]);
}
