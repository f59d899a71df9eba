/** Weeks since 1970 in which run ids were drawn, and the partitions that go by them. */

/** Length of a week, microseconds. */
export const WEEK_US = 604_800_000_000;

/** Tables of which each week has a partition. */
export const WEEKLY_TABLES = ['run_journal', 'payloads'] as const;

/** One of them. */
export type WeeklyTable = (typeof WEEKLY_TABLES)[number];

/** The name of a week's partition, without its schema: digits behind a fixed text, so safe in a statement. */
export function partitionOf(table: WeeklyTable, week: number): string {
  return `${table}_w${Math.trunc(week)}`;
}
