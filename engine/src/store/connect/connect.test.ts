import { createServer, type Server, type Socket } from 'node:net';
import { connect as connectSocket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { testDatabase } from '../testing/index.js';
import { until } from '../testing/child-process.js';
import { judgeServer } from './check-server.js';
import { checkServer, classify, openDatabase, prepared, type Connection } from './index.js';

const test = testDatabase();
const open: Connection[] = [];
const proxies: Server[] = [];

/** Opens a lane that is closed after the test. */
async function lane(): Promise<Connection> {
  const connection = await test.db.connect({ name: 'lane', isLane: true });
  open.push(connection);
  return connection;
}

/** What the promise rejects with. */
async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new DuctorError('internal', 'the promise resolved');
}

afterEach(async () => {
  for (const connection of open.splice(0)) await connection.close();
  for (const proxy of proxies.splice(0)) proxy.close();
});

describe('query', () => {
  it('reads bigint as numbers, also in lists, and refuses what a number cannot hold', async () => {
    const { rows } = await test.db.query(
      "select 9007199254740991::bigint as a, '{1,NULL,-3}'::bigint[] as b, '{}'::bigint[] as c",
    );
    expect(rows).toEqual([{ a: Number.MAX_SAFE_INTEGER, b: [1, null, -3], c: [] }]);
    await expect(test.db.query('select 9007199254740992::bigint')).rejects.toThrow('beyond 2^53');
    expect((await test.db.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
  });

  it('keeps statements of one label apart by their text', async () => {
    const one = prepared('test_same', 'select 1 as n where $1');
    const two = prepared('test_same', 'select 2 as n where $1');
    const connection = await lane();
    for (const statement of [one, two, one]) await connection.query(statement, [true]);
    const { rows } = await connection.query<{ name: string }>('select name from pg_prepared_statements order by name');
    expect(rows.map(({ name }) => name)).toEqual([one.name, two.name].sort());
    expect(prepared('x'.repeat(100), 'select 1').name.length).toBeLessThanOrEqual(63);
  });

  it('counts rows that were written', async () => {
    await test.db.query('create table counted (n int)');
    expect((await test.db.query('insert into counted select generate_series(1, 5)')).rowCount).toBe(5);
    expect((await test.db.query('delete from counted where n > 3')).rowCount).toBe(2);
  });
});

describe('transaction', () => {
  it('commits, and rolls back when the work throws', async () => {
    await test.db.query('create table moved (n int)');
    await test.db.transaction((tx) => tx.query('insert into moved values (1)'));
    const mine = new DuctorError('not_found', 'mine');
    const thrown = await failure(
      test.db.transaction(async (tx) => {
        await tx.query('insert into moved values (2)');
        throw mine;
      }),
    );
    expect(thrown).toBe(mine);
    expect((await test.db.query('select n from moved')).rows).toEqual([{ n: 1 }]);
  });

  it('does not take a rollback for a commit', async () => {
    const swallowing = test.db.transaction(async (tx) => {
      await tx.query('select 1/0').catch(() => undefined);
      return 'done';
    });
    await expect(swallowing).rejects.toThrow('was rolled back');
  });
});

describe('classify', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['data', '22012', 'select 1/0'],
    ['data', '23502', 'insert into classified values (null)'],
    ['data', '22P02', "select 'x'::int"],
    ['statement', '42P01', 'select * from no_such_table'],
    ['statement', '42601', 'selec'],
    ['timeout', '57014', "set statement_timeout = '20ms'; select pg_sleep(5)"],
    ['serialization', '40001', "do $$ begin raise exception using errcode = '40001'; end $$"],
    ['serialization', '40P01', "do $$ begin raise exception using errcode = '40P01'; end $$"],
    ['unknown_outcome', '40003', "do $$ begin raise exception using errcode = '40003'; end $$"],
    ['unavailable', '53300', "do $$ begin raise exception using errcode = '53300'; end $$"],
    ['data', '54000', "do $$ begin raise exception using errcode = '54000'; end $$"],
  ];

  it.each(cases)('%s: %s', async (expected, sqlState, text) => {
    await test.db.query('create table if not exists classified (n int not null)');
    const connection = await test.db.connect({ name: 'classified' });
    const error = await failure(connection.query(text));
    expect(classify(error)).toMatchObject({ class: expected, sqlState });
    expect(error).toBeInstanceOf(DuctorError);
    connection.destroy();
  });

  it('names the constraint, and keeps the values out of the message', async () => {
    await test.db.query('create table keyed (n int constraint keyed_pk primary key)');
    await test.db.query('insert into keyed values (4711)');
    const error = await failure(test.db.query('insert into keyed values ($1)', [4711]));
    expect(classify(error)).toEqual({ class: 'data', sqlState: '23505', constraint: 'keyed_pk' });
    expect(DuctorError.from(error).message).not.toContain('4711');
  });

  it('says lock when a lock is not had in time', async () => {
    await test.db.query('create table locked (n int)');
    const [holder, waiter] = [await lane(), await lane()];
    const held = holder.transaction(async (tx) => {
      await tx.query('lock table locked');
      return failure(waiter.query("set lock_timeout = '50ms'; select * from locked"));
    });
    expect(classify(await held)).toMatchObject({ class: 'lock', sqlState: '55P03' });
  });

  it('says none of an error that never met the database', () => {
    expect(classify(new DuctorError('internal', 'x')).class).toBe('none');
    expect(classify(new TypeError('x')).class).toBe('none');
    expect(classify(undefined).class).toBe('none');
  });
});

