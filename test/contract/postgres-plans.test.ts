/** The statements that run often go through the indexes, on empty tables and on full ones. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ensureSemaphores,
  explainWaiting,
  keyArrays,
  lockSemaphoresSql,
  readSemaphores,
  writeSemaphores,
} from '../../engine/src/capacity/index.js';
import { seededRandom, uuidV7 } from '../../engine/src/kernel/index.js';
import type { Connection, Prepared, Queryable, Result, Row } from '../../engine/src/store/index.js';
import { prepared } from '../../engine/src/store/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import type { RunKey } from '../../engine/src/workflow/coordinator/ports.js';
import { layOut } from '../../engine/src/workflow/store-postgres/commit-batch.js';
import { dueSchedules, look, openSlots, runningSlots, writePlans } from '../../engine/src/schedules/sql/driving.js';
import { findSchedule } from '../../engine/src/schedules/sql/find-schedule.js';
import { listSchedules } from '../../engine/src/schedules/sql/list-schedules.js';
import { schedulesOf, writeDecisions, writeStarts } from '../../engine/src/schedules/sql/settling.js';
import { addSlots, listSlots } from '../../engine/src/schedules/sql/slots.js';
import { closedAmong } from '../../engine/src/workflow/store-postgres/closed-among.js';
import { findStarts } from '../../engine/src/workflow/store-postgres/find-starts.js';
import { lastOfChain } from '../../engine/src/workflow/store-postgres/last-of-chain.js';
import { listActive } from '../../engine/src/workflow/store-postgres/list-active.js';
import { listDue } from '../../engine/src/workflow/store-postgres/list-due.js';
import { listRuns } from '../../engine/src/workflow/store-postgres/list-runs.js';
import { loadRuns } from '../../engine/src/workflow/store-postgres/load-runs.js';
import { readHistory } from '../../engine/src/workflow/store-postgres/read-history.js';
import { readInbox } from '../../engine/src/workflow/store-postgres/read-inbox.js';
import { sendInbox } from '../../engine/src/workflow/store-postgres/send-inbox.js';
import { drop, header, start, tick } from '../../engine/src/workflow/testing/contract/world.js';

const test = testDatabase();
const random = seededRandom(5);
const id = (): string => uuidV7(1_800_000_000_000_000, random, random.uint32() & 0xff);
const TENANT = id();
const run = (): RunKey => ({ tenantId: TENANT, runId: id() });
const ALL = [run(), run(), run(), run(), run(), run()] as const;

/** A node of a plan. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** All nodes of a plan. */
function nodesOf(plan: PlanNode): readonly PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** Explains each statement instead of running it; answers no rows. */
function explainer(session: Queryable): Queryable & { readonly nodes: PlanNode[] } {
  const nodes: PlanNode[] = [];
  return {
    nodes,
    async query<R extends Row>(statement: string | Prepared, values?: readonly unknown[]): Promise<Result<R>> {
      const text = typeof statement === 'string' ? statement : statement.text;
      // Prepared and generic, as the lane has it: the plan does not see the values.
      await session.query(`prepare explained as ${text}`);
      const list = (values ?? []).map(literal).join(', ');
      const { rows } = await session.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
        `explain (format json) execute explained${list === '' ? '' : ` (${list})`}`,
      );
      await session.query('deallocate explained');
      nodes.push(...nodesOf(rows[0]?.['QUERY PLAN'][0]?.Plan ?? { 'Node Type': 'none' }));
      return { rows: [], rowCount: 0 };
    },
  };
}

/** A parameter as a literal. */
function literal(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return literal(`{${value.map((item) => JSON.stringify(item)).join(',')}}`);
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`;
  return `'${String(value).replaceAll("'", "''")}'`;
}

