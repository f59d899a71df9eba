/**
 * Statements of the driver: few for all schedules of a node, and none for one alone. What they write is behind
 * ductor.hold_shards, so a node that lost a shard changes nothing of it any more.
 */
import { integerArray, prepared, type Queryable, type Row, uuidArray } from '../../store/index.js';
import type { PlannedSlot } from '../planning/plan-slots.js';
import type { OverlapPolicy, ScheduleRecord, SlotOutcome } from '../schedule.js';
import { SCHEDULE_COLUMNS, toScheduleRecord, type ScheduleRow } from './schedule-row.js';

/** Names a schedule. */
export interface ScheduleRef {
  readonly tenantId: string;
  readonly scheduleId: string;
}

/** Names a slot. */
export interface SlotRef extends ScheduleRef {
  readonly slotUs: number;
}

/** Who writes: a node, and the shards it believes to own. */
export interface Holder {
  readonly nodeId: string;
  readonly shards: readonly number[];
}

const HELD = 'held as materialized (select ductor.hold_shards($1::uuid, $2::smallint[]) as shard)';
const OPEN = "o.outcome in ('due', 'starting', 'buffered')";

const LOOK = prepared(
  'schedules_look',
  `select (
    select min(d.due_at) from unnest($1::smallint[]) as w (shard) cross join lateral (
      select s.due_at from ductor.schedule s where s.shard = w.shard and s.due_at is not null
        order by s.due_at limit 1) as d) as next_due,
    exists (select 1 from ductor.schedule_slot o where o.shard = any($1::smallint[]) and ${OPEN}) as has_open`,
);

/** What there is to do for the schedules of some shards. */
export interface Look {
  /** When the next slot is due, microseconds since 1970; null: none is to come. */
  readonly nextDueUs: number | null;
  /** Some slot is neither started nor left out yet. */
  readonly hasOpen: boolean;
}

/** Looks, in one statement. */
export async function look(db: Queryable, shards: readonly number[]): Promise<Look> {
  const { rows } = await db.query<Row & { next_due: number | null; has_open: boolean }>(LOOK, [integerArray(shards)]);
  return { nextDueUs: rows[0]?.next_due ?? null, hasOpen: rows[0]?.has_open === true };
}

const DUE = prepared(
  'schedules_due',
  `select ${SCHEDULE_COLUMNS.replace('s.input,', "''::bytea as input,")}
  from unnest($1::smallint[]) as w (shard) cross join lateral (
    select * from ductor.schedule d where d.shard = w.shard and d.due_at <= $2 order by d.due_at limit $3) as s
  order by s.due_at limit $3`,
);

/** Schedules with a slot that is due, at most `limit`; their inputs are left out. */
export async function dueSchedules(
  db: Queryable,
  shards: readonly number[],
  nowUs: number,
  limit: number,
): Promise<readonly ScheduleRecord[]> {
  const { rows } = await db.query<ScheduleRow>(DUE, [integerArray(shards), nowUs, limit]);
  return rows.map(toScheduleRecord);
}

const PLAN = prepared(
  'schedules_plan',
  `with ${HELD}, moved as (
    update ductor.schedule s set next_slot = w.next_slot, due_at = w.due_at
      from unnest($4::uuid[], $5::uuid[], $6::bigint[], $7::int[], $8::bigint[], $9::bigint[])
        as w (tenant_id, schedule_id, expected, record_version, next_slot, due_at)
      where s.tenant_id = w.tenant_id and s.schedule_id = w.schedule_id and s.next_slot = w.expected
        and s.record_version = w.record_version and s.shard = any (array(select shard from held))
      returning s.tenant_id, s.schedule_id, s.shard, s.overlap), added as (
  insert into ductor.schedule_slot
      (slot_at, due_at, decided_at, shard, tenant_id, schedule_id, source, outcome, overlap, reason)
    select t.slot_at, t.due_at, case when t.outcome = 'due' then null else $3::bigint end, m.shard, m.tenant_id,
        m.schedule_id, 'time', t.outcome, m.overlap, t.reason
      from unnest($10::uuid[], $11::uuid[], $12::bigint[], $13::bigint[], $14::text[], $15::text[])
        as t (tenant_id, schedule_id, slot_at, due_at, outcome, reason)
      join moved m on m.tenant_id = t.tenant_id and m.schedule_id = t.schedule_id
    on conflict do nothing)
  select count(*) as moved from moved`,
);

