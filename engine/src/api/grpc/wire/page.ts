/** The part of an answer that says where a list goes on. */
import type { Pagination } from '../../../gen/ductor/v1/common.js';

/** Where a list goes on; an empty cursor: nowhere, it is over. */
export function pageEnd(nextCursor: string): Pagination {
  return { pageSize: 0, cursor: '', nextCursor };
}
