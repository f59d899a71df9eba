/**
 * The kill switch over three engine processes under load, while hints travel over Redis or the database and after
 * that bus is cut: a Route that begins after SetPoolEnabled(false) has returned gets nobody from the pool, whichever
 * engine it asks. And with the bus gone in the middle of the load every Route is answered, and every assignment is
 * there once.
 */
import { describe, expect, it } from 'vitest';
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
import { testDatabase, type TestDatabase } from '../../engine/src/store/testing/index.js';
import { developmentKey } from '../support/api-key.js';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { startTcpProxy, throughPort, upstreamOf } from '../support/tcp-proxy.js';
import { sleep, until } from '../support/wait.js';

const CLIENTS = 12;
const TURNS = 20;
/** Calls of Route that each time have to find it off. */
const OFF_ROUTES = 2;
/** Attempts to listen that come to nothing; more than engines can make while the test lasts. */
const LISTENS_CUT = 10_000;

cleanUpProcesses();

/** What carries hints between the engines, and how it is cut for good. */
interface BusKind {
  /** Settings of the engines. */
  readonly env: Readonly<Record<string, string>>;
  /** By what the engines reach their database. */
  readonly databaseUrl: string;
  cut(): Promise<void>;
  /** What an engine logs that has lost it. */
  readonly lost: string;
  stop(): Promise<void> | void;
}

/** Redis, which is stopped. */
async function overRedis(db: TestDatabase): Promise<BusKind> {
  const redis = await TestRedis.start();
  return {
    ...{ env: { REDIS_URL: redis.url }, databaseUrl: db.url, lost: 'the connection of the bus that hears was lost' },
    cut: () => redis.stop(),
    stop: () => redis.stop(),
  };
}

/** LISTEN and NOTIFY; the sessions that listen are ended, and no session comes to listen any more. */
async function overDatabase(db: TestDatabase): Promise<BusKind> {
  const proxy = await startTcpProxy(upstreamOf(db.url));
  return {
    ...{ env: {}, databaseUrl: throughPort(db.url, proxy.port), lost: 'the session of the bus was lost' },
    async cut() {
      for (let planned = 0; planned < LISTENS_CUT; planned += 1) void proxy.cutNext('listen ductor', 'before');
      const { rows } = await db.db.query<{ ended: boolean }>(
        `select pg_terminate_backend(pid) as ended from pg_stat_activity
          where datname = current_database() and application_name like '%bus'`,
      );
      expect(rows).toEqual([{ ended: true }, { ended: true }, { ended: true }]);
    },
    stop: () => proxy.stop(),
  };
}

/** Three engines with a pool of four, and what was asked of them. */
class Act {
  readonly routed: { readonly began: number; readonly ended: number; readonly id: string; readonly outcome: string }[] =
    [];
  /** Moments at which the switch was off for certain: from the answer to `disable` until `enable` was asked for. */
  readonly off: { readonly from: number; to: number }[] = [];
  #isOver = false;

  private constructor(
    readonly engines: readonly Engine[],
    readonly clients: readonly TestClient[],
    readonly poolId: string,
  ) {}

  static async begin({ env, databaseUrl }: BusKind, apiKey: string): Promise<Act> {
    const engines = await Promise.all([1, 2, 3].map(() => startEngine({ databaseUrl, env })));
    const clients = engines.map(({ address }) => testClient(address, apiKey));
    const [first = expect.unreachable('no client')] = clients;
    const pool = CreatePoolRequest.fromPartial({ name: 'agents', strategy: 'round_robin' });
    const poolId = (await call(first, P.createPool, pool)).data?.id ?? '';
    for (let number = 0; number < 4; number += 1) {
      const member = { poolId, name: `r${number}`, state: RecipientState.RECIPIENT_STATE_AVAILABLE };
      await call(first, M.createRecipient, CreateRecipientRequest.fromPartial(member));
    }
    return new Act(engines, clients, poolId);
  }

  /** Routes by all engines while the switch is turned off and on; half-way the bus is cut. */
  async play(cut: () => Promise<void>): Promise<void> {
    await Promise.all([this.#flip(cut), ...Array.from({ length: CLIENTS }, (_, number) => this.#route(number))]);
  }

  async end(): Promise<void> {
    for (const client of this.clients) client.close();
    for (const engine of this.engines) await engine.kill();
  }

  #client(number: number): TestClient {
    return this.clients[number % this.clients.length] ?? expect.unreachable('no client');
  }

  async #route(number: number): Promise<void> {
    for (let turn = 0; !this.#isOver; turn += 1) {
      const began = performance.now();
      const request = RouteRequest.fromPartial({ poolId: this.poolId, routable: { id: `${number}/${turn}` } });
      const { data } = await call(this.#client(number + turn), R.route, request);
      const ended = performance.now();
      this.routed.push({ began, ended, id: data?.assignmentIds[0] ?? '', outcome: data?.outcome ?? '' });
    }
  }

  /** Calls of Route that began after a moment and were answered. */
  #since(fromMs: number): number {
    return this.routed.filter(({ began }) => began > fromMs).length;
  }

  #enable(turn: number, enabled: boolean): Promise<unknown> {
    const request = SetPoolEnabledRequest.fromPartial({ poolId: this.poolId, enabled });
    return call(this.#client(turn), P.setPoolEnabled, request);
  }

  async #flip(cut: () => Promise<void>): Promise<void> {
    for (let turn = 0; turn < TURNS; turn += 1) {
      if (turn === TURNS / 2) await cut();
      await this.#enable(turn, false);
      const span = { from: performance.now(), to: Number.POSITIVE_INFINITY };
      this.off.push(span);
      await sleep(60);
      // A machine with other work may take longer than that for a single one.
      await until('calls of Route that begin and end while it is off', () => this.#since(span.from) >= OFF_ROUTES);
      span.to = performance.now();
      await this.#enable(turn + 1, true);
      await sleep(60);
    }
    this.#isOver = true;
  }
}

describe.each([
  { name: 'Redis', isThere: hasRedis, open: overRedis },
  { name: 'LISTEN and NOTIFY', isThere: true, open: overDatabase },
])('the kill switch over $name', ({ isThere, open }) => {
  const test = testDatabase();

  it.runIf(isThere)(
    'is off everywhere once it has said so, with the bus and with the bus cut, and nothing is lost',
    { timeout: 120_000 },
    async () => {
      const { apiKey } = await developmentKey(test.db);
      const bus = await open(test);
      const act = await Act.begin(bus, apiKey);
      await act.play(() => bus.cut());
      for (const { child } of act.engines) expect(child.output).toContain(bus.lost);
      await act.end();
      await bus.stop();

      const { routed, off } = act;
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
});
