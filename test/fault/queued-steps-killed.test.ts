/**
 * 150 runs wait in the queue of a pool for four recipients with little room, over three engine processes that are
 * killed by SIGKILL again and again; some runs are cancelled while they wait, some have too little time. Whatever is
 * killed: each run ends, with one assignment or with none, nothing is assigned twice or left in the queue, what is to
 * end with its run does, and nobody is ever above its limit.
 */
import { createWorker, defineWorkflow, DuctorClient, DuctorError, RecipientState } from '@ductor/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { call, testClient, type TestClient } from '../../engine/src/api/grpc/testing/test-client.js';
import { AssignmentServiceService as A, CompleteAssignmentRequest } from '../../engine/src/gen/ductor/v1/assignment.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { findCapacityDefects } from '../../engine/src/workflow/index.js';
import { developmentKey } from '../support/api-key.js';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { replayStored } from '../support/replay-stored.js';
import { sleep, until } from '../support/wait.js';

const RUNS = 150;
const LIMITS = [1, 2, 2, 3];
const KILLS = 6;
const LOST_MS = 120_000;

const test = testDatabase();
cleanUpProcesses();

const flow = (slug: string, timeout: string | undefined, endsWithRun: boolean) =>
  defineWorkflow({
    slug,
    input: z.object({}),
    build(w) {
      const more = timeout === undefined ? {} : { timeout };
      const desk = w.route('desk', { pool: 'bench', endsWithRun, ...more });
      return { outcome: desk.output.outcome };
    },
  });
const FLOWS = [flow('patient', undefined, false), flow('bound', undefined, true), flow('hasty', '6s', false)];

let engines: readonly Engine[] = [];
let clients: readonly DuctorClient[] = [];
let callers: readonly TestClient[] = [];

/** Calls one engine after the other until one of them answers. */
async function certain<T>(first: number, work: (client: DuctorClient) => Promise<T>): Promise<T | DuctorError> {
  const endMs = performance.now() + LOST_MS;
  for (let turn = first; ; turn += 1) {
    try {
      return await work(clients[turn % clients.length] ?? expect.unreachable('no client'));
    } catch (error) {
      if (!(error instanceof DuctorError)) throw error;
      if (/closed|conflict|precondition|not_open/.test(error.code)) return error;
      if (performance.now() > endMs) throw error;
      await sleep(50);
    }
  }
}

const count = async (text: string): Promise<number> => {
  const { rows } = await test.db.query<{ count: number }>(`select count(*)::integer as count from ${text}`);
  return rows[0]?.count ?? 0;
};
const ended = (): Promise<number> => count('ductor.runs where closed_at is not null');

beforeAll(async () => {
  const { apiKey } = await developmentKey(test.db);
  engines = await Promise.all([0, 1, 2].map((n) => startEngine({ name: `e${n}`, databaseUrl: test.url })));
  clients = engines.map(({ address: engine }) => new DuctorClient({ engine, apiKey }));
  callers = engines.map(({ address }) => testClient(address, apiKey));
  const [first = expect.unreachable('no client')] = clients;
  const config = { fallback: [{ kind: 'queue' }], queue: { order: 'fifo', ttl: '1h' } };
  const { id } = await first.pools.create({ name: 'bench', strategy: 'least_loaded', config });
  for (const [number, maxConcurrent] of LIMITS.entries()) {
    const state = RecipientState.RECIPIENT_STATE_AVAILABLE;
    await first.recipients.create(id, { name: `r${number}`, state, capacity: { maxConcurrent } });
  }
  const publisher = createWorker({ workflows: FLOWS, engine: engines[0]?.address ?? '', apiKey });
  await publisher.ready;
  await publisher.stop();
  return () => {
    for (const client of [...clients, ...callers]) client.close();
  };
});

/** Completes an assignment at one engine; where that is dead, another one is asked the next time. */
async function complete(turn: number, assignmentId: string): Promise<void> {
  const client = callers[turn % callers.length] ?? expect.unreachable('no client');
  try {
    await call(client, A.completeAssignment, CompleteAssignmentRequest.fromPartial({ assignmentId }));
  } catch {
    // It may have been completed all the same, or released with its run.
  }
}

