/** Looks at expired runs of a week and leaves them alone. */
import type { Queryable, Row } from '../../../store/index.js';
import { EXPIRED, PAGE_END, expiredPage, expiredValues, type ExpiredPage, type ExpiredQuery } from './expired.js';

interface FoundRow extends Row {
  readonly seen: number;
  readonly found: number;
  readonly due: number | null;
  readonly run_id: string | null;
}

/** A page of them. */
export async function findExpired(db: Queryable, query: ExpiredQuery): Promise<ExpiredPage> {
  const { rows } = await db.query<FoundRow>(`with ${EXPIRED} select ${PAGE_END}`, expiredValues(query));
  return expiredPage(rows[0] ?? { seen: 0, found: 0, due: null, run_id: null }, query.limit);
}
