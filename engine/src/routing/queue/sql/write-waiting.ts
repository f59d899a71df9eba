import { BatchBlob, integerArray, prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import type { NewWaiting } from '../waiting-item.js';
import { placeText } from './ordering.js';

const INSERT = prepared(
  'routing_insert_waiting_work',
  `insert into ductor.waiting_work (tenant_id, decision_id, pool_id, first_id, principal_id, routable_id, routable_type,
      channel, priority, ask, reach, reason, queued_at, clock_at, expires_at, next_at, seq, waiter, ends_with, rank,
      place)
    select $1::uuid, n.decision_id, n.pool_id, n.first_id, n.principal_id, n.routable_id, n.routable_type, n.channel,
        n.priority, substring($2::bytea from n.o + 1 for n.l), n.reach::uuid[], n.reason, n.queued_at, n.clock_at,
        n.expires_at, n.next_at, n.seq, n.waiter, n.ends_with, p.rank, p.place
      from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[], $10::integer[],
          $11::integer[], $12::integer[], $13::text[], $14::text[], $15::bigint[], $16::bigint[], $17::bigint[],
          $18::integer[], $19::text[], $20::integer[], $21::integer[], $22::bigint[], $23::text[], $24::uuid[])
        as n (decision_id, pool_id, first_id, principal_id, routable_id, routable_type, channel, priority, o, l, reach,
          reason, queued_at, expires_at, next_at, seq, ordering, age_weight, boost, clock_at, waiter, ends_with)
      cross join lateral (select
      ${placeText({
        ...{ ordering: 'n.ordering', ageWeight: 'n.age_weight', boost: 'n.boost', priority: 'n.priority' },
        ...{ queuedAt: 'n.queued_at', clockAt: 'n.clock_at', seq: 'n.seq' },
      })}) p`,
);
/** What was queued is looked at soon: somebody may have become free while it was. */
const SOON_US = 1_000_000;
const OPEN = prepared(
  'routing_open_pool_queues',
  `insert into ductor.pool_queue as q (tenant_id, pool_id, ordering, age_weight, boost, next_at)
    select $1::uuid, n.pool_id, n.ordering, n.age_weight, n.boost, ductor.now_us() + ${SOON_US}
      from unnest($2::uuid[], $3::text[], $4::integer[], $5::integer[]) as n (pool_id, ordering, age_weight, boost)
      order by n.pool_id
    on conflict (tenant_id, pool_id) do update set next_at = least(q.next_at, excluded.next_at)`,
);
const END = prepared(
  'routing_end_waiting_work',
  `update ductor.waiting_work w
    set state = 'decided', decided_as = n.decided_as, ended_at = ductor.now_us(), next_at = null, waiter = null
    from unnest($2::uuid[], $3::uuid[]) as n (decision_id, decided_as)
    where w.tenant_id = $1::uuid and w.decision_id = n.decision_id and w.state = 'waiting'`,
);
const STAY = prepared(
  'routing_keep_waiting_work',
  `update ductor.waiting_work w set reason = n.reason, expires_at = n.expires_at, next_at = n.next_at
    from unnest($2::uuid[], $3::text[], $4::bigint[], $5::bigint[]) as n (decision_id, reason, expires_at, next_at)
    where w.tenant_id = $1::uuid and w.decision_id = n.decision_id and w.state = 'waiting'`,
);
const REMOVED = "state = 'removed', ended_at = ductor.now_us(), next_at = null, waiter = null";
const REMOVE = prepared(
  'routing_remove_waiting_work',
  `with found as (select w.decision_id, w.first_id, w.waiter from ductor.waiting_work w
      where w.tenant_id = $1::uuid and w.decision_id = any($2::uuid[]) and w.state = 'waiting'
      order by w.decision_id for update)
    update ductor.waiting_work w set ${REMOVED} from found f
      where w.tenant_id = $1::uuid and w.decision_id = f.decision_id returning f.first_id, f.waiter`,
);
const REMOVE_ENDING = prepared(
  'routing_remove_ending_work',
  `with found as (select w.decision_id from ductor.waiting_work w
      where w.tenant_id = $1::uuid and w.ends_with = any($2::uuid[]) and w.state = 'waiting'
      order by w.decision_id for update)
    update ductor.waiting_work w set ${REMOVED} from found f
      where w.tenant_id = $1::uuid and w.decision_id = f.decision_id`,
);

/** Puts work in queues, and sees to it that these are looked at. */
export async function insertWaiting(tx: Queryable, tenantId: string, waiting: readonly NewWaiting[]): Promise<void> {
  if (waiting.length === 0) return;
  const blob = new BatchBlob();
  const asks = waiting.map(({ ask }) => blob.append(Buffer.from(ask, 'utf8')));
  await tx.query(INSERT, [
    tenantId,
    blob.toBuffer(),
    uuidArray(waiting.map(({ decisionId }) => decisionId)),
    uuidArray(waiting.map(({ poolId }) => poolId)),
    uuidArray(waiting.map(({ firstId }) => firstId)),
    uuidArray(waiting.map(({ principalId }) => principalId)),
    waiting.map(({ routableId }) => routableId),
    waiting.map(({ routableType }) => routableType),
    waiting.map(({ channel }) => channel),
    integerArray(waiting.map(({ priority }) => priority)),
    integerArray(asks.map(({ offset }) => offset)),
    integerArray(asks.map(({ length }) => length)),
    waiting.map(({ reach }) => uuidArray(reach)),
    waiting.map(({ reason }) => reason),
    integerArray(waiting.map(({ queuedUs }) => queuedUs)),
    integerArray(waiting.map(({ expiresUs }) => expiresUs)),
    integerArray(waiting.map(({ nextUs }) => nextUs)),
    integerArray(waiting.map((_, index) => index)),
    waiting.map(({ ordering }) => ordering),
    integerArray(waiting.map(({ ageWeight }) => ageWeight)),
    integerArray(waiting.map(({ boost }) => boost)),
    integerArray(waiting.map(({ clockUs }) => clockUs)),
    waiting.map(({ waiter }) => waiter),
    uuidArray(waiting.map(({ endsWith }) => endsWith)),
  ]);
  const queues = [...new Map(waiting.map((each) => [each.poolId, each])).values()];
  await tx.query(OPEN, [
    tenantId,
    uuidArray(queues.map(({ poolId }) => poolId)),
    queues.map(({ ordering }) => ordering),
    integerArray(queues.map(({ ageWeight }) => ageWeight)),
    integerArray(queues.map(({ boost }) => boost)),
  ]);
}

/** Work that has left its queue, with the decision that it came to. */
export interface LeftWaiting {
  readonly decisionId: string;
  readonly decidedAs: string;
}

/** Ends waiting by decisions. */
export async function endWaiting(tx: Queryable, tenantId: string, left: readonly LeftWaiting[]): Promise<void> {
  if (left.length === 0) return;
  await tx.query(END, [
    tenantId,
    uuidArray(left.map(({ decisionId }) => decisionId)),
    uuidArray(left.map(({ decidedAs }) => decidedAs)),
  ]);
}

/** Work that goes on waiting. */
export interface StayedWaiting {
  readonly decisionId: string;
  readonly reason: string;
  readonly expiresUs: number;
  readonly nextUs: number;
}

/** Notes that work was looked at in vain. */
export async function keepWaiting(tx: Queryable, tenantId: string, stayed: readonly StayedWaiting[]): Promise<void> {
  if (stayed.length === 0) return;
  await tx.query(STAY, [
    tenantId,
    uuidArray(stayed.map(({ decisionId }) => decisionId)),
    stayed.map(({ reason }) => reason),
    integerArray(stayed.map(({ expiresUs }) => expiresUs)),
    integerArray(stayed.map(({ nextUs }) => nextUs)),
  ]);
}

/** Work that was taken out of its queue. */
export interface RemovedWork {
  /** The decision that queued it first. */
  readonly firstId: string;
  /** Who has to be told; null: nobody. */
  readonly waiter: string | null;
}

/** Takes work out of its queue, as far as it waits. */
export async function removeWaiting(
  tx: Queryable,
  tenantId: string,
  decisionIds: readonly string[],
): Promise<readonly RemovedWork[]> {
  if (decisionIds.length === 0) return [];
  const { rows } = await tx.query<Row & { first_id: string; waiter: string | null }>(REMOVE, [
    tenantId,
    uuidArray(decisionIds),
  ]);
  return rows.map(({ first_id: firstId, waiter }) => ({ firstId, waiter }));
}

/** Takes out what ends with these chains of runs: they have ended, and no step waits for it. */
export async function removeEnding(db: Queryable, tenantId: string, chainIds: readonly string[]): Promise<void> {
  await db.query(REMOVE_ENDING, [tenantId, uuidArray(chainIds)]);
}
