/**
 * What the wall between tenants costs: reads for callers as the engine's role and as ductor_api with its tenant set, in
 * turns on one database. Run: npx tsx bench/tenant-wall.ts [connection string of a server]
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { migrate, openDatabase, prepared, type TenantAccess } from '../engine/src/store/index.js';
import { postgresRunReader } from '../engine/src/workflow/index.js';

const SERVER = process.argv[2] ?? 'postgresql://postgres@127.0.0.1:5432/postgres';
const NAME = `bench_tenant_wall_${process.pid}`;
const RUNS = 20_000;
const ROUNDS = 7;
const CALLS = 1_000;
const TRIP = prepared('bench_round_trip', 'select 1');

const withServer = async (statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: SERVER });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
};

async function fill(url: string, tenantId: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const tenant of [tenantId, randomUUID()]) {
    await client.query(
      `with r as (
        insert into ductor.runs (started_at, closed_at, version, shard, status, active, tenant_id, run_id, family_slug)
        select i, i, 1, 0, 1, false, $1::uuid, gen_random_uuid(), 'flow' from generate_series(1, $2) i
        returning tenant_id, run_id)
      insert into ductor.run_journal (at, tenant_id, run_id, seq, entries)
      select 1, tenant_id, run_id, seq, decode(repeat('61', 75), 'hex') from r, generate_series(1, 4) seq`,
      [tenant, RUNS],
    );
  }
  await client.query('vacuum analyze');
  const { rows } = await client.query<{ run_id: string }>('select run_id from ductor.runs where tenant_id = $1', [
    tenantId,
  ]);
  await client.end();
  return rows.map((row) => row.run_id);
}

/** Half of the calls took no longer than this, us; and calls a second. */
async function measure(call: (index: number) => Promise<unknown>, atOnce: number): Promise<[number, number]> {
  const took: number[] = [];
  let next = 0;
  const startMs = performance.now();
  const one = async (): Promise<void> => {
    while (next < CALLS) {
      const beganMs = performance.now();
      await call((next += 1));
      took.push(performance.now() - beganMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  const perSecond = (CALLS * 1_000) / (performance.now() - startMs);
  took.sort((a, b) => a - b);
  return [(took[took.length >> 1] ?? 0) * 1_000, perSecond];
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

async function main(): Promise<void> {
  const url = new URL(SERVER);
  url.pathname = `/${NAME}`;
  await migrate({ url: url.toString() });
  const tenantId = randomUUID();
  const runIds = await fill(url.toString(), tenantId);
  const db = openDatabase({ url: url.toString(), maxConnections: 8 });
  const readers: readonly (readonly [string, TenantAccess])[] = [
    ['engine', { asTenant: () => db }],
    ['callers', db],
  ];
  for (const atOnce of [1, 16]) {
    const trips: [number, number][] = [];
    for (let round = 0; round < ROUNDS; round += 1) trips.push(await measure(() => db.query(TRIP), atOnce));
    console.log(`${atOnce} at once  a round trip p50 ${median(trips.map(([us]) => us)).toFixed(0)} us`);
    for (const what of ['get', 'list 50']) {
      const found = new Map<string, [number, number][]>(readers.map(([name]) => [name, []]));
      for (let round = 0; round <= ROUNDS; round += 1) {
        for (const [name, access] of readers) {
          const reader = postgresRunReader(access);
          const call = (index: number): Promise<unknown> =>
            what === 'get'
              ? reader.get(tenantId, runIds[(index * 7_919) % runIds.length] ?? '')
              : reader.list({ tenantId, limit: 50 });
          const figures = await measure(call, atOnce);
          if (round > 0) found.get(name)?.push(figures);
        }
      }
      for (const [name, figures] of found) {
        const p50 = median(figures.map(([us]) => us));
        const rate = median(figures.map(([, perSecond]) => perSecond));
        console.log(
          `${atOnce} at once  ${what.padEnd(8)} ${name.padEnd(8)} p50 ${p50.toFixed(0)} us  ${rate.toFixed(0)}/s`,
        );
      }
    }
  }
  await db.close();
}

await withServer(`create database ${NAME}`);
try {
  await main();
} finally {
  await withServer(`drop database ${NAME} with (force)`);
}
