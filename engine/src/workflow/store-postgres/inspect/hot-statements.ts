/** The statements that run often, each with the indexes it has to go through. */
import type { Queryable } from '../../../store/index.js';
import type { TickWrite } from '../../coordinator/ports.js';
import { layOut } from '../commit-batch.js';
import { findStarts } from '../find-starts.js';
import { listActive } from '../list-active.js';
import { listDue } from '../list-due.js';
import { listRuns } from '../list-runs.js';
import { loadRuns } from '../load-runs.js';
import { readInbox } from '../read-inbox.js';
import { sendInbox } from '../send-inbox.js';

/** A statement. */
export interface HotStatement {
  readonly name: string;
  readonly indexes: readonly string[];
  /** It runs on commit lanes only, whose sessions avoid scans. */
  readonly isOfLane: boolean;
  /** Sends it, with values that name nothing. */
  readonly send: (db: Queryable) => Promise<unknown>;
}

const NOBODY = '00000000-0000-7000-8000-000000000000';
const RUN = { tenantId: NOBODY, runId: NOBODY };
const PAGE = 100;

/** A tick that appends a row and consumes a message. */
const TICK: TickWrite = {
  ...{ ...RUN, seq: 2, atUs: 1, entries: Uint8Array.of(1), consumed: [1], startKey: null, snapshot: null },
  header: {
    ...{ ...RUN, shard: 0, familySlug: 'none', version: 1, status: 'RUNNING', active: true, wakeAtUs: null },
    ...{ startedAtUs: 1, closedAtUs: null, attributes: {}, rootId: null, parentId: null, chain: null },
  },
};

async function sendCommit(db: Queryable): Promise<void> {
  const batch = layOut([TICK]);
  if (batch !== undefined) await db.query(batch.statement, [NOBODY, 0, ...batch.values]);
}

/** All of them. */
export const HOT_STATEMENTS: readonly HotStatement[] = [
  { name: 'commit', indexes: ['runs_pkey', 'run_inbox_pkey', 'engine_node_pkey'], isOfLane: true, send: sendCommit },
  {
    name: 'load runs',
    indexes: ['runs_pkey', 'run_snapshot_pkey', 'run_attribute_pkey'],
    isOfLane: false,
    send: (db) => loadRuns(db, [RUN], () => true),
  },
  {
    name: 'list active runs',
    indexes: ['runs_active'],
    isOfLane: false,
    send: (db) => listActive(db, [0, 1], '', PAGE),
  },
  { name: 'list due runs', indexes: ['runs_waiting'], isOfLane: false, send: (db) => listDue(db, [0, 1], 1, PAGE) },
  {
    name: 'find starts by key',
    indexes: ['run_start_key_pkey'],
    isOfLane: false,
    send: (db) => findStarts(db, [{ tenantId: NOBODY, familySlug: 'none', key: 'none' }]),
  },
  {
    name: 'send to the mailbox',
    indexes: ['runs_pkey'],
    isOfLane: false,
    send: (db) => sendInbox(db, [{ ...RUN, kind: 'cancel', body: new Uint8Array(1) }]),
  },
  { name: 'read the mailbox', indexes: ['run_inbox_pkey'], isOfLane: false, send: (db) => readInbox(db, [0, 1], PAGE) },
  {
    name: 'list runs of a tenant',
    indexes: ['runs_listed'],
    isOfLane: false,
    send: (db) => listRuns(db, { tenantId: NOBODY, limit: PAGE }),
  },
];
