/** Pools from code: what a pool says, its kill switch, its figures. */
import type { ChannelCredentials, ClientOptions } from '@grpc/grpc-js';
import { checkNames } from '../connection/field-checks.js';
import {
  type CapacityReset,
  CreatePoolRequest,
  type DeepPartial,
  type ListPoolsResponse,
  type Pool,
  PoolInput,
  PoolServiceClient,
  type PoolStats,
} from '../gen/ductor/v1/pool.js';
import { Status } from '../gen/ductor/v1/workflow.js';
import { dateOf } from './run-view.js';
import type { PageOptions } from './schedule-options.js';
import { type Ask, askBy, page, type Setup } from './topology-call.js';
import { type Change, masked } from './update-mask.js';
import { present } from './unary.js';

/** What can be said of a pool. */
export type PoolFields = DeepPartial<PoolInput>;

/** A pool as it is. */
export interface PoolView extends Omit<Pool, 'createdAt' | 'updatedAt'> {
  readonly createdAt: Date | undefined;
  readonly updatedAt: Date | undefined;
}

/** Figures of a pool. */
export interface PoolStatsView extends Omit<PoolStats, 'updatedAt'> {
  readonly updatedAt: Date | undefined;
}

/** A page of pools, in order of their names. */
export interface PoolPage {
  readonly pools: readonly PoolView[];
  /** Cursor of the next page; undefined on the last. */
  readonly nextCursor: string | undefined;
}

/** Which pools are listed. */
export interface PoolListOptions extends PageOptions {
  /** Default: all. */
  readonly status?: Status;
}

/** A guard: the `recordVersion` that was read. Default: none. */
export interface VersionGuard {
  readonly expectedVersion?: number;
}

/** What goes with the kill switch. */
export interface EnabledOptions extends VersionGuard {
  /** For the audit trail, and for whoever looks at the pool. */
  readonly reason?: string;
}

/**
 * Calls about pools. All throw DuctorError: invalid_argument, not_found and more; with `expectedVersion` it is
 * version_conflict when a pool has changed since.
 */
export interface PoolCalls {
  /** Throws pool_exists, strategy_conflict besides. */
  create(fields: PoolFields & { readonly name: string }): Promise<PoolView>;
  get(poolId: string): Promise<PoolView>;
  list(options?: PoolListOptions): Promise<PoolPage>;
  /** Changes what is given and nothing else; null clears. */
  update(poolId: string, change: Change<PoolFields>, guard?: VersionGuard): Promise<PoolView>;
  /** Its recipients stay. */
  delete(poolId: string, guard?: VersionGuard): Promise<PoolView>;
  /** The kill switch: false stops routing from the pool at once, true lets it go on. */
  setEnabled(poolId: string, enabled: boolean, options?: EnabledOptions): Promise<PoolView>;
  stats(poolId: string): Promise<PoolStatsView>;
  /** Sets committed counters to zero; what workflows have reserved stays reserved. */
  resetCapacity(poolId: string): Promise<CapacityReset>;
}

/** Channels of the calls. */
export interface PoolChannel {
  readonly calls: PoolCalls;
  close(): void;
}

const LIST: Readonly<Record<keyof PoolListOptions, true>> = { status: true, pageSize: true, cursor: true };
const GUARD: Readonly<Record<keyof VersionGuard, true>> = { expectedVersion: true };
const ENABLED: Readonly<Record<keyof EnabledOptions, true>> = { ...GUARD, reason: true };

function poolView({ createdAt, updatedAt, ...rest }: Pool): PoolView {
  return { ...rest, createdAt: dateOf(createdAt), updatedAt: dateOf(updatedAt) };
}

function writes(client: PoolServiceClient, ask: Ask) {
  type Answer = { readonly data: Pool | undefined };
  const one = async (call: Parameters<typeof ask<Answer>>[0]): Promise<PoolView> =>
    poolView(present((await ask<Answer>(call)).data));
  return {
    create: (fields) => one((...rest) => client.createPool(CreatePoolRequest.fromPartial(fields), ...rest)),
    get: (poolId) => one((...rest) => client.getPool({ poolId }, ...rest)),
    update(poolId, change, guard = {}) {
      checkNames('update', guard, GUARD);
      const { sent, updateMask } = masked<PoolFields>(change);
      const request = { poolId, pool: PoolInput.fromPartial(sent), updateMask, expectedVersion: 0, ...guard };
      return one((...rest) => client.updatePool(request, ...rest));
    },
    delete(poolId, guard = {}) {
      checkNames('deletion', guard, GUARD);
      return one((...rest) => client.deletePool({ poolId, expectedVersion: 0, ...guard }, ...rest));
    },
    setEnabled(poolId, enabled, options = {}) {
      checkNames('kill switch', options, ENABLED);
      const request = { poolId, enabled, expectedVersion: 0, reason: '', ...options };
      return one((...rest) => client.setPoolEnabled(request, ...rest));
    },
  } satisfies Partial<PoolCalls>;
}

/** Opens them. */
export function poolCalls(
  target: string,
  credentials: ChannelCredentials,
  options: ClientOptions,
  setup: Setup,
): PoolChannel {
  const client = new PoolServiceClient(target, credentials, options);
  const ask = askBy(setup);
  const calls: PoolCalls = {
    ...writes(client, ask),
    async list(given = {}) {
      checkNames('list of pools', given, LIST);
      const { status = Status.STATUS_UNSPECIFIED, ...rest } = given;
      const request = { status, pagination: page(rest) };
      const { data, pagination } = await ask<ListPoolsResponse>((...more) => client.listPools(request, ...more));
      return { pools: data.map(poolView), nextCursor: pagination?.nextCursor || undefined };
    },
    async stats(poolId) {
      const { data } = await ask<{ readonly data: PoolStats | undefined }>((...rest) =>
        client.getPoolStats({ poolId }, ...rest),
      );
      const { updatedAt, ...stats } = present(data);
      return { ...stats, updatedAt: dateOf(updatedAt) };
    },
    async resetCapacity(poolId) {
      const { data } = await ask<{ readonly data: CapacityReset | undefined }>((...rest) =>
        client.resetPoolCapacity({ poolId }, ...rest),
      );
      return present(data);
    },
  };
  return { calls, close: () => client.close() };
}
