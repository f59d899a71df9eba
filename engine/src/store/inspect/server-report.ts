/** What a database server is like: version, settings, load, time. Reads only. */
import type { Clock } from '../../kernel/index.js';
import type { Queryable, Row } from '../connect/index.js';

/** The server. */
export interface ServerReport {
  /** As it writes it. */
  readonly version: string;
  /** 150018 is 15.18. */
  readonly versionNumber: number;
  /** fsync, synchronous_commit, full_page_writes, autovacuum, track_counts as it writes them. */
  readonly settings: ReadonlyMap<string, string>;
  readonly connections: { readonly used: number; readonly max: number };
  /** It is a standby: nothing can be written. */
  readonly isReadOnly: boolean;
  /** Age of the oldest open transaction of this database, ms; 0: none. */
  readonly oldestTransactionMs: number;
  /** Its clock against this machine's, ms: positive when it is ahead; exact to `errorMs`. */
  readonly skewMs: number;
  readonly errorMs: number;
}

/** Settings that are looked at. */
const SETTINGS = ['autovacuum', 'fsync', 'full_page_writes', 'synchronous_commit', 'track_counts'];
const LOOKS = 5;

async function readSettings(db: Queryable): Promise<Map<string, string>> {
  const { rows } = await db.query<Row & { name: string; setting: string }>(
    'select name, setting from pg_settings where name = any($1)',
    [[...SETTINGS, 'server_version', 'server_version_num', 'max_connections']],
  );
  return new Map(rows.map(({ name, setting }) => [name, setting]));
}

interface LoadRow extends Row {
  readonly used: number;
  readonly is_read_only: boolean;
  readonly oldest_ms: number | null;
}

async function readLoad(db: Queryable): Promise<LoadRow | undefined> {
  const { rows } = await db.query<LoadRow>(
    `select count(*)::int as used, pg_is_in_recovery() as is_read_only,
      max(extract(epoch from clock_timestamp() - xact_start) * 1000)
        filter (where datname = current_database() and pid <> pg_backend_pid())::float8 as oldest_ms
    from pg_stat_activity where backend_type = 'client backend'`,
  );
  return rows[0];
}

/** The offset of the server's clock: of several looks the one with the shortest way there and back. */
async function readSkew(db: Queryable, clock: Clock): Promise<{ readonly skewMs: number; readonly errorMs: number }> {
  let best = { skewMs: 0, errorMs: Number.POSITIVE_INFINITY };
  for (let look = 0; look < LOOKS; look += 1) {
    const [sentUs, sentMs] = [clock.nowUs(), clock.monotonicMs()];
    const { rows } = await db.query<Row & { now_ms: number }>(
      'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms',
    );
    const errorMs = (clock.monotonicMs() - sentMs) / 2;
    if (errorMs < best.errorMs) best = { skewMs: (rows[0]?.now_ms ?? 0) - (sentUs / 1_000 + errorMs), errorMs };
  }
  return best;
}

/**
 * Reads the report.
 *
 * @param clock this machine's, not yet taught the database's time
 */
export async function readServerReport(db: Queryable, clock: Clock): Promise<ServerReport> {
  const settings = await readSettings(db);
  const load = await readLoad(db);
  return {
    version: settings.get('server_version') ?? 'unknown',
    versionNumber: Number(settings.get('server_version_num') ?? 0),
    settings,
    connections: { used: load?.used ?? 0, max: Number(settings.get('max_connections') ?? 0) },
    isReadOnly: load?.is_read_only ?? false,
    oldestTransactionMs: load?.oldest_ms ?? 0,
    ...(await readSkew(db, clock)),
  };
}
