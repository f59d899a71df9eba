/**
 * 64 clients over three engine processes route to four recipients with little room and complete what they got, some
 * of it twice. Whatever happens at the same time: no recipient is ever above its limit, what is completed is free
 * once, and no transaction dies of a deadlock.
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
import { startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';

const CLIENTS = 64;
const ROUTES_EACH = 12;
const LIMITS = [1, 2, 3, 4];

const test = testDatabase();
cleanUpProcesses();

let clients: readonly TestClient[] = [];
const pools: string[] = [];

const clientOf = (number: number): TestClient => clients[number % clients.length] ?? expect.unreachable('no client');

beforeAll(async () => {
  const { apiKey } = await developmentKey(test.db);
  const engines = await Promise.all([1, 2, 3].map(() => startEngine({ databaseUrl: test.url })));
  clients = engines.map(({ address }) => testClient(address, apiKey));
  for (const strategy of ['least_loaded', 'round_robin']) {
    const { data } = await call(clientOf(0), P.createPool, CreatePoolRequest.fromPartial({ name: strategy, strategy }));
    pools.push(data?.id ?? '');
  }
  for (const maxConcurrent of LIMITS) {
    const [poolId = '', other = ''] = pools;
    const member = { poolId, name: `r${maxConcurrent}`, capacity: { maxConcurrent }, memberships: [{ poolId: other }] };
    const state = RecipientState.RECIPIENT_STATE_AVAILABLE;
    await call(clientOf(0), M.createRecipient, CreateRecipientRequest.fromPartial({ ...member, state }));
  }
  return () => {
    for (const client of clients) client.close();
  };
});

/** One client: routes and completes, each at whichever engine comes next. Returns how often it got somebody. */
async function work(number: number): Promise<number> {
  let assigned = 0;
  for (let round = 0; round < ROUTES_EACH; round += 1) {
    const poolId = pools[(number + round) % pools.length] ?? '';
    const request = RouteRequest.fromPartial({ poolId, routable: { id: `${number}/${round}` } });
    const { data } = await call(clientOf(number + round), R.route, request);
    const [assignmentId] = data?.assignmentIds ?? [];
    if (assignmentId === undefined) continue;
    assigned += 1;
    const complete = (engine: number): Promise<unknown> =>
      call(clientOf(engine), A.completeAssignment, CompleteAssignmentRequest.fromPartial({ assignmentId }));
    await Promise.all(round % 3 === 0 ? [complete(number), complete(number + 1)] : [complete(number + 2)]);
  }
  return assigned;
}

describe('hot recipients', () => {
  it('never have more than their limit, and end free', async () => {
    const counts = await Promise.all(Array.from({ length: CLIENTS }, (_, number) => work(number)));
    const assigned = counts.reduce((sum, count) => sum + count, 0);
    expect(assigned).toBeGreaterThan(CLIENTS);
    // Each moment was taken under the lock of the account, after what came before it had been committed.
    const { rows: peaks } = await test.db.query<{ name: string; peak: number; rows: number }>(
      `with moved as (
          select recipient_id, committed_at as at, units as by from ductor.assignment
          union all select recipient_id, ended_at, -units from ductor.assignment where ended_at is not null),
        used as (select recipient_id, sum(by) over (partition by recipient_id order by at, by) as used from moved)
        select r.fields ->> 'name' as name, max(u.used)::integer as peak, count(*)::integer as rows
          from used u join ductor.recipient r using (recipient_id) group by 1 order by 1`,
    );
    expect(peaks.map(({ name, peak }) => [name, peak <= Number(name.slice(1))])).toEqual(
      LIMITS.map((limit) => [`r${limit}`, true]),
    );
    expect(peaks.reduce((sum, { rows }) => sum + rows, 0)).toBe(assigned * 2);
    const { rows: left } = await test.db.query('select 1 from ductor.capacity_authority where committed <> 0');
    expect(left).toEqual([]);
    const { rows } = await test.db.query<{ deadlocks: number }>(
      'select deadlocks::integer as deadlocks from pg_stat_database where datname = current_database()',
    );
    expect(rows).toEqual([{ deadlocks: 0 }]);
  });
});