/** Completes what is active until everything is over. */
async function work(isOver: () => boolean): Promise<void> {
  for (let turn = 0; !isOver(); turn += 1) {
    const { rows } = await test.db.query<{ id: string }>(
      `select assignment_id as id from ductor.assignment where state = 'active'`,
    );
    await Promise.all(rows.map(({ id }) => complete(turn, id)));
    await sleep(100);
  }
}

/** Cancels runs that wait, now and then. */
async function cancelSome(runIds: readonly string[]): Promise<void> {
  for (const [index, runId] of runIds.entries()) {
    if (index % 6 !== 5) continue;
    await certain(index, (client) => client.run(runId).cancel('no longer wanted'));
    await sleep(60);
  }
}

describe('runs that wait in a queue of engines that are killed', () => {
  it('end once, each with one assignment or with none', { timeout: 290_000 }, async () => {
    const runIds = await Promise.all(
      Array.from({ length: RUNS }, async (_, number) => {
        const slug = FLOWS[number % FLOWS.length]?.slug ?? '';
        const made = await certain(number, (client) => client.trigger(slug, {}, { idempotencyKey: `run-${number}` }));
        return made instanceof DuctorError ? expect.unreachable(made.message) : made.id;
      }),
    );
    let isOver = false;
    const working = work(() => isOver);
    const cancelling = cancelSome(runIds);
    for (let kills = 0; kills < KILLS; kills += 1) {
      const target = Math.min(15 * (kills + 1), RUNS - 20);
      await until('runs to end', async () => (await ended()) >= target, { limitMs: LOST_MS, everyMs: 50 });
      const engine = engines[kills % engines.length] ?? expect.unreachable('no engine');
      await engine.kill();
      await engine.start();
    }
    await cancelling;
    await until('all runs to end', async () => (await ended()) === RUNS, { limitMs: LOST_MS, everyMs: 100 });
    const none = "ductor.assignment where state in ('active', 'offered')";
    await until('all work to be done', async () => (await count(none)) === 0, { limitMs: LOST_MS, everyMs: 100 });
    isOver = true;
    await working;

    expect(await count("ductor.waiting_work where state = 'waiting' or waiter is not null")).toBe(0);
    expect(await count('(select run_id from ductor.assignment group by run_id having count(*) > 1) doubles')).toBe(0);
    const states = await Promise.all(
      runIds.map(async (runId, number) => {
        const run = await certain(number, (client) => client.get(runId));
        return run instanceof DuctorError ? run.code : { runId, state: run.state, code: run.error?.code };
      }),
    );
    const { rows: assigned } = await test.db.query<{ run_id: string }>('select run_id from ductor.assignment');
    const has = new Set(assigned.map(({ run_id: id }) => id));
    const wrong = states.filter((run) => {
      if (typeof run === 'string') return true;
      if (run.state === 'COMPLETED') return !has.has(run.runId);
      if (run.state === 'FAILED') return run.code !== 'timeout' || has.has(run.runId);
      return run.state !== 'CANCELLED';
    });
    expect([wrong, states.length]).toEqual([[], RUNS]);
    const { rows: peaks } = await test.db.query<{ peak: number; most: number }>(
      `with moved as (
          select recipient_id, committed_at as at, units as by from ductor.assignment
          union all select recipient_id, ended_at, -units from ductor.assignment),
        used as (select recipient_id, sum(by) over (partition by recipient_id order by at, by) as used from moved)
        select max(u.used)::integer as peak, max((r.fields #>> '{capacity,max_concurrent}')::integer) as most
          from used u join ductor.recipient r using (recipient_id) group by u.recipient_id`,
    );
    expect(peaks.filter(({ peak, most }) => peak > most)).toEqual([]);
    expect(await count('ductor.capacity_authority where committed <> 0 or held <> 0')).toBe(0);
    expect(await findCapacityDefects(test.db)).toEqual([]);
    const { rows: dead } = await test.db.query(
      'select deadlocks::integer as deadlocks from pg_stat_database where datname = current_database()',
    );
    expect(dead).toEqual([{ deadlocks: 0 }]);
    expect((await replayStored(test.db)).differing).toEqual([]);
  });
});