describe('a lane', () => {
  it('has short timeouts and stable plans', async () => {
    const connection = await lane();
    const { rows } = await connection.query<{ name: string; setting: string }>(
      `select name, setting from pg_settings where name in (
        'statement_timeout', 'idle_in_transaction_session_timeout', 'client_connection_check_interval',
        'enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit', 'plan_cache_mode') order by name`,
    );
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      client_connection_check_interval: '2000',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
      enable_seqscan: 'off',
      idle_in_transaction_session_timeout: '1000',
      jit: 'off',
      plan_cache_mode: 'force_generic_plan',
      statement_timeout: '5000',
    });
    const name = await test.db.query('select application_name as a from pg_stat_activity where pid = $1', [
      connection.backendPid,
    ]);
    expect(name.rows).toEqual([{ a: 'ductor test lane' }]);
  });

  it('is lost, and says so once, when its session is ended', async () => {
    const connection = await lane();
    const losses: Error[] = [];
    connection.onLost((error) => losses.push(error));
    const sleeping = failure(connection.query('select pg_sleep(5)'));
    await test.db.query('select pg_terminate_backend($1)', [connection.backendPid]);
    expect(classify(await sleeping)).toMatchObject({ class: 'unavailable', sqlState: '57P01' });
    await until(() => connection.isLost, 'the loss');
    expect(losses).toHaveLength(1);
    expect(classify(await failure(connection.query('select 1'))).class).toBe('unknown_outcome');
  });

  it('lets go of its locks when its process stops in a transaction', async () => {
    await test.db.query('create table held (n int); insert into held values (1)');
    const connection = await lane();
    await connection.query('begin');
    await connection.query('select * from held for update');
    // Nothing more is sent, as by a stopped process: the server ends the session after a second.
    const other = await lane();
    await other.query('update held set n = 2');
    await until(() => connection.isLost, 'the loss');
    expect((await other.query('select n from held')).rows).toEqual([{ n: 2 }]);
  });

  it('hears notifications', async () => {
    const connection = await test.db.connect({ name: 'listener' });
    open.push(connection);
    const heard: string[] = [];
    connection.onNotification((channel, payload) => heard.push(`${channel} ${payload}`));
    await connection.query('listen hello');
    await test.db.query("select pg_notify('hello', 'you')");
    await until(() => heard.length > 0, 'the notification');
    expect(heard).toEqual(['hello you']);
  });
});