/** 20,000 runs of one tenant over four weeks, two rows each, some of them active, some waiting. */
async function fill(): Promise<void> {
  await test.db.query(
    `with made as (
      select i, ductor.first_run_id(ductor.now_us() / 1000 + i::bigint * 120000) as base, (i % 256)::smallint as shard
      from generate_series(1, 20000) i
    ), named as (
      select i, shard, overlay(base::text placing lpad(to_hex(shard::int), 2, '0') from 35)::uuid as run_id from made
    ), headed as (
      insert into ductor.runs
        (started_at, wake_at, closed_at, version, shard, status, active, tenant_id, run_id, family_slug)
      select i, case when i % 50 = 1 then i end, case when i % 50 > 1 then i end, 1, shard, 7, i % 50 = 0, $1, run_id,
        'f' from named
    ), messages as (
      insert into ductor.run_inbox (tenant_id, chain_id, shard, kind, body) select $1, run_id, shard, 1, 'x' from named
    ), keys as (
      insert into ductor.run_start_key (expires_at, tenant_id, run_id, version, fingerprint, family_slug, key)
      select 1e17, $1, run_id, 1, 'x', 'f', i::text from named
    ), labels as (
      insert into ductor.run_attribute (tenant_id, run_id, name, value, started_at)
      select $1, run_id, 'n', 'v', i from named
    ), planned as (
      insert into ductor.schedule
        (next_slot, due_at, catch_up_window_ms, jitter_ms, version, shard, tenant_id, schedule_id, slug, title,
          family_slug, overlap, catch_up, spec, attributes, input_encoding, input)
      select i, i, 1, 0, 0, shard, $1, run_id, 's-' || i, '', 'f', 'allow', 'none', '{}', '{}', '', ''
        from named where i % 10 = 0
    ), slots as (
      insert into ductor.schedule_slot
        (slot_at, due_at, shard, is_running, tenant_id, schedule_id, run_id, source, outcome, overlap)
      select slot_at, slot_at, shard, slot_at = 1, $1, run_id, run_id, 'time',
          case when slot_at = 9 and i % 50 = 0 then 'due' else 'started' end, 'allow'
        from named, generate_series(1, 9) slot_at where i % 10 = 0
    ), shots as (
      insert into ductor.run_snapshot (tenant_id, run_id, seq, data) select $1, run_id, 1, 'x' from named
    )
    insert into ductor.run_journal (at, tenant_id, run_id, seq, entries)
    select i, $1, run_id, seq, 'x' from named, generate_series(1, 2) seq`,
    [TENANT],
  );
  await test.db.query('analyze');
}

/** A statement, the indexes it has to find its rows with, and a call that sends it. */
type Case = readonly [name: string, indexes: readonly string[], run: (db: Queryable) => Promise<unknown>];

const COMMIT: Case = [
  'commit',
  ['runs_pkey', 'run_inbox_pkey', 'engine_node_pkey'],
  async (db) => {
    const [a, b, c, d, e, f] = ALL;
    const startKey = { key: 'k', fingerprint: new Uint8Array(32) };
    const batch = layOut([
      start(a, { attributes: { a: 'b' } }, { startKey }),
      start(b),
      tick(c, 2, { header: header(c) }),
      tick(d, 2, { snapshot: Uint8Array.of(1) }),
      tick(e, 2, { consumed: [1] }),
      drop(f, [2]),
    ]);
    if (batch !== undefined) await db.query(batch.statement, [id(), 0, ...batch.values]);
  },
];

const END: Case = [
  'commit of an end that needs an empty box',
  ['runs_pkey', 'run_inbox_pkey', 'engine_node_pkey'],
  async (db) => {
    const [a, b] = ALL;
    const change = { header: header(a), needsEmptyBox: true, consumed: [1] };
    const batch = layOut([tick(a, 2, change), tick(b, 2)]);
    if (batch !== undefined) await db.query(batch.statement, [id(), 0, ...batch.values]);
  },
];

const CONTINUE: Case = [
  'commit of a run that continues',
  ['runs_pkey', 'engine_node_pkey'],
  async (db) => {
    const [a, b] = ALL;
    const next = { tenantId: TENANT, runId: id() };
    const chain = { chainId: a.runId, no: 2 };
    const successor = { runId: next.runId, entries: Uint8Array.of(1), header: header(next, { chain }), payloads: [] };
    const batch = layOut([tick(a, 2, { header: header(a), successor }), tick(b, 2)]);
    if (batch !== undefined) await db.query(batch.statement, [id(), 0, ...batch.values]);
  },
];

const BY = { nodeId: id(), shards: [1, 2, 3] };
const SLOT = { tenantId: TENANT, scheduleId: id(), slotUs: 1 };
const PLANNED = { slotUs: 1, dueUs: 1, outcome: 'due', reason: '' } as const;

