/** `ductor dev`: ready soon, keeps what it has, says how to reach it, idles quietly. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuctorClient } from '@ductor/sdk';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../engine/src/store/index.js';
import { Api } from '../support/api.js';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { scratchFolder } from '../support/scratch.js';
import { sleep } from '../support/wait.js';

const WARM_STARTS = 3;
const WARM_LIMIT_MS = 3_000;
const IDLE_SECONDS = 10;
const IDLE_QUERIES_PER_SECOND_MAX = 5;

cleanUpProcesses();

const dataDir = join(scratchFolder('dev'), 'ductor');
let engine: Engine;

/** Runs statements as superuser on the embedded server, which is left as it runs. */
async function onServer<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const server = await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres') });
  expect(server.adopted).toBe(true);
  const client = new pg.Client({ connectionString: server.url, application_name: 'spectator' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Transactions of all databases so far; the spectator's own two or three are among them. */
async function transactions(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ sum: string }>(
    'select sum(xact_commit + xact_rollback) as sum from pg_stat_database',
  );
  return Number(rows[0]?.sum);
}

describe('ductor dev', () => {
  it('starts on an empty folder and writes the ready file as promised', async () => {
    engine = await startEngine({ dataDir });
    expect(Object.keys(engine.ready)).toEqual(['address', 'api_key', 'tenant']);
    expect(engine.ready.address).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(engine.child.output).toContain(engine.address);
    expect(engine.child.output).toContain('npm start --workspace bridge-example');
    console.log(`dev: first start, with a new database, ${Math.round(engine.readyMs)} ms`);
  });

  it('ends with 0 on SIGTERM, and takes its database server with it', async () => {
    const api = new Api(engine);
    await api.createWorkflow({
      family_slug: 'kept',
      steps: [{ ref: 'pause', type: 'STEP_TYPE_WAIT', args: { duration: '1ms' } }],
      edges: [],
    });
    await api.publishWorkflow('kept');
    api.close();
    expect(await engine.stop()).toEqual({ code: 0, signal: null });
    expect(() => readFileSync(join(dataDir, 'postgres/pgdata/postmaster.pid'))).toThrow('ENOENT');
  });

  it(`is ready in under ${WARM_LIMIT_MS} ms warm, with the same key, tenant and data`, async () => {
    const before = engine.ready;
    const times: number[] = [];
    for (let start = 0; start < WARM_STARTS; start += 1) {
      await engine.start();
      times.push(engine.readyMs);
      expect(engine.ready).toEqual(before);
      if (start < WARM_STARTS - 1) expect((await engine.stop()).code).toBe(0);
    }
    const client = new DuctorClient({ engine: engine.address, apiKey: engine.apiKey });
    const run = await client.trigger('kept', {});
    expect(run.version).toBe(1);
    await run.result({ timeoutMs: 10_000 });
    client.close();
    const [, median = Number.POSITIVE_INFINITY] = times.sort((a, b) => a - b);
    console.log(`dev: warm starts ${times.map((ms) => Math.round(ms)).join(', ')} ms`);
    expect(median).toBeLessThan(WARM_LIMIT_MS);
  });

  /*
   * Two counts that do not know of each other. The server's log with log_statement = all has a line for every statement
   * of every session, named by its application; pg_stat_database counts transactions. A statement outside a transaction
   * block is one transaction, so the second can only be smaller when statements share a transaction. Autovacuum, which
   * no engine sends, is off meanwhile: its transactions would be among the second's.
   */
  it(`sends fewer than ${IDLE_QUERIES_PER_SECOND_MAX} statements a second when there is nothing to do`, async () => {
    await sleep(2_000);
    const log = join(dataDir, 'postgres/postgres.log');
    const logged = (): string[] =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => /app=(?!spectator).*LOG: {2}(statement|execute)/.test(line));
    const counted = await onServer(async (client) => {
      await client.query("alter system set log_line_prefix = '%m [%p] app=%a '");
      await client.query("alter system set log_statement = 'all'");
      await client.query('alter system set autovacuum = off');
      await client.query('select pg_reload_conf()');
      await sleep(2_000);
      const statements = logged().length;
      const before = await transactions(client);
      await sleep(IDLE_SECONDS * 1_000);
      const after = await transactions(client);
      const sent = logged().slice(statements);
      await client.query('alter system reset all');
      await client.query('select pg_reload_conf()');
      return { sent, transactions: after - before };
    });
    const perSecond = counted.sent.length / IDLE_SECONDS;
    console.log(
      `dev: idle ${perSecond.toFixed(1)} statements/s by the log, ` +
        `${(counted.transactions / IDLE_SECONDS).toFixed(1)} transactions/s by pg_stat_database`,
    );
    expect(counted.sent.length, 'a log that sees the heartbeat').toBeGreaterThan(0);
    expect(perSecond, counted.sent.join('\n')).toBeLessThan(IDLE_QUERIES_PER_SECOND_MAX);
    expect(counted.transactions / IDLE_SECONDS).toBeLessThan(IDLE_QUERIES_PER_SECOND_MAX);
  });
});
