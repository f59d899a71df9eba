/** Reads of runs for callers, each under the wall of its tenant. */
import { explainHolding, explainWaiting } from '../../capacity/index.js';
import { isUuid } from '../../kernel/index.js';
import type { Queryable, TenantAccess } from '../../store/index.js';
import { byTenant } from '../by-tenant.js';
import type { RunKey } from '../coordinator/ports.js';
import { closedAmong, openAmong } from './closed-among.js';
import { lastOfChain } from './last-of-chain.js';
import { listRuns } from './list-runs.js';
import { loadPayloads } from './load-payloads.js';
import { loadRuns, type SnapshotCheck } from './load-runs.js';
import { readHistory } from './read-history.js';
import type { RunReader } from './run-reader.js';

/** Whether such a run can exist. */
function isRunKey({ tenantId, runId }: RunKey): boolean {
  return isUuid(tenantId) && isUuid(runId);
}

/**
 * Reads of runs.
 *
 * @param db where they are
 * @param isUsable which snapshots this engine can read; default: all
 */
export function postgresRunReader(db: TenantAccess, isUsable: SnapshotCheck = () => true): RunReader {
  const eachTenant = async <K extends RunKey, T>(
    keys: readonly K[],
    read: (of: Queryable, keys: readonly K[]) => Promise<readonly T[]>,
  ): Promise<readonly T[]> => {
    const groups = [...byTenant(keys.filter(isRunKey))];
    return (await Promise.all(groups.map(([tenantId, its]) => read(db.asTenant(tenantId), its)))).flat();
  };
  const getMany = (keys: readonly RunKey[]): ReturnType<RunReader['getMany']> =>
    eachTenant(keys, (of, its) => loadRuns(of, its, isUsable));
  return {
    async get(tenantId, runId) {
      return (await getMany([{ tenantId, runId }]))[0];
    },
    getMany,
    payloads: (keys) => eachTenant(keys, loadPayloads),
    list: (query) => listRuns(db.asTenant(query.tenantId), query),
    closedAmong: (keys) => eachTenant(keys, closedAmong),
    openAmong: (keys) => eachTenant(keys, openAmong),
    lastOfChain: (key) => (isRunKey(key) ? lastOfChain(db.asTenant(key.tenantId), key) : Promise.resolve(key)),
    waiting: (key, path, wants) =>
      isRunKey(key)
        ? explainWaiting(db.asTenant(key.tenantId), { tenantId: key.tenantId, runId: key.runId, path }, wants)
        : Promise.resolve([]),
    holding: (tenantId, chainId) =>
      isRunKey({ tenantId, runId: chainId })
        ? explainHolding(db.asTenant(tenantId), tenantId, chainId)
        : Promise.resolve([]),
    history: (key, afterSeq, limit) =>
      isRunKey(key) ? readHistory(db.asTenant(key.tenantId), key, afterSeq, limit) : Promise.resolve([]),
  };
}
