import { DuctorError } from '../../../kernel/index.js';
import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import type { RouteAsk } from '../../lane/ask.js';
import type { QueuePlace, WaitingItem, WaitingState, WaitingWork } from '../waiting-item.js';

interface ItemRow extends Row {
  readonly decision_id: string;
  readonly pool_id: string;
  readonly principal_id: string;
  readonly priority: number;
  readonly queued_at: number;
  readonly clock_at: number | null;
  readonly expires_at: number;
  readonly ask: Buffer;
  readonly reach: readonly string[];
  readonly reason: string;
  readonly rank: string;
  readonly place: string;
  readonly waiter: string | null;
}

const ITEM = `w.decision_id, w.pool_id, w.principal_id, w.priority, w.queued_at, w.clock_at, w.expires_at, w.ask,
  w.reach, w.reason, w.rank::text, w.place::text, w.waiter`;
const WAITS = `w.tenant_id = $1::uuid and w.state = 'waiting'`;
const IN_ORDER = 'order by w.rank desc, w.place desc, w.decision_id desc';

const NEXT = prepared(
  'routing_next_waiting_work',
  `select ${ITEM} from ductor.waiting_work w
    where ${WAITS} and w.pool_id = $2::uuid
      and ($3::bigint is null or (w.rank, w.place, w.decision_id) < ($3::bigint, $4::bigint, $5::uuid))
    ${IN_ORDER} limit $6`,
);
const DUE = prepared(
  'routing_due_waiting_work',
  `select ${ITEM} from ductor.waiting_work w
    where ${WAITS} and w.pool_id = $2::uuid and w.next_at <= ductor.now_us() ${IN_ORDER} limit $3`,
);
const LOCK = prepared(
  'routing_lock_waiting_work',
  `select w.decision_id from ductor.waiting_work w where ${WAITS} and w.decision_id = any($2::uuid[])
    for update skip locked`,
);
const LOCK_OF_STEPS = prepared(
  'routing_lock_work_of_steps',
  `with seen as materialized (select w.decision_id from ductor.waiting_work w
      where ${WAITS} and w.waiter is not null and w.first_id = any($2::uuid[])),
    locked as materialized (select w.decision_id, w.first_id from ductor.waiting_work w
      where ${WAITS} and w.decision_id in (select s.decision_id from seen s) order by w.decision_id for update)
    select (select count(*)::integer from seen) as seen,
      coalesce((select json_object_agg(l.first_id, l.decision_id) from locked l), '{}') as locked`,
);
const HEADS = prepared(
  'routing_lock_waiting_heads',
  `select h.* from unnest($2::uuid[]) as p (pool_id)
    cross join lateral (select ${ITEM} from ductor.waiting_work w
      where ${WAITS} and w.pool_id = p.pool_id ${IN_ORDER} limit $3 for update skip locked) h`,
);
const DEPTHS = prepared(
  'routing_queue_depths',
  `select w.pool_id, count(*)::integer as depth from ductor.waiting_work w
    where ${WAITS} and w.pool_id = any($2::uuid[]) group by 1`,
);

/** Whether a value is what was asked for, as it is kept while it waits: this engine wrote it. */
function isWaitingAsk(value: unknown): value is RouteAsk {
  return typeof value === 'object' && value !== null && 'routable' in value && 'waited' in value;
}

function toItem(row: ItemRow): WaitingItem {
  const ask: unknown = JSON.parse(row.ask.toString('utf8'));
  if (!isWaitingAsk(ask)) throw new DuctorError('internal', `waiting work ${row.decision_id} cannot be read`);
  return {
    ...{ decisionId: row.decision_id, poolId: row.pool_id, principalId: row.principal_id, priority: row.priority },
    ...{ queuedUs: row.queued_at, clockUs: row.clock_at ?? row.queued_at, expiresUs: row.expires_at },
    ...{ reach: row.reach, reason: row.reason, waiter: row.waiter },
    ...{ ask, rank: row.rank, place: row.place },
  };
}

/** What comes next in a queue, in its order. */
export async function nextWaiting(
  db: Queryable,
  tenantId: string,
  poolId: string,
  after: QueuePlace | undefined,
  limit: number,
): Promise<readonly WaitingItem[]> {
  const place = [after?.rank ?? null, after?.place ?? null, after?.decisionId ?? null];
  const { rows } = await db.query<ItemRow>(NEXT, [tenantId, poolId, ...place, limit]);
  return rows.map(toItem);
}

/** What of a queue was not looked at for long, in its order. */
export async function dueWaiting(
  db: Queryable,
  tenantId: string,
  poolId: string,
  limit: number,
): Promise<readonly WaitingItem[]> {
  const { rows } = await db.query<ItemRow>(DUE, [tenantId, poolId, limit]);
  return rows.map(toItem);
}

