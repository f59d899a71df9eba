/**
 * The PostgreSQL server that Ductor and DBOS share in one run of the bench: the one of DATABASE_URL, or an embedded one
 * that this process starts and stops. It is refused when its durability is not PostgreSQL's default.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../engine/src/store/index.js';
import { parseStat } from './processes.js';

/** Settings that decide what a commit costs and promises. */
const DURABILITY: Readonly<Record<string, string>> = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };
/** Further settings worth knowing. */
const OTHERS = ['wal_sync_method', 'commit_delay', 'shared_buffers', 'max_wal_size', 'io_method', 'jit'];
const RAW_CONNECTIONS = 16;
const RAW_WARM_MS = 500;
const RAW_MS = 2_000;
const RAW_INSERT = { name: 'raw_commit', text: 'insert into raw_commit (a, b) values ($1, $2)', values: [1, 'hello'] };

/** The server of a run. */
export class BenchServer {
  readonly version: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly embedded: boolean;
  /** Its first process; undefined when it runs on another machine. */
  readonly postmaster: number | undefined;
  readonly #url: string;
  readonly #db: pg.Pool;
  readonly #stop: () => Promise<unknown>;
  readonly #prefix = `bench_${randomBytes(4).toString('hex')}`;
  readonly #made = new Set<string>();

  /** Use openServer. */
  constructor(facts: {
    readonly url: string;
    readonly db: pg.Pool;
    readonly stop: (() => Promise<unknown>) | undefined;
    readonly version: string;
    readonly settings: Readonly<Record<string, string>>;
    readonly postmaster: number | undefined;
  }) {
    this.version = facts.version;
    this.settings = facts.settings;
    this.embedded = facts.stop !== undefined;
    this.postmaster = facts.postmaster;
    this.#url = facts.url;
    this.#db = facts.db;
    this.#stop = facts.stop ?? ((): Promise<void> => Promise.resolve());
  }

  /** Connection string of a database that `fresh` made. */
  url(name: string): string {
    const url = new URL(this.#url);
    url.pathname = `/${name}`;
    return url.toString();
  }

  /** Makes a database, empty or as a copy of another that nobody is connected to. Returns its name. */
  async fresh(what: string, template?: string): Promise<string> {
    const name = `${this.#prefix}_${what}_${this.#made.size}`;
    await this.#db.query(`create database ${name}${template === undefined ? '' : ` template ${template}`}`);
    this.#made.add(name);
    return name;
  }

  /** Drops a database, whoever is connected to it. */
  async drop(name: string): Promise<void> {
    await this.#db.query(`drop database if exists ${name} with (force)`);
  }

  /** Size of a database after VACUUM and after VACUUM FULL, bytes. */
  async storedBytes(name: string): Promise<{ readonly plain: number; readonly full: number }> {
    const db = poolOf(this.url(name), 1);
    const size = async (vacuum: string): Promise<number> => {
      await db.query(vacuum);
      await db.query('checkpoint');
      const { rows } = await db.query<{ size: number }>('select pg_database_size(current_database())::float8 as size');
      return rows[0]?.size ?? Number.NaN;
    };
    try {
      return { plain: await size('vacuum'), full: await size('vacuum full') };
    } finally {
      await db.end();
    }
  }

  /** The yardstick: commits of one row a second, by 16 connections. */
  async rawCommits(): Promise<number> {
    const name = await this.fresh('raw');
    const db = poolOf(this.url(name), RAW_CONNECTIONS);
    const sessions = await Promise.all(Array.from({ length: RAW_CONNECTIONS }, () => db.connect()));
    const [first] = sessions;
    await first?.query('create table raw_commit (id bigint generated always as identity primary key, a int, b text)');
    const beganMs = performance.now();
    let count = 0;
    const commitAgain = async (session: pg.PoolClient): Promise<void> => {
      for (let ms = 0; ms < RAW_WARM_MS + RAW_MS; ms = performance.now() - beganMs) {
        await session.query(RAW_INSERT);
        if (ms > RAW_WARM_MS) count += 1;
      }
      session.release();
    };
    await Promise.all(sessions.map(commitAgain));
    await db.end();
    await this.drop(name);
    return Math.round(count / (RAW_MS / 1000));
  }

  /** Drops what is left and lets go of the server. */
  async close(): Promise<void> {
    for (const name of [...this.#made].reverse()) await this.drop(name);
    await this.#db.end();
    await this.#stop();
  }
}

/** Opens the server of the url, or an embedded one in the folder. Throws when its durability is not the default. */
export async function openServer(url: string | undefined, dataDir: string): Promise<BenchServer> {
  // TCP, so that nobody saves by a socket what others pay; DBOS and Restate are reached by TCP too.
  const embedded =
    url === undefined
      ? await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres'), transport: 'tcp' })
      : undefined;
  const used = url ?? embedded?.url ?? '';
  // It outlives its starter by design; the bench must leave nothing behind, however it ends.
  if (embedded !== undefined) process.on('exit', () => end(embedded.pid));
  const db = poolOf(used, 2);
  try {
    const { version, settings } = await facts(db);
    for (const [name, value] of Object.entries(DURABILITY)) {
      if (settings[name] !== value) throw new Error(`${name} is ${settings[name]}; the bench wants it ${value}`);
    }
    const postmaster = embedded?.pid ?? (await parentOfBackend(db));
    return new BenchServer({ url: used, db, stop: embedded && (() => embedded.stop()), version, settings, postmaster });
  } catch (error) {
    await db.end();
    await embedded?.stop();
    throw error;
  }
}

/** Shuts a server down fast, if it still runs. */
function end(pid: number): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch {
    // It has ended.
  }
}

/** Connections to a database; one that breaks while idle is opened anew. */
function poolOf(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max });
  pool.on('error', () => undefined);
  return pool;
}

async function facts(db: pg.Pool): Promise<{ version: string; settings: Readonly<Record<string, string>> }> {
  const wanted = [...Object.keys(DURABILITY), ...OTHERS];
  const { rows } = await db.query<{ name: string; value: string }>(
    'select name, current_setting(name) as value from pg_settings where name = any($1::text[])',
    [['server_version', ...wanted]],
  );
  const all = new Map(rows.map(({ name, value }) => [name, value]));
  const settings = wanted.flatMap((name) => {
    const value = all.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { version: all.get('server_version') ?? 'unknown', settings: Object.fromEntries(settings) };
}

/** The server's first process, when it runs on this machine: the parent of the process that serves us. */
async function parentOfBackend(db: pg.Pool): Promise<number | undefined> {
  const { rows } = await db.query<{ pid: number; local: boolean }>(
    `select pg_backend_pid() as pid, inet_server_addr() is null or host(inet_server_addr()) in ('127.0.0.1', '::1')
       as local`,
  );
  const [backend] = rows;
  if (backend?.local !== true) return undefined;
  try {
    return parseStat(readFileSync(`/proc/${backend.pid}/stat`, 'utf8'))?.parent;
  } catch {
    return undefined;
  }
}
