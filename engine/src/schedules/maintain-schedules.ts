/** Keeps the table of slots from growing for ever. */
import type { Clock } from '../kernel/index.js';
import type { Queryable } from '../store/index.js';
import { deleteOldSlots } from './sql/slots.js';

/** How long decided slots are kept: 90 days. */
const KEPT_US = 90 * 86_400_000_000;
const PAGE = 5_000;

/** Deletes slots that were decided long ago. Returns how many. */
export async function maintainSchedules(db: Queryable, clock: Pick<Clock, 'nowUs'>): Promise<number> {
  let deleted = 0;
  for (;;) {
    const page = await deleteOldSlots(db, clock.nowUs() - KEPT_US, PAGE);
    deleted += page;
    if (page < PAGE) return deleted;
  }
}