/** What was planned of a schedule. */
export interface PlanWrite extends ScheduleRef {
  /** The schedule as it was read: when it has changed since, nothing is written of it. */
  readonly expectedSlotUs: number;
  readonly recordVersion: number;
  readonly planned: readonly PlannedSlot[];
  readonly nextSlotUs: number | null;
  readonly nextDueUs: number | null;
}

/**
 * Writes slots down and moves their schedules on. A slot that has a row already keeps it. Returns how many schedules
 * were moved: not those that have changed meanwhile, or that the node does not own any more.
 */
export async function writePlans(
  db: Queryable,
  by: Holder,
  nowUs: number,
  plans: readonly PlanWrite[],
): Promise<number> {
  const slots = plans.flatMap(({ tenantId, scheduleId, planned }) =>
    planned.map((slot) => ({ tenantId, scheduleId, ...slot })),
  );
  const { rows } = await db.query<Row & { moved: number }>(PLAN, [
    ...[by.nodeId, integerArray(by.shards), nowUs],
    ...[uuidArray(plans.map((plan) => plan.tenantId)), uuidArray(plans.map((plan) => plan.scheduleId))],
    ...[integerArray(plans.map((plan) => plan.expectedSlotUs)), integerArray(plans.map((plan) => plan.recordVersion))],
    ...[integerArray(plans.map((plan) => plan.nextSlotUs)), integerArray(plans.map((plan) => plan.nextDueUs))],
    ...[uuidArray(slots.map((slot) => slot.tenantId)), uuidArray(slots.map((slot) => slot.scheduleId))],
    ...[integerArray(slots.map((slot) => slot.slotUs)), integerArray(slots.map((slot) => slot.dueUs))],
    ...[slots.map((slot) => slot.outcome), slots.map((slot) => slot.reason)],
  ]);
  return rows[0]?.moved ?? 0;
}

const OPEN_SLOTS = prepared(
  'schedules_open_slots',
  `select c.tenant_id::text, c.schedule_id::text, c.slot_at, c.outcome, c.overlap
  from unnest($1::smallint[]) as w (shard) cross join lateral (
    select o.* from ductor.schedule_slot o
      join ductor.schedule s on s.tenant_id = o.tenant_id and s.schedule_id = o.schedule_id
      where o.shard = w.shard and ${OPEN}
        and (not s.is_paused or o.source <> 'time' or o.outcome = 'starting')
      order by o.due_at limit $2) as c
  order by c.due_at limit $2`,
);

/** A slot that is not started, left out or missed yet. */
export interface OpenSlotRow extends SlotRef {
  readonly outcome: Extract<SlotOutcome, 'due' | 'starting' | 'buffered'>;
  readonly overlap: OverlapPolicy;
}

/** Slots to decide or to start, at most `limit`. A paused schedule keeps those that its own times made. */
export async function openSlots(
  db: Queryable,
  shards: readonly number[],
  limit: number,
): Promise<readonly OpenSlotRow[]> {
  const { rows } = await db.query<
    Row & {
      tenant_id: string;
      schedule_id: string;
      slot_at: number;
      outcome: OpenSlotRow['outcome'];
      overlap: OverlapPolicy;
    }
  >(OPEN_SLOTS, [integerArray(shards), limit]);
  return rows.map(({ tenant_id: tenantId, schedule_id: scheduleId, slot_at: slotUs, outcome, overlap }) => {
    return { tenantId, scheduleId, slotUs, outcome, overlap };
  });
}

const RUNNING = prepared(
  'schedules_running_slots',
  `select o.tenant_id::text, o.schedule_id::text, o.slot_at, o.run_id::text
  from unnest($1::uuid[], $2::uuid[]) as w (tenant_id, schedule_id)
  join ductor.schedule_slot o on o.tenant_id = w.tenant_id and o.schedule_id = w.schedule_id
  where o.is_running and o.run_id is not null`,
);

/** A slot whose run was not seen closed. */
export interface RunningSlotRow extends SlotRef {
  readonly runId: string;
}

/** Slots of these schedules whose runs were not seen closed. */
export async function runningSlots(
  db: Queryable,
  schedules: readonly ScheduleRef[],
): Promise<readonly RunningSlotRow[]> {
  const { rows } = await db.query<Row & { tenant_id: string; schedule_id: string; slot_at: number; run_id: string }>(
    RUNNING,
    [uuidArray(schedules.map((each) => each.tenantId)), uuidArray(schedules.map((each) => each.scheduleId))],
  );
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    scheduleId: row.schedule_id,
    slotUs: row.slot_at,
    runId: row.run_id,
  }));
}
