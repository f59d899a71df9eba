/** PoolService: the markets that work enters. */
import {
  CreatePoolRequest,
  PoolInput,
  PoolServiceService,
  type CreatePoolResponse,
  type DeletePoolRequest,
  type DeletePoolResponse,
  type GetPoolRequest,
  type GetPoolResponse,
  type GetPoolStatsRequest,
  type GetPoolStatsResponse,
  type ListPoolsRequest,
  type ListPoolsResponse,
  type ResetPoolCapacityRequest,
  type ResetPoolCapacityResponse,
  type SetPoolEnabledRequest,
  type SetPoolEnabledResponse,
  type UpdatePoolRequest,
  type UpdatePoolResponse,
} from '../../../gen/ductor/v1/pool.js';
import { Status } from '../../../gen/ductor/v1/workflow.js';
import type { Clock } from '../../../kernel/index.js';
import type { Pools } from '../../../pools/index.js';
import type { Waiting } from '../../../routing/index.js';
import { contractJson } from '../../json/contract-json.js';
import type { Unary } from '../call.js';
import { decodeCursor } from '../checks/cursor.js';
import { FieldChecks, MAX_REASON_CHARS, checkId } from '../checks/field-checks.js';
import { pageOf } from '../wire/page.js';
import { poolMessage, statsMessage } from '../wire/pool.js';
import { patchOf } from './patch.js';

/** What the handlers need. */
export interface PoolServiceParts {
  readonly pools: Pools;
  readonly clock: Clock;
  readonly waiting: Pick<Waiting, 'depth'>;
}

const POOL_STATUSES: readonly Status[] = [
  Status.STATUS_UNSPECIFIED,
  Status.STATUS_ACTIVE,
  Status.STATUS_PAUSED,
  Status.STATUS_DISABLED,
  Status.STATUS_ARCHIVED,
];
const { createPool: CREATE, updatePool: UPDATE, deletePool: DELETE } = PoolServiceService;
const { setPoolEnabled: ENABLE, resetPoolCapacity: RESET } = PoolServiceService;

/** CreatePool. */
export function createPool({ pools }: PoolServiceParts): Unary<CreatePoolRequest, CreatePoolResponse> {
  return async (request, by) => {
    const sent = contractJson().sent('CreatePoolRequest', CreatePoolRequest.encode(request).finish());
    return { data: poolMessage(await pools.create({ by, method: CREATE.path }, sent)) };
  };
}

/** GetPool. */
export function getPool({ pools }: PoolServiceParts): Unary<GetPoolRequest, GetPoolResponse> {
  return async ({ poolId }, { tenantId }) => {
    checkId('pool_id', poolId);
    return { data: poolMessage(await pools.get(tenantId, poolId)) };
  };
}

/** ListPools. A cursor names the last pool of its page. */
export function listPools({ pools }: PoolServiceParts): Unary<ListPoolsRequest, ListPoolsResponse> {
  return async ({ status, pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    if (!POOL_STATUSES.includes(status)) {
      const remedy = `use one of ${POOL_STATUSES.slice(1)
        .map((each) => Status[each])
        .join(', ')}`;
      checks.note('status', Status[status] ?? String(status), 'is no status of a pool', remedy);
    }
    checks.done();
    const [afterName = ''] = cursor === '' ? [] : decodeCursor(cursor, 1);
    const wanted = status === Status.STATUS_UNSPECIFIED ? null : Status[status];
    const found = await pools.list(tenantId, { afterName, status: wanted, limit: limit + 1 });
    const { page, end } = pageOf(found, limit, (last) => [last.fields.name]);
    return { data: page.map(poolMessage), pagination: end };
  };
}

/** UpdatePool. */
export function updatePool({ pools }: PoolServiceParts): Unary<UpdatePoolRequest, UpdatePoolResponse> {
  return async ({ poolId, pool, updateMask, expectedVersion }, by) => {
    checkId('pool_id', poolId);
    const sent = contractJson().sent('PoolInput', PoolInput.encode(pool ?? PoolInput.create()).finish());
    const patch = patchOf(sent, updateMask);
    return { data: poolMessage(await pools.update({ by, method: UPDATE.path }, poolId, patch, expectedVersion)) };
  };
}

/** DeletePool. */
export function deletePool({ pools }: PoolServiceParts): Unary<DeletePoolRequest, DeletePoolResponse> {
  return async ({ poolId, expectedVersion }, by) => {
    checkId('pool_id', poolId);
    return { data: poolMessage(await pools.remove({ by, method: DELETE.path }, poolId, expectedVersion)) };
  };
}

/** SetPoolEnabled. */
export function setPoolEnabled({ pools }: PoolServiceParts): Unary<SetPoolEnabledRequest, SetPoolEnabledResponse> {
  return async ({ poolId, enabled, expectedVersion, reason }, by) => {
    const checks = new FieldChecks();
    checks.uuid('pool_id', poolId);
    checks.text('reason', reason, MAX_REASON_CHARS);
    checks.done();
    const enabling = { enabled, expectedVersion, reason };
    return { data: poolMessage(await pools.setEnabled({ by, method: ENABLE.path }, poolId, enabling)) };
  };
}

/** GetPoolStats. */
export function getPoolStats({
  pools,
  clock,
  waiting,
}: PoolServiceParts): Unary<GetPoolStatsRequest, GetPoolStatsResponse> {
  return async ({ poolId }, { tenantId }) => {
    checkId('pool_id', poolId);
    const stats = await pools.stats(tenantId, poolId);
    const queueDepth = await waiting.depth(tenantId, poolId);
    return { data: statsMessage(poolId, { ...stats, queueDepth }, clock.nowUs()) };
  };
}

/** ResetPoolCapacity. */
export function resetPoolCapacity({
  pools,
}: PoolServiceParts): Unary<ResetPoolCapacityRequest, ResetPoolCapacityResponse> {
  return async ({ poolId }, by) => {
    checkId('pool_id', poolId);
    return { data: { poolId, recipientsAffected: await pools.resetCapacity({ by, method: RESET.path }, poolId) } };
  };
}
