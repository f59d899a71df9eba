/** Reads of runs over pooled sessions. */
import { isUuid } from '../../kernel/index.js';
import type { Queryable } from '../../store/index.js';
import type { RunKey } from '../coordinator/ports.js';
import { closedAmong } from './closed-among.js';
import { listRuns } from './list-runs.js';
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
export function postgresRunReader(db: Queryable, isUsable: SnapshotCheck = () => true): RunReader {
  const getMany = (keys: readonly RunKey[]): ReturnType<RunReader['getMany']> =>
    loadRuns(db, keys.filter(isRunKey), isUsable);
  return {
    async get(tenantId, runId) {
      return (await getMany([{ tenantId, runId }]))[0];
    },
    getMany,
    list: (query) => listRuns(db, query),
    closedAmong: (keys) => closedAmong(db, keys.filter(isRunKey)),
    history: (key, afterSeq, limit) => (isRunKey(key) ? readHistory(db, key, afterSeq, limit) : Promise.resolve([])),
  };
}
