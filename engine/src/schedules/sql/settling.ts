/** Statements that write down what becomes of slots; behind ductor.hold_shards, as those of driving.ts. */
import { integerArray, prepared, type Queryable, type Row, uuidArray } from '../../store/index.js';
import type { SlotDecision } from '../planning/decide-slots.js';
import type { ScheduleRecord } from '../schedule.js';
import type { Holder, ScheduleRef, SlotRef } from './driving.js';
import { SCHEDULE_COLUMNS, toScheduleRecord, type ScheduleRow } from './schedule-row.js';

const HELD = 'held as materialized (select ductor.hold_shards($1::uuid, $2::smallint[]) as shard)';

function keysOf(slots: readonly SlotRef[]): readonly string[] {
  return [
    uuidArray(slots.map((slot) => slot.tenantId)),
    uuidArray(slots.map((slot) => slot.scheduleId)),
    integerArray(slots.map((slot) => slot.slotUs)),
  ];
}

const DECIDE = prepared(
  'schedules_decide',
  `with ${HELD}, ended as (
    update ductor.schedule_slot o set is_running = false
      from unnest($9::uuid[], $10::uuid[], $11::bigint[]) as w (tenant_id, schedule_id, slot_at)
      where o.tenant_id = w.tenant_id and o.schedule_id = w.schedule_id and o.slot_at = w.slot_at
        and o.outcome = 'started')
  update ductor.schedule_slot o
    set outcome = w.outcome, reason = case when w.reason = '' then o.reason else w.reason end, decided_at = $3::bigint,
      is_running = w.outcome = 'starting' and o.overlap <> 'allow'
    from unnest($4::uuid[], $5::uuid[], $6::bigint[], $7::text[], $8::text[])
      as w (tenant_id, schedule_id, slot_at, outcome, reason)
    where o.tenant_id = w.tenant_id and o.schedule_id = w.schedule_id and o.slot_at = w.slot_at
      and o.outcome in ('due', 'buffered') and o.shard = any (array(select shard from held))
    returning o.tenant_id::text, o.schedule_id::text, o.slot_at, o.outcome`,
);

/**
 * Writes decisions down, and that runs have ended. A slot that was decided meanwhile, or that this node may not decide
 * any more, stays as it is. Returns the slots that are to be started.
 */
export async function writeDecisions(
  db: Queryable,
  by: Holder,
  nowUs: number,
  decisions: readonly (SlotDecision & SlotRef)[],
  ended: readonly SlotRef[],
): Promise<readonly SlotRef[]> {
  const { rows } = await db.query<Row & { tenant_id: string; schedule_id: string; slot_at: number; outcome: string }>(
    DECIDE,
    [
      ...[by.nodeId, integerArray(by.shards), nowUs, ...keysOf(decisions)],
      ...[decisions.map(({ outcome }) => outcome), decisions.map(({ reason }) => reason), ...keysOf(ended)],
    ],
  );
  return rows
    .filter(({ outcome }) => outcome === 'starting')
    .map((row) => ({ tenantId: row.tenant_id, scheduleId: row.schedule_id, slotUs: row.slot_at }));
}

const TO_START = prepared(
  'schedules_to_start',
  `select ${SCHEDULE_COLUMNS} from unnest($1::uuid[], $2::uuid[]) as w (tenant_id, schedule_id)
  join ductor.schedule s on s.tenant_id = w.tenant_id and s.schedule_id = w.schedule_id`,
);

/** Whole schedules, in any order. */
export async function schedulesOf(db: Queryable, refs: readonly ScheduleRef[]): Promise<readonly ScheduleRecord[]> {
  const { rows } = await db.query<ScheduleRow>(TO_START, [
    uuidArray(refs.map(({ tenantId }) => tenantId)),
    uuidArray(refs.map(({ scheduleId }) => scheduleId)),
  ]);
  return rows.map(toScheduleRecord);
}

const RECORD = prepared(
  'schedules_record',
  `with ${HELD}
  update ductor.schedule_slot o
    set outcome = case when w.run_id is null then 'failed' else 'started' end, run_id = w.run_id,
      reason = case when w.reason = '' then o.reason else w.reason end, decided_at = $3::bigint,
      is_running = w.run_id is not null and o.overlap <> 'allow'
    from unnest($4::uuid[], $5::uuid[], $6::bigint[], $7::uuid[], $8::text[])
      as w (tenant_id, schedule_id, slot_at, run_id, reason)
    where o.tenant_id = w.tenant_id and o.schedule_id = w.schedule_id and o.slot_at = w.slot_at
      and o.outcome = 'starting' and o.shard = any (array(select shard from held))`,
);

/** What came of a start. */
export interface StartRecord extends SlotRef {
  /** null: it failed, for the reason given. */
  readonly runId: string | null;
  readonly reason: string;
}

/** Writes down what came of starts. */
export async function writeStarts(
  db: Queryable,
  by: Holder,
  nowUs: number,
  starts: readonly StartRecord[],
): Promise<void> {
  await db.query(RECORD, [
    ...[by.nodeId, integerArray(by.shards), nowUs, ...keysOf(starts)],
    ...[uuidArray(starts.map(({ runId }) => runId)), starts.map(({ reason }) => reason)],
  ]);
}