/** The driver's statements, and those of callers. Few schedules may be read through any index of theirs. */
const SCHEDULES: readonly Case[] = [
  ['schedules look', ['schedule_due', 'schedule_slot_open'], (db) => look(db, BY.shards)],
  ['schedules due', ['schedule_due'], (db) => dueSchedules(db, BY.shards, 10, 200)],
  [
    'schedules plan',
    ['schedule_pkey'],
    (db) =>
      writePlans(db, BY, 1, [
        { ...SLOT, expectedSlotUs: 1, recordVersion: 1, planned: [PLANNED], nextSlotUs: 2, nextDueUs: 2 },
      ]),
  ],
  ['schedules open slots', ['schedule_slot_open', 'schedule_pkey'], (db) => openSlots(db, BY.shards, 500)],
  ['schedules running slots', ['schedule_slot_running'], (db) => runningSlots(db, [SLOT])],
  [
    'schedules decide',
    ['schedule_slot_pkey'],
    (db) => writeDecisions(db, BY, 1, [{ ...SLOT, outcome: 'starting', reason: '' }], [SLOT]),
  ],
  ['schedules to start', ['schedule_pkey'], (db) => schedulesOf(db, [SLOT])],
  ['schedules record', ['schedule_slot_pkey'], (db) => writeStarts(db, BY, 1, [{ ...SLOT, runId: null, reason: '' }])],
  ['schedule by id', ['schedule_pkey'], (db) => findSchedule(db, { tenantId: TENANT, id: id(), slug: null })],
  ['schedule by slug', ['schedule_slug'], (db) => findSchedule(db, { tenantId: TENANT, id: null, slug: 's-10' })],
  ['schedules list', ['schedule_slug'], (db) => listSchedules(db, TENANT, 's-5', 50)],
  [
    'slots list',
    ['schedule_slot_pkey'],
    (db) => listSlots(db, { tenantId: TENANT, scheduleId: id(), beforeUs: 5, limit: 50 }),
  ],
  [
    'slots add',
    ['schedule_pkey'],
    (db) => addSlots(db, { ...SLOT, source: 'trigger', overlap: 'allow', slotsUs: [1], nowUs: 1 }),
  ],
];

const KEY = { tenantId: TENANT, key: 'c/k' };
const WHO = { tenantId: TENANT, runId: id(), path: 'a' };
const WANT = { kind: 'concurrency', key: 'k', limit: 1 } as const;

/** Statements over semaphores: of lanes, and one of callers, whose plans are as stable. */
const SEMAPHORES: readonly Case[] = [
  ['semaphores made', [], (db) => ensureSemaphores(db, [KEY])],
  [
    'semaphores locked',
    ['semaphore_pkey'],
    (db) => db.query(prepared('lock', lockSemaphoresSql('$1', '$2', 'true')), keyArrays([KEY])),
  ],
  [
    'semaphores read',
    ['semaphore_pkey', 'semaphore_hold_pkey', 'semaphore_waiter_pkey', 'semaphore_waiter_of_run'],
    (db) => readSemaphores(db, [KEY], [id()], 100),
  ],
  [
    'semaphores written',
    ['semaphore_pkey', 'semaphore_hold_pkey', 'semaphore_waiter_of_run'],
    (db) =>
      writeSemaphores(db, {
        semaphores: [{ ...KEY, limit: 1, held: 1, nextAtUs: 0 }],
        holds: [{ ...WHO, key: 'c/k', limit: 1, sinceUs: 1 }],
        releases: [{ ...WHO, key: 'c/k' }],
        waits: [{ ...WHO, key: 'c/k', ticket: 1, wants: [WANT], isCalled: false, isElsewhere: false, sinceUs: 1 }],
        leaves: [{ ...WHO, key: 'c/k' }],
        marks: [{ ...WHO, key: 'c/k', isCalled: true, isElsewhere: false }],
      }),
  ],
  [
    'explain waiting',
    ['semaphore_pkey', 'semaphore_waiter_of_run', 'semaphore_hold_pkey'],
    (db) => explainWaiting(db, WHO, [WANT]),
  ],
];

