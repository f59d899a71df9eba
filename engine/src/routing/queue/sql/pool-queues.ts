import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import { QUEUE_DEFAULTS } from '../../pipeline/queueing.js';
import { weightsOf } from '../../pipeline/settings.js';
import { placeText } from './ordering.js';

interface QueueRow extends Row {
  readonly tenant_id: string;
  readonly pool_id: string;
  readonly ordering: string;
  readonly age_weight: number;
  readonly boost: number;
  readonly next_at: number;
  readonly pool_ordering: string | null;
  readonly pool_weight: number | null;
  readonly pool_boost: number | null;
  readonly pool_start: string | null;
}

/** What a queue is ordered by. */
export interface OrderedBy {
  readonly ordering: string;
  readonly ageWeight: number;
  readonly boost: number;
}

/** A queue that is to be looked at. */
export interface DueQueue {
  readonly tenantId: string;
  readonly poolId: string;
  /** What the places of its work were worked out by. */
  readonly by: OrderedBy;
  /** What its pool says now. */
  readonly wanted: OrderedBy;
  /** Until when nobody else looks; names this look. */
  readonly leaseUs: number;
}

const TAKE = prepared(
  'routing_take_due_queues',
  `with due as (select d.tenant_id, d.pool_id from ductor.pool_queue d
      where d.next_at <= ductor.now_us() order by d.next_at limit $1 for update skip locked)
    update ductor.pool_queue q set next_at = ductor.now_us() + $2
      from due left join ductor.pool p on p.tenant_id = due.tenant_id and p.pool_id = due.pool_id
      where q.tenant_id = due.tenant_id and q.pool_id = due.pool_id
      returning q.tenant_id, q.pool_id, q.ordering, q.age_weight, q.boost, q.next_at,
        p.fields #>> '{config,queue,order}' as pool_ordering,
        (p.fields #>> '{config,queue,age_weight_per_min}')::integer as pool_weight,
        (p.fields #>> '{config,sla,priority_boost_per_min}')::integer as pool_boost,
        p.fields #>> '{config,sla,start_event}' as pool_start`,
);
// Whatever was queued meanwhile has moved next_at: then this is no longer the look that it says it is.
const REST = prepared(
  'routing_rest_queue',
  `update ductor.pool_queue q
    set next_at = case when exists (select 1 from ductor.waiting_work w
        where w.tenant_id = $1::uuid and w.pool_id = $2::uuid and w.state = 'waiting')
      then ductor.now_us() + $4 end
    where q.tenant_id = $1::uuid and q.pool_id = $2::uuid and q.next_at = $3`,
);
const RERANK = prepared(
  'routing_order_queue',
  `with ordered as (select w.tenant_id, w.decision_id,
      ${placeText({
        ...{ ordering: '$3::text', ageWeight: '$4::integer', boost: '$5::integer', priority: 'w.priority' },
        ...{ queuedAt: 'w.queued_at', clockAt: 'coalesce(w.clock_at, w.queued_at)', seq: 'w.seq' },
      })}
      from ductor.waiting_work w
      where w.tenant_id = $1::uuid and w.pool_id = $2::uuid and w.state = 'waiting' order by w.decision_id for update),
    done as (update ductor.waiting_work w set rank = o.rank, place = o.place from ordered o
      where w.tenant_id = o.tenant_id and w.decision_id = o.decision_id and w.tenant_id = $1::uuid)
    update ductor.pool_queue q set ordering = $3::text, age_weight = $4::integer, boost = $5::integer
      where q.tenant_id = $1::uuid and q.pool_id = $2::uuid`,
);
const WAKE = prepared(
  'routing_wake_queues',
  `with woken as (select o.tenant_id, o.pool_id from ductor.pool_queue o
      where o.tenant_id = $1::uuid and o.next_at > ductor.now_us()
        and (o.pool_id = any($2::uuid[]) or exists (select 1 from ductor.membership m
          where m.tenant_id = $1::uuid and m.pool_id = o.pool_id and m.recipient_id = any($3::uuid[])))
      order by o.pool_id for update skip locked)
    update ductor.pool_queue q set next_at = ductor.now_us() from woken k
      where q.tenant_id = $1::uuid and q.tenant_id = k.tenant_id and q.pool_id = k.pool_id returning 1`,
);

/** Whether any queue of any tenant is to be looked at: a condition in SQL. */
export const HAS_DUE_QUEUES = 'exists (select 1 from ductor.pool_queue d where d.next_at <= ductor.now_us())';

/** Takes queues of any tenant that are to be looked at: for a while nobody else does. */
export async function takeDueQueues(db: Queryable, limit: number, leaseUs: number): Promise<readonly DueQueue[]> {
  const { rows } = await db.query<QueueRow>(TAKE, [limit, leaseUs]);
  return rows.map((row) => ({
    ...{ tenantId: row.tenant_id, poolId: row.pool_id },
    by: { ordering: row.ordering, ageWeight: row.age_weight, boost: row.boost },
    wanted: {
      ordering: row.pool_ordering ?? QUEUE_DEFAULTS.order,
      ...weightsOf(row.pool_weight ?? undefined, row.pool_boost ?? undefined, row.pool_start ?? undefined),
    },
    leaseUs: row.next_at,
  }));
}

/** Lets a queue rest after a look; one in which nothing waits rests until something does. */
export async function restQueue(db: Queryable, { tenantId, poolId, leaseUs }: DueQueue, restUs: number): Promise<void> {
  await db.query(REST, [tenantId, poolId, leaseUs, restUs]);
}

/** Orders what waits anew: its pool orders its queue in another way now. */
export async function orderQueue(
  db: Queryable,
  { tenantId, poolId, wanted: { ordering, ageWeight, boost } }: DueQueue,
): Promise<void> {
  await db.query(RERANK, [tenantId, poolId, ordering, ageWeight, boost]);
}

/** Has queues looked at: those of pools, and those of the pools of recipients. Returns how many rest no more. */
export async function wakeQueues(
  db: Queryable,
  tenantId: string,
  poolIds: readonly string[],
  recipientIds: readonly string[],
): Promise<number> {
  const { rows } = await db.query(WAKE, [tenantId, uuidArray(poolIds), uuidArray(recipientIds)]);
  return rows.length;
}
