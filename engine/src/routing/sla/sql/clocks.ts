import { integerArray, prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import type { SlaClause } from '../../pipeline/settings.js';
import type { Progress, SlaClock } from '../clock.js';

/** A clock with whose it is. */
export interface StoredClock extends SlaClock {
  readonly tenantId: string;
  readonly assignmentId: string;
  /** By how much its breach raises the priority of the work. */
  readonly escalateBy: number;
}

/** A clock of an assignment that is made. */
export interface NewClock extends StoredClock {
  readonly nextUs: number | null;
  /** JSON of what was asked for, where it is routed again; null: it is not. */
  readonly again: string | null;
}

/** A clock that is due, with what became of its assignment. */
export interface DueClock extends StoredClock {
  readonly progress: Progress;
  readonly recipientId: string;
  readonly poolId: string;
  readonly again: unknown;
  /** Clauses of the assignment that are due no later than this one, and raise its priority when they are broken. */
  readonly raising: readonly (Pick<SlaClock, 'clause' | 'dueUs'> & { readonly by: number })[];
  /** Clauses of the assignment that come before this one, for which the work may be routed again still. */
  readonly before: readonly SlaClause[];
}

interface ClockRow extends Row {
  readonly tenant_id: string;
  readonly assignment_id: string;
  readonly clause: SlaClause;
  readonly warn_at: number;
  readonly due_at: number;
  readonly warned_at: number | null;
  readonly breached_at: number | null;
  readonly settled_at: number | null;
  readonly paused_at: number | null;
  readonly paused_us: number;
  readonly escalate_by: number;
}

interface DueRow extends ClockRow {
  readonly again: unknown;
  readonly raising: readonly (readonly [SlaClause, number, number])[] | null;
  readonly before: readonly SlaClause[] | null;
  readonly state: string | null;
  readonly committed_at: number | null;
  readonly responded_at: number | null;
  readonly ended_at: number | null;
  readonly recipient_id: string | null;
  readonly pool_id: string | null;
}

const COLUMNS = `c.tenant_id, c.assignment_id, c.clause, c.warn_at, c.due_at, c.warned_at, c.breached_at, c.settled_at,
  c.paused_at, c.paused_us, c.escalate_by`;

const INSERT = prepared(
  'routing_insert_sla_clocks',
  `insert into ductor.sla_clock (tenant_id, assignment_id, clause, warn_at, due_at, breached_at, next_at, again,
      paused_us, escalate_by)
    select $1::uuid, n.* from unnest($2::uuid[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
      $8::jsonb[], $9::bigint[], $10::integer[]) as n`,
);
const DUE = prepared(
  'routing_due_sla_clocks',
  `select ${COLUMNS}, c.again, (select jsonb_agg(jsonb_build_array(s.clause, s.due_at, s.escalate_by))
      from ductor.sla_clock s where s.tenant_id = c.tenant_id and s.assignment_id = c.assignment_id
        and s.due_at <= c.due_at and s.escalate_by > 0) as raising,
      (select jsonb_agg(b.clause) from ductor.sla_clock b
        where b.tenant_id = c.tenant_id and b.assignment_id = c.assignment_id
          and (b.due_at, b.clause) < (c.due_at, c.clause) and b.again is not null and b.settled_at is null) as before,
      a.state, a.committed_at, a.responded_at, a.ended_at, a.recipient_id, a.pool_id
    from (select * from ductor.sla_clock d where d.next_at <= ductor.now_us() order by d.next_at limit $1
      for update skip locked) c
    left join ductor.assignment a on a.tenant_id = c.tenant_id and a.assignment_id = c.assignment_id`,
);
const WRITE = prepared(
  'routing_write_sla_clocks',
  `update ductor.sla_clock c set warned_at = n.warned_at, breached_at = n.breached_at, settled_at = n.settled_at,
      next_at = n.next_at, warn_at = n.warn_at, due_at = n.due_at, paused_at = n.paused_at, paused_us = n.paused_us
    from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
      $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
      as n (tenant_id, assignment_id, clause, warned_at, breached_at, settled_at, next_at, warn_at, due_at, paused_at,
        paused_us)
    where c.tenant_id = n.tenant_id and c.assignment_id = n.assignment_id and c.clause = n.clause`,
);
const REROUTED = prepared(
  'routing_rerouted_sla_clock',
  `update ductor.sla_clock c set next_at = null, again = null, rerouted_to = $4::uuid
    where c.tenant_id = $1::uuid and c.assignment_id = $2::uuid and c.clause = $3`,
);
const LOCK = prepared(
  'routing_lock_sla_clocks',
  `select ${COLUMNS} from ductor.sla_clock c where c.tenant_id = $1::uuid and c.assignment_id = $2::uuid
    order by c.clause for update`,
);
const LOOK_SOON = prepared(
  'routing_look_soon_at_sla_clocks',
  `update ductor.sla_clock c set next_at = ductor.now_us()
    where c.tenant_id = $1::uuid and c.assignment_id = any($2::uuid[]) and c.paused_at is not null
      and c.settled_at is null`,
);
const RAISED = prepared(
  'routing_raised_by_sla_clocks',
  `select n.tenant_id, n.assignment_id, sum(c.escalate_by)::integer as raised
    from unnest($1::uuid[], $2::uuid[]) as n (tenant_id, assignment_id)
    join ductor.assignment a on a.tenant_id = n.tenant_id and a.assignment_id = n.assignment_id
    join ductor.sla_clock c on c.tenant_id = n.tenant_id and c.assignment_id = n.assignment_id
    where c.escalate_by > 0 and c.due_at < a.ended_at
    group by n.tenant_id, n.assignment_id`,
);
const READ = prepared(
  'routing_read_sla_clocks',
  `select ${COLUMNS} from ductor.sla_clock c where c.tenant_id = $1::uuid and c.assignment_id = any($2::uuid[])
    order by c.assignment_id, c.due_at, c.clause`,
);

function toClock(row: ClockRow): StoredClock {
  return {
    ...{ tenantId: row.tenant_id, assignmentId: row.assignment_id, clause: row.clause },
    ...{ warnUs: row.warn_at, dueUs: row.due_at, warnedUs: row.warned_at },
    ...{ breachedUs: row.breached_at, settledUs: row.settled_at, pausedUs: row.paused_at },
    ...{ stoodUs: row.paused_us, escalateBy: row.escalate_by },
  };
}

/** Stores the clocks of new assignments of one tenant. */
export async function insertClocks(tx: Queryable, tenantId: string, clocks: readonly NewClock[]): Promise<void> {
  if (clocks.length === 0) return;
  await tx.query(INSERT, [
    tenantId,
    uuidArray(clocks.map(({ assignmentId }) => assignmentId)),
    clocks.map(({ clause }) => clause),
    integerArray(clocks.map(({ warnUs }) => warnUs)),
    integerArray(clocks.map(({ dueUs }) => dueUs)),
    integerArray(clocks.map(({ breachedUs }) => breachedUs)),
    integerArray(clocks.map(({ nextUs }) => nextUs)),
    clocks.map(({ again }) => again),
    integerArray(clocks.map(({ stoodUs }) => stoodUs)),
    integerArray(clocks.map(({ escalateBy }) => escalateBy)),
  ]);
}

/** Whether any clock of any tenant is to be looked at: a condition in SQL. */
export const HAS_DUE_CLOCKS = 'exists (select 1 from ductor.sla_clock d where d.next_at <= ductor.now_us())';

/** Clocks of any tenant that are to be looked at, locked until the transaction ends; others' locks are passed over. */
export async function takeDueClocks(tx: Queryable, limit: number): Promise<readonly DueClock[]> {
  const { rows } = await tx.query<DueRow>(DUE, [limit]);
  return rows.map((row) => ({
    ...toClock(row),
    ...{ again: row.again, recipientId: row.recipient_id ?? '', poolId: row.pool_id ?? '' },
    before: row.before ?? [],
    raising: (row.raising ?? []).map(([clause, dueUs, by]) => ({ clause, dueUs, by })),
    progress: {
      // An assignment that is not kept any more has ended.
      ...{ state: row.state ?? 'released', committedUs: row.committed_at, respondedUs: row.responded_at },
      endedUs: row.state === null ? row.due_at : row.ended_at,
    },
  }));
}

/** Stores what locked clocks are now. */
export async function writeClocks(
  tx: Queryable,
  clocks: readonly (StoredClock & { readonly nextUs: number | null })[],
): Promise<void> {
  if (clocks.length === 0) return;
  await tx.query(WRITE, [
    uuidArray(clocks.map(({ tenantId }) => tenantId)),
    uuidArray(clocks.map(({ assignmentId }) => assignmentId)),
    clocks.map(({ clause }) => clause),
    integerArray(clocks.map(({ warnedUs }) => warnedUs)),
    integerArray(clocks.map(({ breachedUs }) => breachedUs)),
    integerArray(clocks.map(({ settledUs }) => settledUs)),
    integerArray(clocks.map(({ nextUs }) => nextUs)),
    integerArray(clocks.map(({ warnUs }) => warnUs)),
    integerArray(clocks.map(({ dueUs }) => dueUs)),
    integerArray(clocks.map(({ pausedUs }) => pausedUs)),
    integerArray(clocks.map(({ stoodUs }) => stoodUs)),
  ]);
}

/** The clocks of an assignment, locked until the transaction ends. */
export async function lockClocks(
  tx: Queryable,
  tenantId: string,
  assignmentId: string,
): Promise<readonly StoredClock[]> {
  const { rows } = await tx.query<ClockRow>(LOCK, [tenantId, assignmentId]);
  return rows.map(toClock);
}

/** Has clocks looked at that stand still: something has come to its end while they did. */
export async function lookSoon(tx: Queryable, tenantId: string, assignmentIds: readonly string[]): Promise<void> {
  if (assignmentIds.length > 0) await tx.query(LOOK_SOON, [tenantId, uuidArray(assignmentIds)]);
}

/** By how much clauses that were over before offers ended have raised the priority of the work, by assignment. */
export async function readRaised(
  db: Queryable,
  offers: readonly Pick<StoredClock, 'tenantId' | 'assignmentId'>[],
): Promise<ReadonlyMap<string, number>> {
  if (offers.length === 0) return new Map();
  const { rows } = await db.query<Row & { readonly assignment_id: string; readonly raised: number }>(RAISED, [
    uuidArray(offers.map(({ tenantId }) => tenantId)),
    uuidArray(offers.map(({ assignmentId }) => assignmentId)),
  ]);
  return new Map(rows.map(({ assignment_id, raised }) => [assignment_id, raised]));
}

/** Notes that late work was routed again. */
export async function noteRerouted(db: Queryable, clock: StoredClock, decisionId: string): Promise<void> {
  await db.query(REROUTED, [clock.tenantId, clock.assignmentId, clock.clause, decisionId]);
}

/** The clocks of assignments, in the order in which they are due. */
export async function readClocks(
  db: Queryable,
  tenantId: string,
  assignmentIds: readonly string[],
): Promise<readonly StoredClock[]> {
  if (assignmentIds.length === 0) return [];
  const { rows } = await db.query<ClockRow>(READ, [tenantId, uuidArray(assignmentIds)]);
  return rows.map(toClock);
}