/** Locks those that still wait, but for those that others have locked; returns their ids. */
export async function lockWaiting(
  tx: Queryable,
  tenantId: string,
  decisionIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<Row & { decision_id: string }>(LOCK, [tenantId, uuidArray(decisionIds)]);
  return new Set(rows.map(({ decision_id: id }) => id));
}

/**
 * Locks work that steps wait for, by the decisions that queued it first; where it is now, by those. Work that is absent
 * has left all queues, and whoever waits for it has been told.
 */
export async function lockWorkOfSteps(
  tx: Queryable,
  tenantId: string,
  workIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  for (;;) {
    const { rows } = await tx.query<Row & { seen: number; locked: Readonly<Record<string, string>> }>(LOCK_OF_STEPS, [
      tenantId,
      uuidArray(workIds),
    ]);
    const { seen = 0, locked = {} } = rows[0] ?? {};
    const found = new Map(Object.entries(locked));
    // What moved into another queue while its lock was waited for is looked for anew: there it waits as before.
    if (found.size === seen) return found;
  }
}

/** Locks the first of each queue, but for those that others have locked; in the order of their queues. */
export async function lockHeads(
  tx: Queryable,
  tenantId: string,
  poolIds: readonly string[],
  limit: number,
): Promise<readonly WaitingItem[]> {
  const { rows } = await tx.query<ItemRow>(HEADS, [tenantId, uuidArray(poolIds), limit]);
  return rows.map(toItem);
}

/** How much waits in queues, by pool; every pool that is asked for is there. */
export async function readDepths(
  db: Queryable,
  tenantId: string,
  poolIds: readonly string[],
): Promise<Map<string, number>> {
  const depths = new Map(poolIds.map((poolId) => [poolId, 0]));
  if (poolIds.length === 0) return depths;
  const { rows } = await db.query<Row & { pool_id: string; depth: number }>(DEPTHS, [tenantId, uuidArray(poolIds)]);
  for (const { pool_id: poolId, depth } of rows) depths.set(poolId, depth);
  return depths;
}

interface WorkRow extends Row {
  readonly decision_id: string;
  readonly first_id: string;
  readonly pool_id: string;
  readonly routable_id: string;
  readonly routable_type: string;
  readonly channel: string;
  readonly priority: number;
  readonly reason: string;
  readonly queued_at: number;
  readonly expires_at: number;
  readonly state: WaitingState;
  readonly ended_at: number | null;
  readonly decided_as: string | null;
  readonly rank: string;
  readonly place: string;
}

const WORK = `w.decision_id, w.first_id, w.pool_id, w.routable_id, w.routable_type, w.channel, w.priority, w.reason,
  w.queued_at, w.expires_at, w.state, w.ended_at, w.decided_as, w.rank::text, w.place::text`;
const LIST = prepared(
  'routing_list_waiting_work',
  `select ${WORK} from ductor.waiting_work w
    where ${WAITS} and w.pool_id = $2::uuid
      and ($3::bigint is null or (w.rank, w.place, w.decision_id) < ($3::bigint, $4::bigint, $5::uuid))
    ${IN_ORDER} limit $6`,
);
const READ = prepared(
  'routing_read_waiting_work',
  `select ${WORK} from ductor.waiting_work w where w.tenant_id = $1::uuid and w.decision_id = $2::uuid`,
);

/** Waiting work with its place. */
export type ListedWork = WaitingWork & QueuePlace;

function toWork(row: WorkRow): ListedWork {
  return {
    ...{ decisionId: row.decision_id, firstId: row.first_id, poolId: row.pool_id, routableId: row.routable_id },
    ...{ routableType: row.routable_type, channel: row.channel, priority: row.priority, reason: row.reason },
    ...{ queuedUs: row.queued_at, expiresUs: row.expires_at, state: row.state, endedUs: row.ended_at },
    ...{ decidedAs: row.decided_as, rank: row.rank, place: row.place },
  };
}

/** Which of what waits in one queue. */
export interface WaitingQuery {
  /** NO_POOL: what rules hold in no pool. */
  readonly poolId: string;
  /** The last one of the page before; undefined: from the first. */
  readonly after: QueuePlace | undefined;
  readonly limit: number;
}

/** What waits in a queue, in its order. */
export async function listWaiting(
  db: Queryable,
  tenantId: string,
  { poolId, after, limit }: WaitingQuery,
): Promise<readonly ListedWork[]> {
  const place = [after?.rank ?? null, after?.place ?? null, after?.decisionId ?? null];
  const { rows } = await db.query<WorkRow>(LIST, [tenantId, poolId, ...place, limit]);
  return rows.map(toWork);
}

/** Work that waits or has waited; undefined: the decision queued nothing. */
export async function readWaiting(
  db: Queryable,
  tenantId: string,
  decisionId: string,
): Promise<ListedWork | undefined> {
  const { rows } = await db.query<WorkRow>(READ, [tenantId, decisionId]);
  return rows.map(toWork)[0];
}
