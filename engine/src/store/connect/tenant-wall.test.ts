import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../migrate/index.js';
import { createTestDatabase, testDatabase, type CreatedDatabase } from '../testing/index.js';
import { checkTenantWall, openDatabase, prepared } from './index.js';

const test = testDatabase();
const MINE = randomUUID();
const THEIRS = randomUUID();
const COUNT = prepared('count_workflows', 'select count(*)::int as n from ductor.workflow where $1::int = 1');

async function addWorkflow(tenantId: string, familySlug: string): Promise<void> {
  await test.db.query(
    "insert into ductor.workflow (tenant_id, workflow_id, family_slug, title) values ($1, $2, $3, '')",
    [tenantId, randomUUID(), familySlug],
  );
}
beforeAll(async () => {
  await addWorkflow(MINE, 'one');
  await addWorkflow(MINE, 'two');
  await addWorkflow(THEIRS, 'three');
});

const countOf = async (tenantId: string): Promise<unknown> =>
  (await test.db.asTenant(tenantId).query(COUNT, [1])).rows[0]?.['n'];

describe('asTenant', () => {
  it('sees rows of the tenant only, although the statement has no condition', async () => {
    expect(await countOf(MINE)).toBe(2);
    expect(await countOf(THEIRS)).toBe(1);
    expect(await countOf(randomUUID())).toBe(0);
  });

  it('keeps tenants apart when their statements share sessions', async () => {
    const ids = Array.from({ length: 200 }, (_, index) => (index % 3 === 0 ? THEIRS : MINE));
    const counts = await Promise.all(ids.map(countOf));
    expect(counts).toEqual(ids.map((id) => (id === MINE ? 2 : 1)));
  });

  it('refuses to write rows of another tenant, also by moving one there', async () => {
    const mine = test.db.asTenant(MINE);
    const insert = "insert into ductor.workflow (tenant_id, workflow_id, family_slug, title) values ($1, $2, $3, '')";
    await expect(mine.query(insert, [THEIRS, randomUUID(), 'four'])).rejects.toThrow('row-level security');
    await expect(mine.query('update ductor.workflow set tenant_id = $1', [THEIRS])).rejects.toThrow('row-level');
    const { rowCount } = await mine.query("update ductor.workflow set title = 'x' where tenant_id = $1", [THEIRS]);
    expect(rowCount).toBe(0);
    await mine.query(insert, [MINE, randomUUID(), 'four']);
    await test.db.query("delete from ductor.workflow where family_slug = 'four'");
  });

  it('answers rows, counts and errors as a statement without a tenant does', async () => {
    const mine = test.db.asTenant(MINE);
    const many = await mine.query('select family_slug, 7::bigint as n from ductor.workflow order by family_slug');
    expect(many).toEqual({
      rows: [
        { family_slug: 'one', n: 7 },
        { family_slug: 'two', n: 7 },
      ],
      rowCount: 2,
    });
    expect((await mine.query("update ductor.workflow set title = 'y'")).rowCount).toBe(2);
    await expect(mine.query('select 1 / $1::int', [0])).rejects.toThrow('division by zero');
    await expect(mine.query('selekt')).rejects.toThrow('syntax error');
    expect(await countOf(MINE)).toBe(2);
    expect((await mine.query('select $1::bytea as b', [Buffer.from([0, 1])])).rows).toEqual([
      { b: Buffer.from([0, 1]) },
    ]);
  });

  it('keeps the tenant through a transaction and rolls back what fails', async () => {
    const mine = test.db.asTenant(MINE);
    const seen = await mine.transaction(async (tx) => {
      await tx.query("update ductor.workflow set title = 'in'");
      return (await tx.query('select title from ductor.workflow')).rows;
    });
    expect(seen).toEqual([{ title: 'in' }, { title: 'in' }]);
    const failing = mine.transaction(async (tx) => {
      await tx.query("update ductor.workflow set title = 'out'");
      await tx.query('select 1 / 0');
    });
    await expect(failing).rejects.toThrow('division');
    const { rows } = await test.db.query('select distinct title from ductor.workflow where tenant_id = $1', [MINE]);
    expect(rows).toEqual([{ title: 'in' }]);
  });

  it('takes nothing but a UUID for a tenant', async () => {
    for (const id of ['', "x'; drop schema ductor cascade; --", `${MINE}'`, MINE.toUpperCase()]) {
      await expect(test.db.asTenant(id).query('select 1')).rejects.toThrow('no id of a tenant');
      await expect(test.db.asTenant(id).transaction(() => Promise.resolve())).rejects.toThrow('no id of a tenant');
    }
  });

  it('gives callers no right to what is not theirs to ask', async () => {
    const mine = test.db.asTenant(MINE);
    const closed = ['engine_node', 'shard_owner', 'run_crash', 'run_inbox', 'run_start_key', 'run_journal_default'];
    for (const table of closed) {
      await expect(mine.query(`select 1 from ductor.${table}`)).rejects.toThrow('permission denied');
    }
    await expect(mine.query('select key_hash from ductor.api_keys')).rejects.toThrow('permission denied');
    await expect(mine.query('delete from ductor.workflow')).rejects.toThrow('permission denied');
    await expect(mine.query('update ductor.runs set status = 1')).rejects.toThrow('permission denied');
  });
});

