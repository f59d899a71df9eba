/** Drops a week's partition of a weekly table. */
import type { Queryable } from '../../../store/index.js';
import { partitionOf, type WeeklyTable } from '../week.js';

/** How long commits may have to wait behind the drop's lock, ms; it is tried again later. */
const LOCK_WAIT_MS = 200;

/**
 * Drops it; nothing where it is not there. The parent is locked for an instant: a partition cannot be detached
 * concurrently where there is a default one. Throws an error of the class lock when that lock does not come in time.
 */
export async function dropPartition(tx: Queryable, table: WeeklyTable, week: number): Promise<true> {
  await tx.query(`set local lock_timeout = ${LOCK_WAIT_MS}`);
  await tx.query(`lock table ductor.${table} in access exclusive mode`);
  await tx.query(`drop table if exists ductor.${partitionOf(table, week)}`);
  return true;
}
