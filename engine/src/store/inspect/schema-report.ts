/** What of the schema is there, and how large it is. Reads only. */
import type { Queryable, Row } from '../connect/index.js';
import { migrationFiles } from '../migrate/migration-files.js';

/** Migrations by name. */
export interface MigrationState {
  readonly applied: readonly string[];
  /** Of this engine, not applied. */
  readonly pending: readonly string[];
  /** Applied, of a newer engine. */
  readonly foreign: readonly string[];
}

/** A table, its partitions added up. */
export interface TableReport {
  readonly name: string;
  readonly tableBytes: number;
  readonly indexBytes: number;
  /** As the server estimates them. */
  readonly liveRows: number;
  readonly deadRows: number;
  /** Microseconds since 1970; null: never, or all were by hand. */
  readonly lastVacuumUs: number | null;
}

/** Which migrations were applied; null when the schema is not there. */
export async function readMigrationState(db: Queryable): Promise<MigrationState | null> {
  const { rows: found } = await db.query<Row & { found: boolean }>(
    "select to_regclass('ductor.schema_migration') is not null as found",
  );
  if (found[0]?.found !== true) return null;
  const { rows } = await db.query<Row & { name: string }>('select name from ductor.schema_migration order by id');
  const applied = rows.map(({ name }) => name);
  const ours = migrationFiles().map(({ name }) => name);
  return {
    applied,
    pending: ours.filter((name) => !applied.includes(name)),
    foreign: applied.filter((name) => !ours.includes(name)),
  };
}

interface TableRow extends Row {
  readonly name: string;
  readonly table_bytes: number;
  readonly index_bytes: number;
  readonly live_rows: number;
  readonly dead_rows: number;
  readonly last_vacuum_us: number | null;
}

/** All tables of the engine, largest first. */
export async function readTableReport(db: Queryable): Promise<readonly TableReport[]> {
  const { rows } = await db.query<TableRow>(
    `select coalesce(parent.relname, c.relname)::text as name,
      sum(pg_table_size(c.oid))::bigint as table_bytes, sum(pg_indexes_size(c.oid))::bigint as index_bytes,
      sum(s.n_live_tup)::bigint as live_rows, sum(s.n_dead_tup)::bigint as dead_rows,
      (extract(epoch from max(s.last_autovacuum)) * 1000000)::bigint as last_vacuum_us
    from pg_class c
    join pg_stat_user_tables s on s.relid = c.oid
    left join pg_inherits i on i.inhrelid = c.oid
    left join pg_class parent on parent.oid = i.inhparent
    where s.schemaname = 'ductor' and c.relkind = 'r'
    group by 1 order by sum(pg_total_relation_size(c.oid)) desc`,
  );
  return rows.map((row) => ({
    name: row.name,
    tableBytes: row.table_bytes,
    indexBytes: row.index_bytes,
    liveRows: row.live_rows,
    deadRows: row.dead_rows,
    lastVacuumUs: row.last_vacuum_us,
  }));
}

/** Indexes of the engine that the server does not use: a build of theirs was broken off. */
export async function readInvalidIndexes(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<Row & { name: string }>(
    `select c.relname::text as name from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = 'ductor'::regnamespace and not (i.indisvalid and i.indisready) order by 1`,
  );
  return rows.map(({ name }) => name);
}
