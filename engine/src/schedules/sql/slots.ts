/** Slots as people list them, trigger them and ask for them again. */
import { integerArray, type Queryable, type Row } from '../../store/index.js';
import type { OverlapPolicy, SlotOutcome, SlotRecord, SlotSource } from '../schedule.js';

const SLOT_COLUMNS = 'o.slot_at, o.due_at, o.source, o.outcome, o.reason, o.run_id::text, o.decided_at';

interface SlotRow extends Row {
  readonly slot_at: number;
  readonly due_at: number;
  readonly source: SlotSource;
  readonly outcome: SlotOutcome;
  readonly reason: string;
  readonly run_id: string | null;
  readonly decided_at: number | null;
}

function toSlotRecord(row: SlotRow): SlotRecord {
  return {
    slotUs: row.slot_at,
    dueUs: row.due_at,
    source: row.source,
    outcome: row.outcome,
    reason: row.reason,
    runId: row.run_id,
    decidedAtUs: row.decided_at,
  };
}

/** Slots to list, newest first. */
export interface SlotQuery {
  readonly tenantId: string;
  readonly scheduleId: string;
  /** Only slots before this one, microseconds since 1970. */
  readonly beforeUs: number;
  /** Absent: whatever became of them. */
  readonly outcome?: SlotOutcome;
  readonly limit: number;
}

/** A page of slots. */
export async function listSlots(db: Queryable, query: SlotQuery): Promise<readonly SlotRecord[]> {
  const { outcome } = query;
  const { rows } = await db.query<SlotRow>(
    `select ${SLOT_COLUMNS} from ductor.schedule_slot o
      where o.tenant_id = $1::uuid and o.schedule_id = $2::uuid and o.slot_at < $3
        ${outcome === undefined ? '' : 'and o.outcome = $5::text'}
      order by o.slot_at desc limit $4`,
    [query.tenantId, query.scheduleId, query.beforeUs, query.limit, ...(outcome === undefined ? [] : [outcome])],
  );
  return rows.map(toSlotRecord);
}

/** Slots to add to a schedule of a tenant. */
export interface SlotsToAdd {
  readonly tenantId: string;
  readonly scheduleId: string;
  readonly source: Exclude<SlotSource, 'time'>;
  readonly overlap: OverlapPolicy;
  /** Distinct. */
  readonly slotsUs: readonly number[];
  readonly nowUs: number;
}

/**
 * Makes slots due now: those there was no row of, and those that started nothing. What started, or is on its way, stays
 * as it is. Returns the slots that are due by it.
 */
export async function addSlots(tx: Queryable, slots: SlotsToAdd): Promise<readonly SlotRecord[]> {
  const { rows } = await tx.query<SlotRow>(
    `insert into ductor.schedule_slot as o (slot_at, due_at, shard, tenant_id, schedule_id, source, outcome, overlap)
      select t.slot_at, $5, s.shard, s.tenant_id, s.schedule_id, $3, 'due', $4
        from ductor.schedule s cross join unnest($6::bigint[]) as t (slot_at)
        where s.tenant_id = $1::uuid and s.schedule_id = $2::uuid
      on conflict (tenant_id, schedule_id, slot_at) do update
        set due_at = excluded.due_at, source = excluded.source, outcome = 'due', overlap = excluded.overlap,
          reason = '', decided_at = null
        where o.outcome in ('skipped_overlap', 'missed_catch_up', 'failed')
      returning ${SLOT_COLUMNS}`,
    [slots.tenantId, slots.scheduleId, slots.source, slots.overlap, slots.nowUs, integerArray(slots.slotsUs)],
  );
  return rows.map(toSlotRecord);
}

/** Deletes decided slots of before an instant, at most `limit`. Returns how many. */
export async function deleteOldSlots(db: Queryable, beforeUs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from ductor.schedule_slot o using (
        select d.tenant_id, d.schedule_id, d.slot_at from ductor.schedule_slot d
          where d.slot_at < $1 and d.outcome not in ('due', 'starting', 'buffered') limit $2) as old
      where o.tenant_id = old.tenant_id and o.schedule_id = old.schedule_id and o.slot_at = old.slot_at`,
    [beforeUs, limit],
  );
  return rowCount;
}