describe('a session of callers without a tenant', () => {
  it('sees nothing and writes nothing', async () => {
    const client = new pg.Client({ connectionString: test.url });
    await client.connect();
    await client.query('set role ductor_api');
    for (const table of ['workflow', 'workflow_version', 'runs', 'run_journal', 'tenants']) {
      expect((await client.query(`select 1 from ductor.${table}`)).rowCount).toBe(0);
    }
    const insert = `insert into ductor.workflow (tenant_id, workflow_id, family_slug, title)
      values ('${MINE}', '${randomUUID()}', 'x', '')`;
    await expect(client.query(insert)).rejects.toThrow('row-level security');
    await client.end();
  });
});

describe('the wall', () => {
  it('stands around every table with rows of tenants', async () => {
    expect(await checkTenantWall(test.db)).toBeNull();
    const { rows } = await test.db.query<{ name: string }>(
      `select relname::text as name from pg_class c where c.oid in (select ductor.tenant_tables())
        and relrowsecurity and relforcerowsecurity order by 1`,
    );
    const led = await test.db.query<{ name: string }>(
      `select table_name::text as name from information_schema.columns c join pg_class p on p.relname = c.table_name
        where table_schema = 'ductor' and column_name = 'tenant_id' and not p.relispartition
          and p.relkind in ('r', 'p') order by 1`,
    );
    expect(rows).toEqual(led.rows);
    expect(rows.length).toBeGreaterThanOrEqual(10);
  });

  it('is found missing when a table was left out, and raised again', async () => {
    await test.db.query('create table ductor.later (tenant_id uuid primary key)');
    expect(await checkTenantWall(test.db)).toMatchObject({ problem: expect.stringMatching(/not forced on .*later/) });
    await migrate({ url: test.url });
    expect(await checkTenantWall(test.db)).toBeNull();
    await test.db.query('drop table ductor.later');
  });

  it('is raised in databases of one server that are migrated at once', async () => {
    const made = await Promise.all([1, 2, 3].map(() => createTestDatabase({ isMigrated: false })));
    await Promise.all(made.map(({ url }) => migrate({ url })));
    for (const { db } of made) expect(await checkTenantWall(db)).toBeNull();
    await Promise.all(made.map((database) => database.drop()));
  });
});

describe('an engine that is no superuser', () => {
  const LOGINS = { member: `ductor_test_member_${process.pid}`, stranger: `ductor_test_stranger_${process.pid}` };
  const made: CreatedDatabase[] = [];

  /** A database that the login owns, migrated by it. */
  async function ownedBy(login: string): Promise<string> {
    const database = await createTestDatabase({ isMigrated: false });
    made.push(database);
    await database.db.query(`alter database ${database.name} owner to ${login}`);
    const url = new URL(database.url);
    url.username = login;
    url.password = 'test';
    await migrate({ url: url.toString() });
    return url.toString();
  }

  beforeAll(async () => {
    for (const login of Object.values(LOGINS)) await test.db.query(`create role ${login} login password 'test'`);
    await test.db.query(`grant ductor_api, ductor_engine to ${LOGINS.member}`);
  });
  afterAll(async () => {
    await Promise.all(made.map((database) => database.drop()));
    for (const login of Object.values(LOGINS)) await test.db.query(`drop role ${login}`);
  });

  it('passes the wall as a member of ductor_engine, and its callers do not', async () => {
    const db = openDatabase({ url: await ownedBy(LOGINS.member), applicationName: 'ductor test' });
    expect(await checkTenantWall(db)).toBeNull();
    const insert = "insert into ductor.workflow (tenant_id, workflow_id, family_slug, title) values ($1, $2, 'w', '')";
    await db.query(insert, [MINE, randomUUID()]);
    await db.query(insert, [THEIRS, randomUUID()]);
    expect((await db.query('select 1 from ductor.workflow')).rowCount).toBe(2);
    expect((await db.asTenant(MINE).query('select 1 from ductor.workflow')).rowCount).toBe(1);
    // Without its membership it would see an empty database: it must hear of that.
    await test.db.query(`revoke ductor_engine from ${LOGINS.member}`);
    expect((await db.query('select 1 from ductor.workflow')).rowCount).toBe(0);
    await expect(checkTenantWall(db)).rejects.toMatchObject({ code: 'database_role_unsuitable' });
    await test.db.query(`grant ductor_engine to ${LOGINS.member}`);
    await db.close();
  });

  it('works without the wall where it may not have the roles, and is told so', async () => {
    const url = await ownedBy(LOGINS.stranger);
    const db = openDatabase({ url, applicationName: 'ductor test', tenantRole: null });
    expect(await checkTenantWall(db)).toMatchObject({
      path: 'database.tenant_wall',
      problem: expect.stringMatching(/is no member of ductor_engine/),
      remedy: expect.stringContaining('create role'),
    });
    await db.query(
      "insert into ductor.workflow (tenant_id, workflow_id, family_slug, title) values ($1, $2, 'w', '')",
      [MINE, randomUUID()],
    );
    expect((await db.asTenant(MINE).query('select 1 from ductor.workflow where tenant_id = $1', [MINE])).rowCount).toBe(
      1,
    );
    await db.close();
    const closed = openDatabase({ url, applicationName: 'ductor test' });
    await expect(closed.asTenant(MINE).query('select 1')).rejects.toThrow('permission denied to set role');
    await closed.close();
  });
});
