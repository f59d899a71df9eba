/** Starts the runs of slots, as many at once as there are. */
import { DuctorError, sha256Hex } from '../../kernel/index.js';
import type { ScheduleRecord } from '../schedule.js';
import type { ScheduleRef, SlotRef } from '../sql/driving.js';
import type { StartRecord } from '../sql/settling.js';
import type { ScheduleRuns, SlotStart } from './ports.js';

/** Attributes by which runs and their expressions know what they are for. */
const SCHEDULE_ATTRIBUTE = 'ductor.schedule';
const SLOT_ATTRIBUTE = 'ductor.slot';

/** Starts that are refused for now are tried again, these codes among what is retryable included. */
const FOR_NOW = new Set(['node_fenced', 'node_starting']);

/** Names a schedule in a map. */
export function scheduleName({ tenantId, scheduleId }: ScheduleRef): string {
  return `${tenantId}/${scheduleId}`;
}

/** The start of a slot: key and fingerprint depend on schedule and slot alone. */
function startOf(schedule: ScheduleRecord, slotUs: number): SlotStart {
  const { tenantId, familySlug, version, input, attributes, slug, id } = schedule;
  const idempotencyKey = `schedule/${id}/${slotUs}`;
  return {
    ...{ tenantId, familySlug, version, input, idempotencyKey },
    attributes: { ...attributes, [SCHEDULE_ATTRIBUTE]: slug, [SLOT_ATTRIBUTE]: new Date(slotUs / 1_000).toISOString() },
    fingerprint: Buffer.from(sha256Hex(idempotencyKey), 'hex'),
  };
}

/** undefined: it is refused for now, the slot stays as it is. */
async function startOne(
  runs: Pick<ScheduleRuns, 'start'>,
  schedule: ScheduleRecord,
  slot: SlotRef,
): Promise<StartRecord | undefined> {
  const { tenantId, scheduleId, slotUs } = slot;
  const ref = { tenantId, scheduleId, slotUs };
  try {
    const { runId } = await runs.start(startOf(schedule, slotUs));
    return { ...ref, runId, reason: '' };
  } catch (caught) {
    const error = DuctorError.from(caught);
    if (error.kind.retryable || FOR_NOW.has(error.code)) return undefined;
    return {
      ...ref,
      runId: null,
      reason: `${error.code}: ${error.message}`.slice(0, 1_000).replaceAll('\0', '\ufffd'),
    };
  }
}

/** Starts all slots. What is refused for now is left out of the answer. */
export async function startSlots(
  runs: Pick<ScheduleRuns, 'start'>,
  schedules: readonly ScheduleRecord[],
  slots: readonly SlotRef[],
): Promise<readonly StartRecord[]> {
  const byName = new Map(
    schedules.map((each) => [scheduleName({ tenantId: each.tenantId, scheduleId: each.id }), each]),
  );
  const tries = slots.flatMap((slot) => {
    const schedule = byName.get(scheduleName(slot));
    return schedule === undefined ? [] : [startOne(runs, schedule, slot)];
  });
  const started = await Promise.all(tries);
  return started.filter((each) => each !== undefined);
}
