/** PoolService: who has which capacity. */
import type { ListCapacityRequest, ListCapacityResponse } from '../../../gen/ductor/v1/pool.js';
import type { BoardQuery, CapacityBoard } from '../../../capacity/index.js';
import { isUuid } from '../../../kernel/index.js';
import type { Pools } from '../../../pools/index.js';
import type { Unary } from '../call.js';
import { badCursor, decodeCursor } from '../checks/cursor.js';
import { FieldChecks } from '../checks/field-checks.js';
import { lineMessage } from '../wire/capacity.js';
import { pageOf } from '../wire/page.js';

/** What the handler needs. */
export interface CapacityParts {
  readonly board: CapacityBoard;
  readonly pools: Pick<Pools, 'get'>;
}

/** The last line of the page before. A cursor of a list of another pool is none of this one. */
function afterOf(cursor: string, poolId: string): BoardQuery['after'] {
  if (cursor === '') return null;
  const [pool = '', recipientId = ''] = decodeCursor(cursor, 2);
  if (!isUuid(pool) || !isUuid(recipientId) || (poolId !== '' && pool !== poolId)) throw badCursor(cursor);
  return { poolId: pool, recipientId };
}

/** ListCapacity. A cursor names pool and recipient of the last line of its page. */
export function listCapacity({ board, pools }: CapacityParts): Unary<ListCapacityRequest, ListCapacityResponse> {
  return async ({ poolId, pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    if (poolId !== '') checks.uuid('pool_id', poolId);
    checks.done();
    const after = afterOf(cursor, poolId);
    if (poolId !== '') await pools.get(tenantId, poolId);
    const found = await board.list(tenantId, { poolId: poolId === '' ? null : poolId, after, limit: limit + 1 });
    const { page, end } = pageOf(found, limit, (last) => [last.poolId, last.recipientId]);
    return { data: page.map(lineMessage), pagination: end };
  };
}
