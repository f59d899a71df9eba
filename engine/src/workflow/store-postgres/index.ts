/** Runs, mailbox and cluster in Postgres: the real side of coordinator/ports.ts. */
export { CLAIM_WAITERS } from './claim-waiters.js';
export { QUEUE_WAITERS } from './queue-waiters.js';
export { endLeftFamilies } from './end-left-families.js';
export { maintainRuns, type RunMaintenance } from './maintain-runs.js';
export { DEFAULT_LIVENESS, type LivenessRule } from './node-liveness.js';
export { openChains } from './open-chains.js';
export {
  postgresClusterStore,
  type PostgresClusterStore,
  type PostgresClusterStoreOptions,
} from './postgres-cluster-store.js';
export { postgresInboxStore } from './postgres-inbox-store.js';
export { postgresRunReader } from './postgres-run-reader.js';
export { postgresRunStore, type PostgresRunStore, type PostgresRunStoreOptions } from './postgres-run-store.js';
export type { RunCursor, RunPage, RunQuery, RunReader } from './run-reader.js';
