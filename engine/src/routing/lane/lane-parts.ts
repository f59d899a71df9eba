/** What the lane needs. */
import type { Clock } from '../../kernel/index.js';
import type { TenantAccess } from '../../store/index.js';
import type { StrategyApps } from './strategy-apps.js';
import type { QueueWaiters } from '../queue/queue-waiters.js';
import type { PoolViews } from '../views/pool-views.js';

/** Parts of the lane, and of previews. */
export interface LaneParts {
  readonly db: TenantAccess;
  readonly clock: Clock;
  readonly views: PoolViews;
  /** Apps that have strategies in code. */
  readonly apps: StrategyApps;
  readonly newId: () => string;
  /** Who waits for work in queues of pools. */
  readonly waiters: QueueWaiters;
  /** Key that seeds of random choices are derived from; it never leaves the engine. */
  readonly seedKey: Uint8Array;
  /** Version of the engine and of its time zone data; they stand in records, for people. */
  readonly engine: { readonly version: string; readonly tzdb: string };
}