/** What runs often on pooled sessions too. */
const STATEMENTS: readonly Case[] = [
  [
    'load',
    ['runs_pkey', 'run_snapshot_pkey', 'run_attribute_pkey'],
    (db) => loadRuns(db, [{ tenantId: TENANT, runId: id() }], () => true),
  ],
  ['listActive', ['runs_active'], (db) => listActive(db, [1, 2, 3], '', 100)],
  ['listDue', ['runs_waiting'], (db) => listDue(db, [1, 2, 3], 1e15, 100)],
  ['findStarts', ['run_start_key_pkey'], (db) => findStarts(db, [{ tenantId: TENANT, familySlug: 'f', key: '1' }])],
  [
    'inbox send',
    ['runs_pkey', 'runs_of_chain'],
    (db) => sendInbox(db, [{ tenantId: TENANT, runId: id(), kind: 'cancel', body: Buffer.of(1) }]),
  ],
  ['inbox read', ['run_inbox_pkey', 'runs_of_chain'], (db) => readInbox(db, [1, 2], 100)],
  ['lastOfChain', ['runs_pkey', 'runs_of_chain'], (db) => lastOfChain(db, { tenantId: TENANT, runId: id() })],
  ['closedAmong', ['runs_pkey'], (db) => closedAmong(db, [{ tenantId: TENANT, runId: id() }])],
  ['history', [], (db) => readHistory(db, { tenantId: TENANT, runId: id() }, 0, 100)],
  ['list', ['runs_listed'], (db) => listRuns(db, { tenantId: TENANT, limit: 50 })],
  [
    'list with a cursor and filters',
    ['runs_listed'],
    (db) =>
      listRuns(db, {
        tenantId: TENANT,
        limit: 50,
        cursor: { startedAtUs: 10_000, runId: id() },
        status: 'COMPLETED',
        familySlug: 'f',
      }),
  ],
  [
    'list by attribute',
    ['run_attribute_search', 'runs_pkey'],
    (db) => listRuns(db, { tenantId: TENANT, limit: 50, attributes: { n: 'v' } }),
  ],
  [
    'list by attributes, within a time, with a cursor',
    ['run_attribute_search', 'runs_pkey', 'run_attribute_pkey'],
    (db) =>
      listRuns(db, {
        ...{ tenantId: TENANT, limit: 50, attributes: { n: 'v', o: 'w' } },
        ...{ startedAfterUs: 10, startedBeforeUs: 20_000, cursor: { startedAtUs: 10_000, runId: id() } },
      }),
  ],
  [
    'list of a state of open runs',
    ['runs_open'],
    (db) => listRuns(db, { tenantId: TENANT, limit: 50, status: 'PARKED' }),
  ],
  ['list of open runs', ['runs_open'], (db) => listRuns(db, { tenantId: TENANT, limit: 50, isOpen: true })],
  [
    'list of a state of runs that ended otherwise',
    ['runs_ended_otherwise'],
    (db) => listRuns(db, { tenantId: TENANT, limit: 50, status: 'FAILED' }),
  ],
  ['list within a time', ['runs_listed'], (db) => listRuns(db, { tenantId: TENANT, limit: 50, startedAfterUs: 10 })],
];

/** Where. A pooled session may read an empty table as it likes: its plan is made anew once the table is analysed. */
const PLACES = [
  { tables: 'empty', session: 'a lane', isLane: true },
  { tables: 'full', session: 'a lane', isLane: true },
  { tables: 'full', session: 'a pooled session', isLane: false },
] as const;

let isFull = false;

describe.each(PLACES)('plans of $session on $tables tables', ({ tables, isLane }) => {
  let session: Connection;
  let empty: ReadonlySet<string | undefined>;
  beforeAll(async () => {
    if (tables === 'full' && !isFull) await fill();
    isFull = tables === 'full';
    const { rows } = await test.db.query<{ name: string }>(
      "select relname as name from pg_class where relkind = 'r' and pg_relation_size(oid) = 0",
    );
    empty = new Set(rows.map((row) => row.name));
    session = await test.db.connect({ name: 'plans', isLane });
    await session.query('set plan_cache_mode = force_generic_plan');
  });
  afterAll(() => session.close());

  it.each([
    ...(isLane ? [...SEMAPHORES, COMMIT, END, CONTINUE] : []),
    ...STATEMENTS,
    ...(tables === 'full' ? SCHEDULES : []),
  ])('%s: no scan of a whole table', async (_, indexes, send) => {
    const explained = explainer(session);
    await send(explained);
    // What a statement brings along may be joined as it likes; tables may not.
    const types = explained.nodes
      .filter((node) => nodesOf(node).some((below) => below['Relation Name'] !== undefined))
      .map((node) => node['Node Type']);
    const whole = explained.nodes
      .filter((node) => node['Node Type'] === 'Seq Scan')
      .map((node) => node['Relation Name']);
    // An empty table (a partition of a coming week) may be read from end to end.
    expect(isLane ? whole : whole.filter((name) => !empty.has(name))).toEqual([]);
    expect(types).not.toContain('Hash Join');
    expect(types).not.toContain('Merge Join');
    expect(explained.nodes.map((node) => node['Index Name'])).toEqual(expect.arrayContaining([...indexes]));
  });
});
