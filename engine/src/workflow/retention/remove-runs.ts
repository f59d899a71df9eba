/**
 * Removes expired runs in small steps, each a transaction of its own.
 *
 * 1. A run goes with its attributes, keys and snapshot in one step; from then on it is not found. Its rows in the
 *    weekly tables go with their partition, or are noted in the same step and deleted in the next ones.
 * 2. A week goes as a whole when all its runs are expired and nobody is open in their families and chains. Its
 *    partitions are dropped once it has no runs; a janitor that ended in between finds it so, and drops them.
 * 3. Whatever breaks off is found again by the next pass. Applying a step twice is applying it once.
 */
import { classify, type Queryable, type Transactor } from '../../store/index.js';
import { dropPartition } from './sql/drop-partition.js';
import { FIRST, type ExpiredCursor, type ExpiredPage, type ExpiredQuery } from './sql/expired.js';
import { findExpired } from './sql/find-expired.js';
import { deleteRows, findLeftovers, forgetLeftovers } from './sql/leftovers.js';
import { removeExpired } from './sql/remove-expired.js';
import { smallStep } from './sql/small-step.js';
import { isWeekExpired } from './sql/week-expired.js';
import { weeksOfClosedRuns, weeksWithPartitions } from './sql/weeks.js';
import { WEEK_US, WEEKLY_TABLES, type WeeklyTable } from './week.js';

/** What one step removed. */
export interface Removed {
  readonly runs: number;
  /** Rows of the journal and large values; not those that went with a partition. */
  readonly rows: number;
  readonly partitions: number;
}

/** What a removal works with. */
export interface Removal {
  readonly db: Transactor;
  /** Database time, microseconds. */
  readonly nowUs: () => number;
  /** Hears of each step, and says how to go on: false ends the pass. */
  readonly stepped: (removed: Removed) => Promise<boolean>;
}

/** Runs a step looks at. */
const STEP_RUNS = 500;
/** Rows a step deletes of each weekly table; a large value is up to 2 MiB in pieces of 2 KiB. */
const STEP_ROWS: Readonly<Record<WeeklyTable, number>> = { run_journal: 5_000, payloads: 100 };
/** How long after its end a week may be dropped: no clock of a node that draws run ids is off by a day. */
const DROP_AFTER_US = 86_400_000_000;
const ALL_DUE = Number.MAX_SAFE_INTEGER;
const NOTHING: Removed = { runs: 0, rows: 0, partitions: 0 };

/** One step; undefined when the pass is to end: another node is at it, or this one stops. */
async function step<T>(
  { db, stepped }: Removal,
  work: (tx: Queryable) => Promise<T>,
  of: (done: T) => Removed,
): Promise<T | undefined> {
  const done = await smallStep(db, work);
  return done !== undefined && (await stepped(of(done))) ? done : undefined;
}

/** Page after page of a week, until one is refused; whether none was. undefined: the pass is to end. */
async function eachPage(
  removal: Removal,
  { week, dueUs }: Pick<ExpiredQuery, 'week' | 'dueUs'>,
  page: (tx: Queryable, query: ExpiredQuery) => Promise<ExpiredPage & { readonly gone?: number }>,
  isFine: (page: ExpiredPage) => boolean,
): Promise<boolean | undefined> {
  let after: ExpiredCursor | null = FIRST;
  while (after !== null) {
    const query: ExpiredQuery = { week, dueUs, after, limit: STEP_RUNS };
    const done: ExpiredPage | undefined = await step(
      removal,
      (tx) => page(tx, query),
      ({ gone = 0 }) => ({ ...NOTHING, runs: gone }),
    );
    if (done === undefined) return undefined;
    if (!isFine(done)) return false;
    after = done.next;
  }
  return true;
}

/** Whether every run of a week may go. undefined: the pass is to end. */
async function isWhole(removal: Removal, week: number): Promise<boolean | undefined> {
  if (!(await isWeekExpired(removal.db, week))) return false;
  return eachPage(removal, { week, dueUs: ALL_DUE }, findExpired, ({ found, seen }) => found === seen);
}

/** Removes runs of a week that are due. undefined: the pass is to end. */
function removeDue(removal: Removal, week: number, dueUs: number, keepsWeek: boolean): Promise<boolean | undefined> {
  const remove = (tx: Queryable, query: ExpiredQuery): ReturnType<typeof removeExpired> =>
    removeExpired(tx, query, keepsWeek);
  return eachPage(removal, { week, dueUs }, remove, () => true);
}

/** Drops the partitions of a week that has no runs; one that is in use is dropped by a later pass. */
async function dropWeek(removal: Removal, week: number, tables: readonly WeeklyTable[]): Promise<boolean | undefined> {
  for (const table of tables) {
    try {
      const dropped = await step(
        removal,
        (tx) => dropPartition(tx, table, week),
        () => ({ ...NOTHING, partitions: 1 }),
      );
      if (dropped === undefined) return undefined;
    } catch (error) {
      if (classify(error).class !== 'lock') throw error;
    }
  }
  return true;
}

/** Weeks that are over are dropped whole where nothing of them has to be kept. undefined: the pass is to end. */
async function dropWeeks(removal: Removal): Promise<true | undefined> {
  const { db, nowUs } = removal;
  const partitions = await weeksWithPartitions(db);
  const weeks = new Set(WEEKLY_TABLES.flatMap((table) => partitions.get(table) ?? []));
  const over = [...weeks].filter((week) => (week + 1) * WEEK_US + DROP_AFTER_US <= nowUs());
  for (const week of over.sort((a, b) => a - b)) {
    const isGoing = await isWhole(removal, week);
    if (isGoing === undefined) return undefined;
    if (!isGoing) continue;
    if ((await removeDue(removal, week, ALL_DUE, false)) === undefined) return undefined;
    const tables = WEEKLY_TABLES.filter((table) => partitions.get(table)?.includes(week) === true);
    if ((await dropWeek(removal, week, tables)) === undefined) return undefined;
  }
  return true;
}

/** Rows of removed runs of one week, as many as a step may delete. */
async function deleteSome(tx: Queryable): Promise<{ readonly rows: number; readonly isOver: boolean }> {
  const runs = await findLeftovers(tx, STEP_RUNS);
  if (runs.length === 0) return { rows: 0, isOver: true };
  let rows = 0;
  let isDone = true;
  for (const table of WEEKLY_TABLES) {
    const deleted = await deleteRows(tx, table, runs, STEP_ROWS[table]);
    rows += deleted;
    isDone &&= deleted < STEP_ROWS[table];
  }
  if (isDone) await forgetLeftovers(tx, runs);
  return { rows, isOver: false };
}

/**
 * One pass over everything that is due. Ends early when another node is at it, or when `stepped` says so.
 *
 * @param drops whether weeks are looked at as a whole, too: dearer, and in no hurry
 *
 * Throws database_unavailable.
 */
export async function removeRuns(removal: Removal, drops: boolean): Promise<void> {
  if (drops && (await dropWeeks(removal)) === undefined) return;
  for (const week of await weeksOfClosedRuns(removal.db)) {
    if ((await removeDue(removal, week, removal.nowUs(), true)) === undefined) return;
  }
  for (let isOver = false; !isOver;) {
    const done = await step(removal, deleteSome, ({ rows }) => ({ ...NOTHING, rows }));
    if (done === undefined) return;
    ({ isOver } = done);
  }
}
