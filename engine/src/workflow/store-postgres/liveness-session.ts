/**
 * The session that shows that a node's process lives: it holds an advisory lock for as long as it is open. When the
 * process is killed the kernel closes its socket, the server ends the session, and the lock is free within moments.
 *
 * States: shut → open (open) → lost → open (by itself at once, or at the next use) … → shut (close).
 * Invariants:
 * 1. An open session holds the lock. The lock is shared: a new session need not wait until the server noticed that the
 *    old one is gone.
 * 2. An answer that takes longer than the limit cuts the session off, so that a dead socket costs one heartbeat.
 */
import { createHash } from 'node:crypto';
import { DuctorError, type Clock } from '../../kernel/index.js';
import type { Connection, Database } from '../../store/index.js';

/** See above. */
export interface LivenessSession {
  /** Runs the work on the session, opening it when it is not. Throws database_unavailable. */
  use<T>(answerLimitMs: number, work: (session: Connection) => Promise<T>): Promise<T>;
  /** Gives the lock back. */
  close(): Promise<void>;
}

/** Key of a node's advisory lock: 52 bits of a digest, so that it is a safe integer. */
export function sessionKey(nodeId: string): number {
  return Number.parseInt(createHash('sha256').update(`ductor node ${nodeId}`).digest('hex').slice(0, 13), 16);
}

/** The liveness session of a node; opened at the first use. */
export function livenessSession(db: Database, clock: Clock, nodeId: string): LivenessSession {
  let isShut = false;
  let current: Connection | undefined;
  let opening: Promise<Connection> | undefined;

  const connect = async (): Promise<Connection> => {
    const connection = await db.connect({ name: 'liveness' });
    try {
      await connection.query('select pg_advisory_lock_shared($1)', [sessionKey(nodeId)]);
      if (isShut) throw new DuctorError('database_unavailable', 'the node is shutting down');
    } catch (error) {
      connection.destroy();
      throw error;
    }
    current = connection;
    // Back at once: until the next heartbeat the node would look dead.
    connection.onLost(() => {
      if (!isShut) open().catch(() => undefined);
    });
    return connection;
  };
  const open = (): Promise<Connection> => {
    if (current !== undefined && !current.isLost) return Promise.resolve(current);
    opening ??= connect().finally(() => {
      opening = undefined;
    });
    return opening;
  };
  return {
    async use(answerLimitMs, work) {
      const session = await open();
      const limit = clock.setTimer(answerLimitMs, () => session.destroy());
      try {
        return await work(session);
      } finally {
        limit.cancel();
      }
    },
    async close() {
      isShut = true;
      await opening?.catch(() => undefined);
      await current?.close();
    },
  };
}
