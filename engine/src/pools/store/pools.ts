/**
 * The pools of tenants.
 *
 * Invariants:
 * 1. What was changed stands in the audit trail when, and only when, it was: both are one transaction.
 * 2. record_version counts each change, under a lock of the row; a guard compares under the same lock.
 * 3. An archived pool does not change any more, except that it can be removed.
 * 4. The kill switch is set by setEnabled alone.
 */
import type { CelCompiler } from '../../expressions/index.js';
import { DuctorError } from '../../kernel/index.js';
import type { Queryable, TenantAccess } from '../../store/index.js';
import { deedOf, insertAudit, type Principal } from '../../tenancy/index.js';
import { poolCheck, queuesOf, type PoolFields } from '../objects/pool.js';
import type { CapacityAuthority, QueueKeeper } from '../ports.js';
import type { Pool } from './pool.js';
import { statsOf, type PoolStats } from './pool-stats.js';
import { setKillSwitch, updatePool } from './sql/change-pool.js';
import { deletePools } from './sql/delete-pools.js';
import { insertPool } from './sql/insert-pool.js';
import { listMembers } from './sql/list-members.js';
import { findPool, listPools, lockPool } from './sql/read-pools.js';
import { unlessTaken } from './unique.js';
import { checkVersion } from './version.js';

/** A caller, and the method it called. */
export interface Caller {
  readonly by: Principal;
  /** Full name, for the audit trail. */
  readonly method: string;
}

/** Which pools. */
export interface PoolQuery {
  /** Those after this name; '': from the first. */
  readonly afterName: string;
  /** null: of any. */
  readonly status: string | null;
  readonly limit: number;
}

/** How the kill switch is set. */
export interface Enabling {
  readonly enabled: boolean;
  readonly reason: string;
  /** record_version that the caller read; 0: whatever it is. */
  readonly expectedVersion: number;
}

/** The pools. Ids of other tenants answer not_found, as those of no pool do. */
export interface Pools {
  /** Throws invalid_argument, strategy_conflict, pool_exists, not_found (its claim queue). */
  create(caller: Caller, input: unknown): Promise<Pool>;
  /** Throws not_found. */
  get(tenantId: string, poolId: string): Promise<Pool>;
  /** By name. */
  list(tenantId: string, query: PoolQuery): Promise<readonly Pool[]>;
  /**
   * Changes what the patch names (RFC 7396). Throws what create throws, not_found, version_conflict, object_archived.
   *
   * @param expectedVersion record_version that the caller read; 0: whatever it is
   */
  update(caller: Caller, poolId: string, patch: unknown, expectedVersion: number): Promise<Pool>;
  /** Removes it, and who belongs to it from it; returns what it was. Throws not_found, version_conflict. */
  remove(caller: Caller, poolId: string, expectedVersion: number): Promise<Pool>;
  /** Sets the kill switch. Throws not_found, version_conflict, object_archived. */
  setEnabled(caller: Caller, poolId: string, enabling: Enabling): Promise<Pool>;
  /** Figures over its members. Throws not_found, capacity_authority_unavailable. */
  stats(tenantId: string, poolId: string): Promise<PoolStats>;
  /** Sets the committed counters of its members to 0; returns of how many. Throws not_found. */
  resetCapacity(caller: Caller, poolId: string): Promise<number>;
}

/** What it needs. */
export interface PoolsOptions {
  readonly db: TenantAccess;
  readonly cel: CelCompiler;
  readonly newId: () => string;
  readonly capacity: CapacityAuthority;
  readonly queues: QueueKeeper;
  /** Told after a pool, or what belongs to it, changed. */
  readonly onChange: (tenantId: string, poolIds: readonly string[]) => void;
}

function unknown(poolId: string): DuctorError {
  return new DuctorError('not_found', `there is no pool ${poolId}`);
}

async function audit(tx: Queryable, { by, method }: Caller, poolId: string, reason = ''): Promise<void> {
  const deed = deedOf(by, method, reason);
  await insertAudit(tx, [{ ...deed, tenantId: by.tenantId, objectKind: 'pool', objectId: poolId, outcome: 'ok' }]);
}

/** The pool, locked. Throws not_found, version_conflict, object_archived. */
async function lockForChange(tx: Queryable, tenantId: string, poolId: string, expected: number): Promise<Pool> {
  const pool = await lockPool(tx, tenantId, poolId);
  if (pool === undefined) throw unknown(poolId);
  checkVersion(`pool ${pool.fields.name}`, pool.recordVersion, expected);
  if (pool.fields.status === 'STATUS_ARCHIVED') {
    throw new DuctorError('object_archived', `pool ${pool.fields.name} is archived`);
  }
  return pool;
}

