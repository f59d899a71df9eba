/** Membership, leases and shard ownership in Postgres; the rules are in move-shards.ts and node-liveness.ts. */
import type { Clock } from '../../kernel/index.js';
import type { Database } from '../../store/index.js';
import type { ClusterStore } from '../coordinator/ports.js';
import { heartbeat, heartbeatStatement } from './heartbeat.js';
import { livenessSession, sessionKey, type LivenessSession } from './liveness-session.js';
import { claimShards, handOverShards, takeOverShards } from './move-shards.js';
import { DEFAULT_LIVENESS, type LivenessRule } from './node-liveness.js';
import { lowerCrashes, nameProbed, readCrashes } from './probe-runs.js';
import { forgetDeadNodes, registerNode, removeNode } from './register-node.js';

/** What the store needs. */
export interface PostgresClusterStoreOptions {
  /** Not through a pooler that shares sessions: the liveness session holds a lock. */
  readonly db: Database;
  readonly clock: Clock;
  /** When a node without a session counts as dead; default DEFAULT_LIVENESS. */
  readonly liveness?: Partial<LivenessRule>;
}

/** The store with the liveness sessions of the nodes it registered. */
export interface PostgresClusterStore extends ClusterStore {
  /** Closes the liveness sessions without leaving: to others it looks as if the process had been killed. */
  close(): Promise<void>;
}

/** A heartbeat that takes longer than this share of the lease cuts its session off: the next one may still do. */
const HEARTBEAT_SHARE = 0.4;

/** See above. */
export function postgresClusterStore(options: PostgresClusterStoreOptions): PostgresClusterStore {
  const { db, clock } = options;
  const rule: LivenessRule = { ...DEFAULT_LIVENESS, ...options.liveness };
  const statement = heartbeatStatement(rule);
  const sessions = new Map<string, LivenessSession>();

  const sessionOf = (nodeId: string): LivenessSession => {
    const known = sessions.get(nodeId);
    if (known !== undefined) return known;
    const session = livenessSession(db, clock, nodeId);
    sessions.set(nodeId, session);
    return session;
  };
  const closeSession = async (nodeId: string): Promise<void> => {
    const session = sessions.get(nodeId);
    sessions.delete(nodeId);
    await session?.close();
  };
  return {
    async register(node) {
      await sessionOf(node.nodeId).use(node.leaseMs, async (session) => {
        await registerNode(session, { ...node, sessionKey: sessionKey(node.nodeId) });
        await forgetDeadNodes(session);
      });
    },
    async heartbeat(nodeId, leaseMs) {
      const view = await sessionOf(nodeId).use(leaseMs * HEARTBEAT_SHARE, (session) =>
        heartbeat(session, statement, nodeId, leaseMs),
      );
      // This incarnation is over; the process goes on as another node with a session of its own.
      if (view.fenced) await closeSession(nodeId);
      return view;
    },
    claim: (nodeId, shards) => db.transaction((tx) => claimShards(tx, nodeId, shards)),
    takeOver: (takerId, deadNodeId, shards) =>
      db.transaction((tx) => takeOverShards(tx, takerId, deadNodeId, shards, rule)),
    handOver: (nodeId, toNodeId, shards) => db.transaction((tx) => handOverShards(tx, nodeId, toNodeId, shards)),
    probe: (nodeId, runs) => nameProbed(db, nodeId, runs),
    crashes: (shards) => readCrashes(db, shards),
    quarantined: (run) => lowerCrashes(db, run),
    async leave(nodeId) {
      await db.transaction((tx) => removeNode(tx, nodeId));
      await closeSession(nodeId);
    },
    async close() {
      await Promise.all([...sessions.keys()].map(closeSession));
    },
  };
}
