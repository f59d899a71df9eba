/** Teaches the machine's clock the database's time: at the start, and from each heartbeat. */
import { impossible, type SystemClock } from './kernel/index.js';
import type { Database } from './store/index.js';
import type { ClusterStore } from './workflow/index.js';

/** Questions at the start; the one with the shortest round trip counts. */
const FIRST_LOOKS = 5;

/** Database time, microseconds since 1970. */
export async function timeOf(db: Database): Promise<number> {
  const { rows } = await db.query<{ now_us: number }>('select ductor.now_us() as now_us');
  return rows[0]?.now_us ?? impossible('database-time', 'a row was asked for and none came');
}

/**
 * Asks the database for its time, so that the clock is right before anything is stored.
 *
 * @param ask gives database time, microseconds since 1970
 */
export async function learnTime(ask: () => Promise<number>, clock: SystemClock): Promise<void> {
  for (let look = 0; look < FIRST_LOOKS; look += 1) {
    const sentMs = clock.monotonicMs();
    const nowUs = await ask();
    clock.observe(nowUs, sentMs, clock.monotonicMs());
  }
}

/** The same cluster store; each heartbeat's time is an observation. */
export function observedCluster(cluster: ClusterStore, clock: SystemClock): ClusterStore {
  return {
    register: (node) => cluster.register(node),
    claim: (nodeId, shards) => cluster.claim(nodeId, shards),
    takeOver: (takerId, deadNodeId, shards) => cluster.takeOver(takerId, deadNodeId, shards),
    handOver: (nodeId, toNodeId, shards) => cluster.handOver(nodeId, toNodeId, shards),
    leave: (nodeId) => cluster.leave(nodeId),
    probe: (nodeId, runs) => cluster.probe(nodeId, runs),
    crashes: (shards) => cluster.crashes(shards),
    quarantined: (run) => cluster.quarantined(run),
    async heartbeat(nodeId, leaseMs) {
      const sentMs = clock.monotonicMs();
      const view = await cluster.heartbeat(nodeId, leaseMs);
      clock.observe(view.nowUs, sentMs, clock.monotonicMs());
      return view;
    },
  };
}
