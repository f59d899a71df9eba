/**
 * What a database that is distributed by tenant asks of the schema and of each statement: tables lead with the tenant,
 * uniqueness holds within one, nothing refers across, and a statement that touches such a table names its tenant. The
 * few that go by shard, or over all tenants, are listed with why.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { ROOT } from '../support/child.js';

const database = testDatabase();
const SOURCE = join(ROOT, 'engine/src');
const script = readFileSync(join(ROOT, 'deploy/citus/distribute.sql'), 'utf8');

/** Whole on every node: small, and read before the tenant is known. */
const EVERYWHERE = ['api_keys', 'tenants'];
/** Of the cluster itself: by shard or node. */
const OF_SHARDS = ['engine_node', 'run_crash', 'run_inbox', 'shard_owner'];
/** Touched by migrations and by who grants rights. */
const OF_THE_SCHEMA = ['api_grant', 'schema_migration', 'schema_migration_note'];

/** Statements on distributed tables that name no tenant, by file, and why they need not. */
const WITHOUT_TENANT: Readonly<Record<string, string>> = {
  'claims/item/sql/due-items.ts': 'looks for due items of all tenants',
  'routing/endings/sql/endings.ts': 'looks for chains of all tenants that are to be looked at',
  'routing/offers/sql/offers.ts': 'looks for due offers of all tenants',
  'routing/queue/sql/pool-queues.ts': 'looks for due queues of all tenants',
  'routing/shadow/sql/shadow-due.ts': 'looks for comparisons of all tenants that are due',
  'routing/sla/sql/clocks.ts': 'looks for due clocks of all tenants',
  'schedules/sql/driving.ts': 'looks for due schedules of shards',
  'workflow/retention/sql/week-expired.ts': 'asks whether a week of all tenants may go',
  'workflow/retention/sql/weeks.ts': 'lists weeks of all tenants',
  'workflow/store-postgres/inspect/stuck-runs.ts': 'ductor doctor looks over all tenants',
};

interface Statement {
  readonly file: string;
  readonly text: string;
  readonly tables: readonly string[];
}

/** Source files without their comments. */
const sources = new Map(
  readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !/(^|\/)(gen|testing)\//.test(file))
    .map((file) => {
      const source = readFileSync(join(SOURCE, file), 'utf8');
      return [file, source.replaceAll(/\/\*[\s\S]*?\*\//g, '')] as const;
    }),
);

/** Names of pieces of SQL that others are put together from, and that name the tenant. */
const tenantPieces = new Set(
  [...sources.values()].flatMap((source) => {
    const pieces = [...source.matchAll(/const (\w+)(?:: \w+)? =\s*\[?(`(?:[^`\\]|\\.)*`|'[^'\n]*')/g)];
    return pieces.flatMap(([, name = '', text = '']) => (text.includes('tenant_id') ? [name] : []));
  }),
);

/** SQL in a file: texts that name a table of ours in a statement. */
function statementsOf([file, source]: readonly [string, string]): readonly Statement[] {
  const texts = [...source.matchAll(/`((?:[^`\\]|\\.)*)`|'((?:[^'\\\n]|\\.)*)'/g)].map(([, a, b]) => a ?? b ?? '');
  return texts.flatMap((text) => {
    const named = text.matchAll(/\b(?:from|join|into|update|only)\s+ductor\.([a-z_]+)\b(?!\s*\()/g);
    const tables = [...new Set([...named].map(([, table = '']) => table))];
    return tables.length === 0 ? [] : [{ file, text, tables }];
  });
}

function namesTenant({ text }: Statement): boolean {
  if (text.includes('tenant')) return true;
  return [...text.matchAll(/\$\{(\w+)/g)].some(([, name = '']) => tenantPieces.has(name));
}

async function tablesOf(hasTenant: boolean): Promise<readonly string[]> {
  const { rows } = await database.db.query<{ name: string }>(
    `select c.relname as name from pg_class c
      where c.relnamespace = 'ductor'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and $1 = exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id')
      order by 1`,
    [hasTenant],
  );
  return rows.map(({ name }) => name);
}

async function distributed(): Promise<readonly string[]> {
  const others = new Set([...EVERYWHERE, ...OF_SHARDS]);
  return (await tablesOf(true)).filter((name) => !others.has(name));
}

describe('a distributed database', () => {
  it('gets every table from the script, by tenant but for those of all nodes', async () => {
    const named = (call: string): readonly string[] =>
      [...script.matchAll(new RegExp(`${call}\\('ductor\\.([a-z_]+)'`, 'g'))].map(([, name = '']) => name).sort();
    expect(named('create_distributed_table')).toEqual(await distributed());
    expect(named('create_reference_table')).toEqual(EVERYWHERE);
    expect(named('citus_add_local_table_to_metadata')).toEqual(OF_SHARDS);
    const rest = (await tablesOf(false)).filter((name) => !OF_SHARDS.includes(name));
    expect(rest).toEqual(OF_THE_SCHEMA);
    expect((script.match(/, 'tenant_id', colocate_with => /g) ?? []).length).toBe((await distributed()).length);
  });

  it('has uniqueness within a tenant only, and no references', async () => {
    const { rows: unique } = await database.db.query<{ table: string; index: string }>(
      `select c.relname as table, i.relname as index from pg_index x
        join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
      where c.relnamespace = 'ductor'::regnamespace and x.indisunique and c.relname = any($1::text[])
        and not exists (select 1 from pg_attribute a
          where a.attrelid = c.oid and a.attname = 'tenant_id' and a.attnum = any(x.indkey))`,
      [await distributed()],
    );
    expect(unique).toEqual([]);
    const { rows: references } = await database.db.query(
      `select 1 from pg_constraint where contype = 'f' and connamespace = 'ductor'::regnamespace`,
    );
    expect(references).toEqual([]);
  });

  it('is asked by statements that name their tenant', async () => {
    const statements = [...sources].flatMap(statementsOf);
    expect(statements.length).toBeGreaterThan(150);
    const tables = new Set(await distributed());
    const without = statements.filter((each) => each.tables.some((table) => tables.has(table)) && !namesTenant(each));
    const found = [...new Set(without.map(({ file }) => file))].sort();
    // An entry that is not needed any more has to go, too.
    expect(found).toEqual(Object.keys(WITHOUT_TENANT));
  });
});
