/** The stored schedules of all tenants, for callers. The driver does the rest (driver/schedule-driver.ts). */
import { DuctorError, isUuid, shardOf, uuidV7, type Clock, type Random } from '../kernel/index.js';
import type { Queryable, TenantAccess } from '../store/index.js';
import { insertAudit, type Deed } from '../tenancy/index.js';
import { checkContent, isScheduleSlug, refuseProblems, SCHEDULE_LIMITS } from './check-content.js';
import type { NewSchedule, OverlapPolicy, ScheduleContent, ScheduleRecord, SlotRecord } from './schedule.js';
import { boundedSlots, jitterUs, slotsOf } from './slots/slots.js';
import type { Slots } from './slots/spec.js';
import { deleteSchedule } from './sql/delete-schedule.js';
import { findSchedule, lockSchedule, type ScheduleKey } from './sql/find-schedule.js';
import { insertSchedule } from './sql/insert-schedule.js';
import { countSchedules, listSchedules } from './sql/list-schedules.js';
import { addSlots, listSlots, type SlotQuery } from './sql/slots.js';
import { updateSchedule } from './sql/update-schedule.js';

/** What was asked for by a backfill. */
export interface Backfill {
  /** First and last instant, microseconds since 1970; both count. */
  readonly fromUs: number;
  readonly toUs: number;
  readonly overlap: OverlapPolicy;
}

/** What became of it. */
export interface BackfillOutcome {
  /** Slots that start because of it. */
  readonly added: number;
  /** Slots that had started before, or are on their way: one run a slot. */
  readonly kept: number;
}

/**
 * Schedules of a tenant. `idOrSlug` is the id of a schedule or its slug. `by` is whose deed a change is: it stands in
 * the audit trail with it; null (default) where no caller asked. Every call may throw database_unavailable; those that
 * name a schedule throw not_found.
 */
export interface Schedules {
  /** Throws invalid_argument with everything that is wrong, schedule_exists, limit_exceeded. */
  create(tenantId: string, schedule: NewSchedule, by?: Deed | null): Promise<ScheduleRecord>;
  get(tenantId: string, idOrSlug: string): Promise<ScheduleRecord>;
  /** By slug, those after `afterSlug` (empty: from the first), at most `limit`. */
  list(tenantId: string, afterSlug: string, limit: number): Promise<readonly ScheduleRecord[]>;
  /**
   * Makes the schedule what `change` answers. Where the times change, the next slot is the first after now. Throws
   * invalid_argument, version_conflict.
   *
   * @param expectedVersion recordVersion that the caller read; 0: whatever it is
   */
  update(
    tenantId: string,
    idOrSlug: string,
    expectedVersion: number,
    change: (current: ScheduleRecord) => ScheduleContent,
    by?: Deed | null,
  ): Promise<ScheduleRecord>;
  /** Deletes the schedule and its slots. Its runs go on. */
  remove(tenantId: string, idOrSlug: string, by?: Deed | null): Promise<ScheduleRecord>;
  /** No slots come until resume; those in between are no slots. Nothing changes where it is paused already. */
  pause(tenantId: string, idOrSlug: string, reason: string, by?: Deed | null): Promise<ScheduleRecord>;
  /** The next slot is the first after now. */
  resume(tenantId: string, idOrSlug: string, by?: Deed | null): Promise<ScheduleRecord>;
  /** Makes a slot of this very moment. @param overlap null: as the schedule says */
  trigger(tenantId: string, idOrSlug: string, overlap: OverlapPolicy | null, by?: Deed | null): Promise<SlotRecord>;
  /** Makes the slots of a range due that started nothing so far. Throws invalid_argument. */
  backfill(tenantId: string, idOrSlug: string, range: Backfill, by?: Deed | null): Promise<BackfillOutcome>;
  /** Newest first. */
  slots(
    tenantId: string,
    idOrSlug: string,
    query: Omit<SlotQuery, 'tenantId' | 'scheduleId'>,
  ): Promise<readonly SlotRecord[]>;
  /** The next slots of a schedule as it stands, at most `count`. */
  upcoming(schedule: ScheduleRecord, count: number): readonly number[];
}

/** What the schedules are made of. */
export interface SchedulesOptions {
  readonly db: TenantAccess;
  readonly clock: Clock;
  readonly random: Random;
  /** Told after each change, of the shard of the schedule. */
  readonly changed: (shard: number) => void;
}

function notFound(idOrSlug: string): never {
  throw new DuctorError('not_found', `there is no schedule ${JSON.stringify(idOrSlug.slice(0, 200))}`);
}

/** No slug is a UUID, so a text names a schedule in one way only. */
function keyOf(tenantId: string, idOrSlug: string): ScheduleKey {
  if (isUuid(idOrSlug)) return { tenantId, id: idOrSlug, slug: null };
  return isScheduleSlug(idOrSlug) ? { tenantId, id: null, slug: idOrSlug } : notFound(idOrSlug);
}

function slotsIn({ spec, startsAtUs, endsAtUs }: ScheduleContent): Slots {
  return boundedSlots(slotsOf(spec), startsAtUs, endsAtUs);
}

