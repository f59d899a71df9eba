/**
 * The kill switch over three engine processes under load, while hints travel over Redis and after Redis is gone: a
 * Route that begins after SetPoolEnabled(false) has returned gets nobody from the pool, whichever engine it asks. And
 * with Redis stopped in the middle of the load every Route is answered, and every assignment is there once.
 */
import { beforeAll, expect, it } from 'vitest';
import {
  CreatePoolRequest,
  PoolServiceService as P,
  SetPoolEnabledRequest,
} from '../../engine/src/gen/ductor/v1/pool.js';
import {
  CreateRecipientRequest,
  RecipientServiceService as M,
  RecipientState,
} from '../../engine/src/gen/ductor/v1/recipient.js';
import { RouteRequest, RoutingServiceService as R } from '../../engine/src/gen/ductor/v1/routing.js';
import { call, testClient, type TestClient } from '../../engine/src/api/grpc/testing/test-client.js';
import { hasRedis, TestRedis } from '../../engine/src/bus/testing/redis-server.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { developmentKey } from '../support/api-key.js';
import { startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { sleep } from '../support/wait.js';

const CLIENTS = 12;
const TURNS = 20;

const test = testDatabase();
cleanUpProcesses();

let clients: readonly TestClient[] = [];
let poolId = '';
let redis: TestRedis | undefined;

const clientOf = (number: number): TestClient => clients[number % clients.length] ?? expect.unreachable('no client');

beforeAll(async () => {
  const { apiKey } = await developmentKey(test.db);
  // Without a server the bus of the database carries the hints, and the second half is like the first.
  redis = hasRedis ? await TestRedis.start() : undefined;
  const env = redis === undefined ? {} : { REDIS_URL: redis.url };
  const engines = await Promise.all([1, 2, 3].map(() => startEngine({ databaseUrl: test.url, env })));
  clients = engines.map(({ address }) => testClient(address, apiKey));
  const pool = CreatePoolRequest.fromPartial({ name: 'agents', strategy: 'round_robin' });
  poolId = (await call(clientOf(0), P.createPool, pool)).data?.id ?? '';
  for (let number = 0; number < 4; number += 1) {
    const member = { poolId, name: `r${number}`, state: RecipientState.RECIPIENT_STATE_AVAILABLE };
    await call(clientOf(0), M.createRecipient, CreateRecipientRequest.fromPartial(member));
  }
  return async () => {
    for (const client of clients) client.close();
    await redis?.stop();
  };
});

/** Moments at which the switch was off for certain: from the answer to `disable` until `enable` was asked for. */
const off: { readonly from: number; to: number }[] = [];
let isOver = false;
const routed: { readonly began: number; readonly ended: number; readonly id: string; readonly outcome: string }[] = [];

async function route(number: number): Promise<void> {
  for (let turn = 0; !isOver; turn += 1) {
    const began = performance.now();
    const request = RouteRequest.fromPartial({ poolId, routable: { id: `${number}/${turn}` } });
    const { data } = await call(clientOf(number + turn), R.route, request);
    const ended = performance.now();
    routed.push({ began, ended, id: data?.assignmentIds[0] ?? '', outcome: data?.outcome ?? '' });
  }
}

async function flip(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) {
    if (turn === TURNS / 2) await redis?.stop();
    await call(clientOf(turn), P.setPoolEnabled, SetPoolEnabledRequest.fromPartial({ poolId, enabled: false }));
    const span = { from: performance.now(), to: Number.POSITIVE_INFINITY };
    off.push(span);
    await sleep(60);
    span.to = performance.now();
    await call(clientOf(turn + 1), P.setPoolEnabled, SetPoolEnabledRequest.fromPartial({ poolId, enabled: true }));
    await sleep(60);
  }
  isOver = true;
}

it(
  'is off everywhere once it has said so, with and without a bus, and nothing is lost',
  { timeout: 120_000 },
  async () => {
    await Promise.all([flip(), ...Array.from({ length: CLIENTS }, (_, number) => route(number))]);
    const within = routed.filter(({ began, ended }) => off.some(({ from, to }) => began > from && ended < to));
    expect(within.length).toBeGreaterThan(TURNS);
    expect(within.filter(({ outcome }) => outcome !== 'pool_disabled')).toEqual([]);
    const assigned = routed.filter(({ outcome }) => outcome === 'assigned');
    expect(assigned.length).toBeGreaterThan(TURNS);
    expect(new Set(routed.map(({ outcome }) => outcome))).toEqual(new Set(['assigned', 'pool_disabled']));
    const { rows } = await test.db.query<{ assignment_id: string }>('select assignment_id from ductor.assignment');
    expect(rows.map(({ assignment_id: id }) => id).sort()).toEqual(assigned.map(({ id }) => id).sort());
    const { rows: accounts } = await test.db.query<{ committed: number }>(
      'select sum(committed)::integer as committed from ductor.capacity_authority',
    );
    expect(accounts).toEqual([{ committed: assigned.length }]);
  },
);
