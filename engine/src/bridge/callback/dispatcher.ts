/**
 * The endpoints of all tenants on this node: reads which there are, holds a worker for each.
 *
 * Every node serves every endpoint, because a node gives out the tasks of its own runs. What was changed on another
 * node is seen within SWEEP_MS.
 */
import { repeating, type Clock } from '../../kernel/index.js';
import type { Queryable } from '../../store/index.js';
import { loadEndpoints, sweepEndpoints } from '../endpoint/sql/sweep-endpoints.js';
import { EndpointWorker, type EndpointStatus, type EndpointWorkerDeps } from './endpoint-worker.js';

/** Calls endpoints. */
export interface EndpointDispatcher {
  /** Begins to look. Resolves after the first look. Throws nothing: a look that fails is repeated. */
  start(): Promise<void>;
  /** Looks now. */
  refresh(): Promise<void>;
  /** How an endpoint is here; undefined: it is not known here (yet). */
  statusOf(endpointId: string): EndpointStatus | undefined;
  /** Takes no more tasks; resolves when no call is under way, or after so many ms. */
  drain(limitMs: number): Promise<void>;
  /** Gives up what is under way. */
  close(): void;
}

/** What it needs. */
export interface DispatcherOptions extends EndpointWorkerDeps {
  readonly db: Queryable;
}

const SWEEP_MS = 2_000;

/** A dispatcher over this database. */
export function createEndpointDispatcher(options: DispatcherOptions): EndpointDispatcher {
  const { db, clock, log } = options;
  const workers = new Map<string, EndpointWorker>();
  let looking: Promise<void> | null = null;
  const failed = (error: unknown): void => log('endpoints could not be read', error);

  const look = async (): Promise<void> => {
    const found = await sweepEndpoints(db);
    const known = new Set(found.map(({ endpointId }) => endpointId));
    for (const [id, worker] of workers) if (!known.has(id)) retire(workers, id, worker);
    const changed = found.filter(({ endpointId, revision }) => workers.get(endpointId)?.endpoint.revision !== revision);
    if (changed.length === 0) return;
    for (const endpoint of await loadEndpoints(db, changed)) {
      const older = workers.get(endpoint.endpointId);
      if (sweeps.isStopped || older?.endpoint.revision === endpoint.revision) continue;
      if (older !== undefined) retire(workers, endpoint.endpointId, older);
      const worker = new EndpointWorker(options, endpoint);
      workers.set(endpoint.endpointId, worker);
      worker.start();
    }
  };
  const refresh = async (): Promise<void> => {
    // One that began before may have read too early: what is asked for now is read after it.
    await looking;
    if (sweeps.isStopped) return;
    looking = look().catch(failed);
    await looking;
  };
  const sweeps = repeating(clock, SWEEP_MS, refresh, failed);
  return {
    async start() {
      await refresh();
      sweeps.start();
    },
    refresh,
    statusOf: (endpointId) => workers.get(endpointId)?.status(),
    async drain(limitMs) {
      void sweeps.stop();
      await withLimit(clock, limitMs, Promise.all([...workers.values()].map((worker) => worker.drain())));
    },
    close() {
      void sweeps.stop();
      for (const worker of workers.values()) worker.close();
      workers.clear();
    },
  };
}

/** Lets a worker finish what it has, beside the one that may take its place. */
function retire(workers: Map<string, EndpointWorker>, id: string, worker: EndpointWorker): void {
  workers.delete(id);
  void worker.drain().then(() => worker.leave());
}

/** Resolves with the promise, or after so many ms. */
function withLimit(clock: Clock, limitMs: number, promise: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const limit = clock.setTimer(limitMs, resolve);
    void promise.then(() => {
      limit.cancel();
      resolve();
    });
  });
}