/** The first slot after an instant, and when it is due. */
function firstAfter(
  content: ScheduleContent,
  id: string,
  afterUs: number,
): { readonly nextSlotUs: number | null; readonly dueUs: number | null } {
  const nextSlotUs = slotsIn(content).nextAfter(afterUs);
  return { nextSlotUs, dueUs: nextSlotUs === null ? null : nextSlotUs + jitterUs(id, nextSlotUs, content.jitterMs) };
}

/** Whether two contents have the same slots at the same times. */
function isSameTimes(a: ScheduleContent, b: ScheduleContent): boolean {
  const times = ({ spec, startsAtUs, endsAtUs, jitterMs }: ScheduleContent): string =>
    JSON.stringify([Object.entries(spec).sort(([x], [y]) => (x < y ? -1 : 1)), startsAtUs, endsAtUs, jitterMs]);
  return times(a) === times(b);
}

function checkSlug(slug: string): void {
  if (isScheduleSlug(slug)) return;
  const max = SCHEDULE_LIMITS.slugChars;
  const problem = `must be lower-case letters, digits and hyphens, beginning with a letter, at most ${max}`;
  refuseProblems([{ path: 'slug', value: slug.slice(0, 200), problem, remedy: 'Name it such as nightly-report.' }]);
}

/** Slots of a range. Throws invalid_argument when it is upside down, lies ahead, or holds too many. */
function slotsOfRange(schedule: ScheduleRecord, { fromUs, toUs }: Backfill, nowUs: number): readonly number[] {
  const note = (path: string, problem: string, remedy: string): void =>
    refuseProblems([{ path, value: '', problem, remedy }]);
  if (toUs < fromUs) note('to', 'is before from', 'Let the range end after it begins.');
  if (toUs > nowUs) note('to', 'lies in the future', 'Those slots come by themselves.');
  const slots = slotsIn(schedule);
  const found: number[] = [];
  const max = SCHEDULE_LIMITS.backfillSlots;
  for (let at = slots.nextAfter(fromUs - 1); at !== null && at <= toUs; at = slots.nextAfter(at)) {
    if (found.length >= max) note('to', `makes more than ${max} slots`, 'Ask for a shorter range, then for the rest.');
    found.push(at);
  }
  return found;
}

/** Tries to find a microsecond that no slot has. */
const TRIGGER_TRIES = 16;

class StoredSchedules implements Schedules {
  constructor(readonly options: SchedulesOptions) {}

  async create(tenantId: string, schedule: NewSchedule, by: Deed | null = null): Promise<ScheduleRecord> {
    const { db, clock, random } = this.options;
    checkSlug(schedule.slug);
    checkContent(schedule, clock.nowUs());
    const id = uuidV7(clock.nowUs(), random);
    const row = { ...schedule, tenantId, id, shard: shardOf(id), ...firstAfter(schedule, id, clock.nowUs()) };
    const made = await db.asTenant(tenantId).transaction(async (tx) => {
      if ((await countSchedules(tx, tenantId, SCHEDULE_LIMITS.schedules)) >= SCHEDULE_LIMITS.schedules) {
        throw new DuctorError('limit_exceeded', `a tenant has at most ${SCHEDULE_LIMITS.schedules} schedules`);
      }
      const stored = await insertSchedule(tx, row);
      if (stored === undefined) {
        throw new DuctorError('schedule_exists', `there is a schedule ${JSON.stringify(schedule.slug)} already`);
      }
      await audit(tx, by, stored);
      return stored;
    });
    this.options.changed(row.shard);
    return made;
  }

  async get(tenantId: string, idOrSlug: string): Promise<ScheduleRecord> {
    return (await findSchedule(this.options.db.asTenant(tenantId), keyOf(tenantId, idOrSlug))) ?? notFound(idOrSlug);
  }

  list(tenantId: string, afterSlug: string, limit: number): Promise<readonly ScheduleRecord[]> {
    return listSchedules(this.options.db.asTenant(tenantId), tenantId, afterSlug, limit);
  }

