/**
 * 300 works wait for four recipients with little room over three engine processes; whoever is assigned is completed at
 * once, at another engine. Two of the engines are killed in the middle of it, and one of them comes back. Whatever
 * happens: every work is assigned exactly once, nobody is ever above its limit, and what is done has its record.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { AssignmentServiceService as A, CompleteAssignmentRequest } from '../../engine/src/gen/ductor/v1/assignment.js';
import { CreatePoolRequest, PoolServiceService as P } from '../../engine/src/gen/ductor/v1/pool.js';
import {
  CreateRecipientRequest,
  RecipientServiceService as M,
  RecipientState,
} from '../../engine/src/gen/ductor/v1/recipient.js';
import { RouteRequest, RoutingServiceService as R } from '../../engine/src/gen/ductor/v1/routing.js';
import { call, testClient, type TestClient } from '../../engine/src/api/grpc/testing/test-client.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { developmentKey } from '../support/api-key.js';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { replayStored } from '../support/replay-stored.js';
import { sleep } from '../support/wait.js';

const WORKS = 300;
const LIMITS = [1, 2, 2, 3];

const test = testDatabase();
cleanUpProcesses();

let engines: readonly Engine[] = [];
let clients: readonly TestClient[] = [];
let poolId = '';

const clientOf = (number: number): TestClient => clients[number % clients.length] ?? expect.unreachable('no client');

beforeAll(async () => {
  const { apiKey } = await developmentKey(test.db);
  engines = await Promise.all([1, 2, 3].map((number) => startEngine({ databaseUrl: test.url, name: `e${number}` })));
  clients = engines.map(({ address }) => testClient(address, apiKey));
  const config = { fallback: [{ kind: 'queue' }], queue: { order: 'fifo', maxDepth: 10_000 } };
  const pool = CreatePoolRequest.fromPartial({ name: 'desk', strategy: 'least_loaded', config });
  poolId = (await call(clientOf(0), P.createPool, pool)).data?.id ?? '';
  for (const maxConcurrent of LIMITS) {
    const member = { poolId, name: `r${maxConcurrent}`, capacity: { maxConcurrent } };
    const state = RecipientState.RECIPIENT_STATE_AVAILABLE;
    await call(clientOf(0), M.createRecipient, CreateRecipientRequest.fromPartial({ ...member, state }));
  }
  return () => {
    for (const client of clients) client.close();
  };
});

/** Completes what is active, at whichever engine answers; returns how many works were completed in all. */
async function completeAll(): Promise<number> {
  const { rows } = await test.db.query<{ id: string }>(
    `select assignment_id as id from ductor.assignment where state = 'active'`,
  );
  await Promise.all(
    rows.map(async ({ id: assignmentId }, number) => {
      try {
        const request = CompleteAssignmentRequest.fromPartial({ assignmentId });
        await call(clientOf(number), A.completeAssignment, request);
      } catch {
        // The engine is dead: another one is asked the next time.
      }
    }),
  );
  const { rows: done } = await test.db.query<{ done: number }>(
    `select count(*)::integer as done from ductor.assignment where state = 'completed'`,
  );
  return done[0]?.done ?? 0;
}

/** Routes, again as long as its locks are not had in time. */
async function routed(number: number): Promise<string | undefined> {
  const id = `work-${number}`;
  const request = RouteRequest.fromPartial({ poolId, routable: { id }, idempotencyKey: id });
  for (let tries = 0; ; tries += 1) {
    try {
      return (await call(clientOf(number + tries), R.route, request)).data?.outcome;
    } catch (error) {
      if (tries >= 50) throw error;
      await sleep(100);
    }
  }
}

describe('a queue that is worked off while engines die', () => {
  it('loses nothing, gives nothing twice, and keeps every limit', { timeout: 280_000 }, async () => {
    const outcomes = await Promise.all(Array.from({ length: WORKS }, (_, number) => routed(number)));
    expect(new Set(outcomes)).toEqual(new Set(['assigned', 'queued']));
    const [, second, third] = engines;
    let kills = 0;
    for (let done = 0; done < WORKS; done = await completeAll()) {
      if (kills === 0 && done > WORKS / 6) {
        kills += 1;
        await second?.kill();
      }
      if (kills === 1 && done > WORKS / 3) {
        kills += 1;
        await third?.kill();
        await second?.start();
      }
      await sleep(20);
    }
    expect(kills).toBe(2);
    const { rows: assigned } = await test.db.query(
      `select count(*)::integer as made, count(distinct routable_id)::integer as works from ductor.assignment`,
    );
    expect(assigned).toEqual([{ made: WORKS, works: WORKS }]);
    const { rows: waiting } = await test.db.query<{ state: string; works: number }>(
      `select w.state, count(*)::integer as works from ductor.waiting_work w
        join ductor.routing_decision d on d.tenant_id = w.tenant_id and d.decision_id = w.decided_as
        where d.outcome = 'assigned' and d.queued_by = w.first_id group by 1`,
    );
    expect(waiting).toEqual([{ state: 'decided', works: outcomes.filter((each) => each === 'queued').length }]);
    const { rows: peaks } = await test.db.query<{ peak: number; most: number }>(
      `with moved as (
          select recipient_id, committed_at as at, units as by from ductor.assignment
          union all select recipient_id, ended_at, -units from ductor.assignment),
        used as (select recipient_id, sum(by) over (partition by recipient_id order by at, by) as used from moved)
        select max(u.used)::integer as peak, max((r.fields #>> '{capacity,max_concurrent}')::integer) as most
          from used u join ductor.recipient r using (recipient_id) group by u.recipient_id`,
    );
    expect(peaks.filter(({ peak, most }) => peak > most)).toEqual([]);
    const { rows: left } = await test.db.query('select 1 from ductor.capacity_authority where committed <> 0');
    expect(left).toEqual([]);
    const { rows: deadlocks } = await test.db.query<{ deadlocks: number }>(
      'select deadlocks::integer as deadlocks from pg_stat_database where datname = current_database()',
    );
    expect(deadlocks).toEqual([{ deadlocks: 0 }]);
    expect((await replayStored(test.db)).differing).toEqual([]);
  });
});