/** Throws not_found unless the claim queues are there that a pool begins to name. */
async function checkQueues(
  { queues }: PoolsOptions,
  tx: Queryable,
  tenantId: string,
  fields: PoolFields,
  was?: PoolFields,
): Promise<void> {
  const known = was === undefined ? [] : queuesOf(was.config);
  const named = queuesOf(fields.config).filter((id) => !known.includes(id));
  const kept = await queues.keep(tx, tenantId, named);
  const missing = named.find((id) => !kept.has(id));
  if (missing !== undefined) throw new DuctorError('not_found', `there is no claim queue ${missing}`);
}

/** Throws pool_exists. */
async function addPool(tx: Queryable, caller: Caller, poolId: string, fields: PoolFields): Promise<Pool> {
  const pool = await insertPool(tx, caller.by.tenantId, poolId, fields);
  if (pool === undefined) throw new DuctorError('pool_exists', takenText(fields.name));
  await audit(tx, caller, poolId);
  return pool;
}

/** Stores what a locked pool is now. Throws pool_exists, not_found (its claim queue). */
async function rewrite(
  options: PoolsOptions,
  tx: Queryable,
  caller: Caller,
  was: Pool,
  fields: PoolFields,
): Promise<Pool> {
  const { tenantId, poolId } = was;
  await checkQueues(options, tx, tenantId, fields, was.fields);
  const updated = updatePool(tx, tenantId, poolId, fields);
  const pool = await unlessTaken(updated, 'pool_exists', takenText(fields.name));
  await audit(tx, caller, poolId);
  return pool;
}

type Reading = Pick<Pools, 'get' | 'list' | 'stats'>;

function reading({ db, capacity }: PoolsOptions): Reading {
  const get = async (tenantId: string, poolId: string): Promise<Pool> => {
    const found = await findPool(db.asTenant(tenantId), tenantId, poolId);
    if (found === undefined) throw unknown(poolId);
    return found;
  };
  return {
    get,
    list: (tenantId, query) => listPools(db.asTenant(tenantId), tenantId, query),
    async stats(tenantId, poolId) {
      await get(tenantId, poolId);
      const access = db.asTenant(tenantId);
      const members = await listMembers(access, tenantId, poolId);
      const ids = members.map(({ recipientId }) => recipientId);
      return statsOf(members, await capacity.read(access, tenantId, ids));
    },
  };
}

/** The pools in this database. */
export function createPools(options: PoolsOptions): Pools {
  const { db, cel, newId, capacity, onChange } = options;
  const checks = poolCheck(cel);
  const change = async <T>(
    { tenantId }: Principal,
    poolId: string,
    work: (tx: Queryable) => Promise<T>,
  ): Promise<T> => {
    const done = await db.asTenant(tenantId).transaction(work);
    onChange(tenantId, [poolId]);
    return done;
  };
  return {
    ...reading(options),
    create(caller, input) {
      const fields = checks.create(input);
      const poolId = newId();
      return change(caller.by, poolId, async (tx) => {
        await checkQueues(options, tx, caller.by.tenantId, fields);
        return addPool(tx, caller, poolId, fields);
      });
    },
    update: (caller, poolId, patch, expected) =>
      change(caller.by, poolId, async (tx) => {
        const was = await lockForChange(tx, caller.by.tenantId, poolId, expected);
        return rewrite(options, tx, caller, was, checks.update(was.fields, patch));
      }),
    remove: (caller, poolId, expected) =>
      change(caller.by, poolId, async (tx) => {
        const { tenantId } = caller.by;
        const was = await lockPool(tx, tenantId, poolId);
        if (was === undefined) throw unknown(poolId);
        checkVersion(`pool ${was.fields.name}`, was.recordVersion, expected);
        await deletePools(tx, tenantId, [poolId]);
        await audit(tx, caller, poolId);
        return was;
      }),
    setEnabled: (caller, poolId, { enabled, reason, expectedVersion }) =>
      change(caller.by, poolId, async (tx) => {
        await lockForChange(tx, caller.by.tenantId, poolId, expectedVersion);
        const kill = enabled ? null : { by: caller.by.name, reason };
        const pool = await setKillSwitch(tx, caller.by.tenantId, poolId, kill);
        await audit(tx, caller, poolId, expectedVersion === 0 ? `unguarded: ${reason}` : reason);
        return pool;
      }),
    resetCapacity: (caller, poolId) =>
      change(caller.by, poolId, async (tx) => {
        const { tenantId } = caller.by;
        const pool = await lockPool(tx, tenantId, poolId);
        if (pool === undefined) throw unknown(poolId);
        const count = await capacity.reset(tx, tenantId, pool.recipientIds);
        await audit(tx, caller, poolId);
        return count;
      }),
  };
}

function takenText(name: string): string {
  return `there is a pool ${JSON.stringify(name)} already`;
}