  update(
    tenantId: string,
    idOrSlug: string,
    expectedVersion: number,
    change: (current: ScheduleRecord) => ScheduleContent,
    by: Deed | null = null,
  ): Promise<ScheduleRecord> {
    return this.#change(tenantId, idOrSlug, by, (current) => {
      if (expectedVersion !== 0 && expectedVersion !== current.recordVersion) {
        const message = `${current.slug} has record_version ${current.recordVersion}, not ${expectedVersion}`;
        throw new DuctorError('version_conflict', message);
      }
      const content = change(current);
      // A title can be changed also of a schedule whose last date has passed.
      checkContent(content, isSameTimes(content, current) ? 0 : this.options.clock.nowUs());
      return { ...current, ...content };
    });
  }

  pause(tenantId: string, idOrSlug: string, reason: string, by: Deed | null = null): Promise<ScheduleRecord> {
    return this.#change(tenantId, idOrSlug, by, (current) =>
      current.isPaused ? current : { ...current, isPaused: true, pauseReason: reason },
    );
  }

  resume(tenantId: string, idOrSlug: string, by: Deed | null = null): Promise<ScheduleRecord> {
    return this.#change(tenantId, idOrSlug, by, (current) =>
      current.isPaused ? { ...current, isPaused: false, pauseReason: '' } : current,
    );
  }

  remove(tenantId: string, idOrSlug: string, by: Deed | null = null): Promise<ScheduleRecord> {
    return this.#locked(tenantId, idOrSlug, by, async (tx, current) => {
      await deleteSchedule(tx, tenantId, current.id);
      return current;
    });
  }

  trigger(
    tenantId: string,
    idOrSlug: string,
    overlap: OverlapPolicy | null,
    by: Deed | null = null,
  ): Promise<SlotRecord> {
    return this.#locked(tenantId, idOrSlug, by, async (tx, current) => {
      const nowUs = this.options.clock.nowUs();
      const slot = {
        tenantId,
        scheduleId: current.id,
        source: 'trigger',
        overlap: overlap ?? current.overlap,
      } as const;
      for (let tries = 0; tries < TRIGGER_TRIES; tries += 1) {
        const [added] = await addSlots(tx, { ...slot, slotsUs: [nowUs + tries], nowUs });
        if (added !== undefined) return added;
      }
      throw new DuctorError('limit_exceeded', `${current.slug} is triggered too often`, { retryAfterMs: 10 });
    });
  }

  backfill(tenantId: string, idOrSlug: string, range: Backfill, by: Deed | null = null): Promise<BackfillOutcome> {
    return this.#locked(tenantId, idOrSlug, by, async (tx, current) => {
      const nowUs = this.options.clock.nowUs();
      const slotsUs = slotsOfRange(current, range, nowUs);
      const { overlap } = range;
      const slots = { tenantId, scheduleId: current.id, source: 'backfill', overlap, slotsUs, nowUs } as const;
      const { length: added } = await addSlots(tx, slots);
      return { added, kept: slotsUs.length - added };
    });
  }

  async slots(
    tenantId: string,
    idOrSlug: string,
    query: Omit<SlotQuery, 'tenantId' | 'scheduleId'>,
  ): Promise<readonly SlotRecord[]> {
    const { id } = await this.get(tenantId, idOrSlug);
    return listSlots(this.options.db.asTenant(tenantId), { ...query, tenantId, scheduleId: id });
  }

  upcoming(schedule: ScheduleRecord, count: number): readonly number[] {
    // A list asks for one of each: a pattern that is made and looked up takes up to a millisecond.
    if (count === 1) return schedule.nextSlotUs === null ? [] : [schedule.nextSlotUs];
    const found: number[] = [];
    const slots = slotsIn(schedule);
    for (let at = schedule.nextSlotUs; at !== null && found.length < count; at = slots.nextAfter(at)) found.push(at);
    return found;
  }

  /** Writes what `change` makes of the schedule; the same object: nothing. */
  #change(
    tenantId: string,
    idOrSlug: string,
    by: Deed | null,
    change: (current: ScheduleRecord) => ScheduleRecord,
  ): Promise<ScheduleRecord> {
    return this.#locked(tenantId, idOrSlug, by, async (tx, current, dueUs) => {
      const next = change(current);
      if (next === current) return current;
      const nowUs = this.options.clock.nowUs();
      const isMoved = next.isPaused !== current.isPaused || !isSameTimes(next, current);
      const kept = { nextSlotUs: current.nextSlotUs, dueUs };
      const times = isMoved ? firstAfter(next, current.id, nowUs) : kept;
      const none = { nextSlotUs: null, dueUs: null };
      return (await updateSchedule(tx, { ...next, ...(next.isPaused ? none : times) })) ?? notFound(idOrSlug);
    });
  }

  /** Works on a schedule that is locked, in a transaction with its audit row; then tells of the change. */
  async #locked<T>(
    tenantId: string,
    idOrSlug: string,
    by: Deed | null,
    work: (tx: Queryable, current: ScheduleRecord, dueUs: number | null) => Promise<T>,
  ): Promise<T> {
    const key = keyOf(tenantId, idOrSlug);
    let shard = 0;
    const done = await this.options.db.asTenant(tenantId).transaction(async (tx) => {
      const current = (await lockSchedule(tx, key)) ?? notFound(idOrSlug);
      shard = shardOf(current.id);
      await audit(tx, by, current);
      const { nextSlotUs, id, jitterMs } = current;
      return work(tx, current, nextSlotUs === null ? null : nextSlotUs + jitterUs(id, nextSlotUs, jitterMs));
    });
    this.options.changed(shard);
    return done;
  }
}

/** Writes whose deed a change of a schedule was. */
async function audit(tx: Queryable, by: Deed | null, { tenantId, id }: ScheduleRecord): Promise<void> {
  if (by === null) return;
  await insertAudit(tx, [{ ...by, tenantId, objectKind: 'schedule', objectId: id, outcome: 'ok' }]);
}

/** The schedules in a database. */
export function createSchedules(options: SchedulesOptions): Schedules {
  return new StoredSchedules(options);
}
