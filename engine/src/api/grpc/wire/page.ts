/** The part of an answer that says where a list goes on. */
import type { Pagination } from '../../../gen/ductor/v1/common.js';
import { encodeCursor } from '../checks/cursor.js';

/** Where a list goes on; an empty cursor: nowhere, it is over. */
export function pageEnd(nextCursor: string): Pagination {
  return { pageSize: 0, cursor: '', nextCursor };
}

/**
 * A page of what was found, and where the list goes on.
 *
 * @param found one more than the page may hold, where there is one
 * @param limit what the page may hold
 * @param positionOf the parts of the cursor that names the last item of the page
 */
export function pageOf<T>(
  found: readonly T[],
  limit: number,
  positionOf: (last: T) => readonly (string | number)[],
): { readonly page: readonly T[]; readonly end: Pagination } {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const isOver = found.length <= limit || last === undefined;
  return { page, end: pageEnd(isOver ? '' : encodeCursor(positionOf(last))) };
}
