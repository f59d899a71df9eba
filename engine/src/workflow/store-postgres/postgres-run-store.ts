/**
 * Runs, their journal and start keys in Postgres.
 *
 * Commits go over two dedicated sessions, the lanes: one for what touches the runs alone, one for what touches what
 * they share; each takes one batch after the other. Reads go over another, so that loading a
 * page of runs does not hold a commit up; both have plans that do not depend on how full the tables are.
 *
 * States of the lane: as in lane.ts. After an unknown outcome: lost → settle → counted up.
 * Invariants:
 * 1. Every statement that writes is behind the fence of the node and its lane session.
 * 2. Once settle() has returned, no statement of an earlier session of the lane writes anything.
 */
import { DuctorError, impossible, sleep, type Clock } from '../../kernel/index.js';
import type { SelectionParts } from '../../routing/index.js';
import { classify, type Connection, type Database } from '../../store/index.js';
import type { CommitLane } from '../coordinator/gate-ports.js';
import type { CommitOutcome, RunStore, TickWrite } from '../coordinator/ports.js';
import { layOut, type CommitAnswer, type CommitBatch } from './commit-batch.js';
import { outcomeOfFailure } from './commit-failure.js';
import { askStrategies } from './ask-strategies.js';
import { commitGated, KnownRows } from './commit-gated.js';
import { GATE_LANE, PLAIN_LANE, type LaneNumber } from './commit-statement.js';
import { findStarts } from './find-starts.js';
import { newLane, type Lane } from './lane.js';
import { listActive } from './list-active.js';
import { listDue } from './list-due.js';
import { loadPayloads } from './load-payloads.js';
import { loadRuns, type SnapshotCheck } from './load-runs.js';
import { settleLane } from './settle.js';

/** What the store needs. */
export interface PostgresRunStoreOptions {
  readonly db: Database;
  /** For the pause after a failed connect. */
  readonly clock: Clock;
  /** Which snapshots this engine can read; runs with another one are read from their first row. Default: all. */
  readonly isUsableSnapshot?: SnapshotCheck;
  /** For steps that select. Default: there are no pools. */
  readonly selection?: SelectionParts;
}

/** The store with its sessions. */
export interface PostgresRunStore extends RunStore {
  /** Ends its sessions; the database stays open. */
  close(): Promise<void>;
}

/** SQLSTATE of a client that could not connect. */
const CANNOT_CONNECT = '08001';
/** Longest wait of the gate lane for a lock: then its batch is halved. */
const GATE_LOCK_MS = 500;
/** Pause after a failed connect: the same batch comes again at once. */
const RECONNECT_PAUSE_MS = 100;

/** Sends a batch and reads what became of it. */
async function send(session: Connection, head: readonly unknown[], batch: CommitBatch): Promise<CommitOutcome> {
  const { rows } = await session.query<CommitAnswer>(batch.statement, [...head, ...batch.values]);
  const answer = rows[0] ?? impossible('commit-without-answer', 'the commit statement returned no row');
  return answer.fence === 0 ? { kind: 'fenced' } : { kind: 'committed', ticks: batch.outcomes(answer) };
}

/** Sends on a lane; an error becomes an outcome. */
async function sendOn<T>(
  on: Lane,
  clock: Clock,
  work: (session: Connection) => Promise<T>,
): Promise<T | CommitOutcome> {
  let session: Connection;
  try {
    session = await on.session();
  } catch (error) {
    if (classify(error).class === 'none' && DuctorError.from(error).code !== 'database_unavailable') throw error;
    await sleep(clock, RECONNECT_PAUSE_MS);
    return { kind: 'repeat', sqlState: CANNOT_CONNECT };
  }
  try {
    return await work(session);
  } catch (error) {
    const outcome = outcomeOfFailure(error);
    // 25006: the server has become a standby; the next session may reach the new primary.
    if (outcome.kind === 'unknown' || (outcome.kind === 'repeat' && outcome.sqlState === '25006')) on.cut();
    return outcome;
  }
}

/** Runs a read; once more when its session was lost meanwhile. */
async function read<T>(lane: Lane, run: (session: Connection) => Promise<T>): Promise<T> {
  const session = await lane.session();
  try {
    return await run(session);
  } catch (error) {
    if (!session.isLost && classify(error).class !== 'unavailable') throw error;
  }
  return run(await lane.session());
}

/** See above. */
export function postgresRunStore(options: PostgresRunStoreOptions): PostgresRunStore {
  const { db, clock } = options;
  const isUsable = options.isUsableSnapshot ?? (() => true);
  const lane = newLane(db, 'lane plain');
  const gate = newLane(db, 'lane gate', `set lock_timeout = '${GATE_LOCK_MS}ms'`);
  const reads = newLane(db, 'lane reads');
  /** By node and lane, once counted up; 0 before. */
  const laneSessions = new Map<string, number>();
  const headOf = (nodeId: string, number: LaneNumber): readonly unknown[] => {
    return [nodeId, laneSessions.get(`${nodeId} ${number}`) ?? 0];
  };
  const known = new KnownRows();
  /** The batches of the gate lane, one after the other: the plain lane may send one, too. */
  let gated: Promise<unknown> = Promise.resolve();

  const commit = async (nodeId: string, ticks: readonly TickWrite[]): Promise<CommitOutcome> => {
    const batch = layOut(ticks);
    if (batch === undefined) return { kind: 'committed', ticks: ticks.map(() => 'written') };
    return sendOn(lane, clock, (session) => send(session, headOf(nodeId, PLAIN_LANE), batch));
  };

  const commitInGate: RunStore['commitGated'] = (nodeId, locks, decide) => {
    const turn = gated.then(() =>
      sendOn(gate, clock, (session) =>
        commitGated(session, headOf(nodeId, GATE_LANE), locks, known, decide, options.selection),
      ),
    );
    gated = turn.catch(() => undefined);
    return turn;
  };

  const settle = async (nodeId: string, of: CommitLane = 'plain'): Promise<boolean> => {
    const number = of === 'gate' ? GATE_LANE : PLAIN_LANE;
    (of === 'gate' ? gate : lane).cut();
    const session = await db.connect({ name: 'settle' });
    try {
      const laneSession = await session.transaction((tx) => settleLane(tx, nodeId, number));
      if (laneSession === undefined) return false;
      laneSessions.set(`${nodeId} ${number}`, laneSession);
      return true;
    } finally {
      await session.close();
    }
  };

  return {
    commit,
    commitGated: commitInGate,
    settle,
    askStrategies: (...asked) => read(reads, (session) => askStrategies(session, asked, options.selection, clock)),
    load: (keys) => read(reads, (session) => loadRuns(session, keys, isUsable)),
    payloads: (keys) => read(reads, (session) => loadPayloads(session, keys)),
    listActive: (shards, after, limit) => read(reads, (session) => listActive(session, shards, after, limit)),
    listDue: (shards, horizonUs, limit) => read(reads, (session) => listDue(session, shards, horizonUs, limit)),
    findStarts: (keys) => read(reads, (session) => findStarts(session, keys)),
    async close() {
      await Promise.all([lane.close(), gate.close(), reads.close()]);
    },
  };
}
