/** Writes down the slots that have come. */
import { shardOf } from '../../kernel/index.js';
import type { Queryable } from '../../store/index.js';
import { planSlots } from '../planning/plan-slots.js';
import type { ScheduleRecord } from '../schedule.js';
import { boundedSlots, slotsOf } from '../slots/slots.js';
import { dueSchedules, type Holder, type PlanWrite, writePlans } from '../sql/driving.js';

/** Schedules that are planned in one statement. */
const PAGE_SCHEDULES = 200;

function planOf(schedule: ScheduleRecord, nextSlotUs: number, nowUs: number): PlanWrite {
  const { id, tenantId, recordVersion, catchUp, catchUpWindowMs, jitterMs, startsAtUs, endsAtUs } = schedule;
  const slots = boundedSlots(slotsOf(schedule.spec), startsAtUs, endsAtUs);
  const plan = planSlots({ scheduleId: id, slots, nextSlotUs, nowUs, catchUp, catchUpWindowMs, jitterMs });
  return { tenantId, scheduleId: id, recordVersion, expectedSlotUs: nextSlotUs, ...plan };
}

/** Shards of schedules, each once. */
export function shardsOf(refs: readonly { readonly scheduleId: string }[]): readonly number[] {
  return [...new Set(refs.map(({ scheduleId }) => shardOf(scheduleId)))];
}

/** Plans what is due. Returns whether anything was written down: then there may be more. */
export async function planDue(db: Queryable, { nodeId, shards }: Holder, nowUs: number): Promise<boolean> {
  const due = await dueSchedules(db, shards, nowUs, PAGE_SCHEDULES);
  const plans = due.flatMap((schedule) => {
    return schedule.nextSlotUs === null ? [] : [planOf(schedule, schedule.nextSlotUs, nowUs)];
  });
  if (plans.length === 0) return false;
  return (await writePlans(db, { nodeId, shards: shardsOf(plans) }, nowUs, plans)) > 0;
}