describe('a connection that is cut', () => {
  it('after COMMIT was sent has an unknown outcome, here: committed', async () => {
    await test.db.query('create table cut (n int)');
    const proxy = await cuttingProxy(test.url);
    const db = openDatabase({ url: proxy.url, applicationName: 'ductor test' });
    const connection = await db.connect({ name: 'cut', isLane: true });
    proxy.cutAnswersTo('commit');
    const error = await failure(connection.transaction((tx) => tx.query('insert into cut values (1)')));
    expect(classify(error)).toEqual({ class: 'unknown_outcome', sqlState: undefined, constraint: undefined });
    expect(DuctorError.from(error).code).toBe('database_unavailable');
    expect(connection.isLost).toBe(true);
    await until(async () => (await test.db.query('select 1 from cut')).rowCount === 1, 'the commit');
    await db.close();
  });

  it('of the pool is replaced by a sound one', async () => {
    const db = openDatabase({ url: test.url, applicationName: 'ductor test', maxConnections: 1 });
    await failure(db.query('select pg_terminate_backend(pg_backend_pid())'));
    expect((await db.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
    await db.close();
  });

  it('between two statements of a transaction fails the transaction, not the process', async () => {
    const lines: string[] = [];
    const db = openDatabase({ url: test.url, applicationName: 'ductor test', log: (line) => lines.push(line) });
    const work = db.transaction(async (tx) => {
      const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
      await test.db.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
      await until(() => lines.length > 0, 'the end of the session');
      await tx.query('select 1');
    });
    expect(classify(await failure(work)).class).toBe('unknown_outcome');
    expect(lines[0]).toContain('terminating connection');
    await db.close();
  });

  it('cannot be made where nothing listens', async () => {
    const db = openDatabase({ url: 'postgresql://x@127.0.0.1:1/x' });
    const error = await failure(db.query('select 1'));
    expect(error).toMatchObject({ code: 'database_unavailable' });
    await db.close();
  });
});

describe('checkServer', () => {
  it('accepts a safe server', async () => {
    const facts = await checkServer(test.db);
    expect(facts.versionNumber).toBeGreaterThanOrEqual(150_000);
    expect(facts.unsafeSettings).toEqual([]);
  });

  it('refuses a server that may lose acknowledged commits, unless told otherwise', async () => {
    const url = new URL(test.url);
    url.searchParams.set('options', '-c synchronous_commit=off');
    const unsafe = openDatabase({ url: url.toString(), applicationName: 'ductor test' });
    const error = await failure(checkServer(unsafe));
    expect(error).toMatchObject({
      code: 'database_settings_unsafe',
      details: [{ path: 'synchronous_commit', value: 'off' }],
    });
    expect((await checkServer(unsafe, true)).unsafeSettings).toEqual(['synchronous_commit']);
    await unsafe.close();
  });

  it('refuses servers that are too old or unsafe in any of three ways', () => {
    const with15 = (name: string, setting: string): Map<string, string> =>
      new Map([
        ['server_version_num', '150000'],
        ['fsync', 'on'],
        [name, setting],
      ]);
    expect(judgeServer(with15('synchronous_commit', 'local'), false).unsafeSettings).toEqual([]);
    for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
      expect(() => judgeServer(with15(name, 'off'), false)).toThrow(`${name} off`);
    }
    const old = expect.objectContaining({ code: 'database_version_unsupported' });
    expect(() => judgeServer(with15('server_version_num', '149999'), true)).toThrow(old);
    expect(() => judgeServer(new Map(), true)).toThrow(old);
  });
});

/** A proxy in front of the server that swallows answers and cuts the connection once a text was sent. */
async function cuttingProxy(url: string): Promise<{ url: string; cutAnswersTo(text: string): void }> {
  let cutAt: string | undefined;
  const server = createServer((front) => {
    const back: Socket = connectSocket(backendOf(url));
    let isCut = false;
    front.on('data', (chunk) => {
      if (cutAt !== undefined && chunk.includes(cutAt)) isCut = true;
      back.write(chunk);
    });
    back.on('data', (chunk) => {
      if (isCut) front.destroy();
      else front.write(chunk);
    });
    const end = (): void => {
      front.destroy();
      back.destroy();
    };
    for (const socket of [front, back]) socket.on('error', end).on('close', end);
  });
  proxies.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const changed = new URL(url);
  changed.searchParams.delete('host');
  changed.hostname = '127.0.0.1';
  changed.port = String(port);
  return { url: changed.toString(), cutAnswersTo: (text) => void (cutAt = text) };
}

/** Where the server of the url listens. */
function backendOf(url: string): { path: string } | { host: string; port: number } {
  const { hostname, port, searchParams } = new URL(url);
  const host = searchParams.get('host');
  if (host?.startsWith('/') === true) return { path: `${host}/.s.PGSQL.${port}` };
  return { host: hostname, port: Number(port || 5432) };
}
