/** Judges the database server. Pure. */
import type { ServerReport } from '../../store/index.js';
import { spanText } from '../output/times.js';
import { fail, type Finding, ok, warn } from './finding.js';

const MIN_VERSION = 150_000;
const SKEW_WARN_MS = 1_000;
const TRANSACTION_WARN_MS = 5 * 60_000;
const CONNECTIONS_WARN_SHARE = 0.8;

function version({ version: text, versionNumber }: ServerReport): Finding {
  const found = `PostgreSQL ${text}`;
  if (versionNumber >= MIN_VERSION) return ok('database.version', found);
  return fail('database.version', found, "The engine's SQL needs version 15.", 'Upgrade the server to 15 or newer.');
}

function durability({ settings }: ServerReport): Finding {
  const names = ['fsync', 'synchronous_commit', 'full_page_writes'];
  const off = names.filter((name) => settings.get(name) === 'off');
  if (off.length === 0)
    return ok('database.durability', names.map((name) => `${name} ${settings.get(name)}`).join(', '));
  return fail(
    'database.durability',
    `${off.join(', ')} off`,
    'A crash of the server may lose what was acknowledged: steps then run again, or a run is gone.',
    `alter system set ${off[0]} = on; then select pg_reload_conf();`,
  );
}

function autovacuum({ settings }: ServerReport): Finding {
  const off = ['autovacuum', 'track_counts'].filter((name) => settings.get(name) === 'off');
  if (off.length === 0) return ok('database.autovacuum', 'on');
  return fail(
    'database.autovacuum',
    `${off.join(', ')} off`,
    'Tables grow without end, and statements become slow.',
    `alter system set ${off[0]} = on; then select pg_reload_conf();`,
  );
}

function writable({ isReadOnly }: ServerReport): Finding {
  if (!isReadOnly) return ok('database.writable', 'yes');
  return fail('database.writable', 'it is a standby', 'Nothing can be committed here.', 'Connect to the primary.');
}

function skew({ skewMs, errorMs }: ServerReport): Finding {
  const by = `${Math.round(Math.abs(skewMs))} ms (within ${Math.ceil(errorMs)} ms)`;
  const found =
    skewMs >= 0 ? `the database is ahead of this machine by ${by}` : `this machine is ahead of the database by ${by}`;
  if (Math.abs(skewMs) - errorMs < SKEW_WARN_MS) return ok('database.clock', found);
  const meaning = "Work is not in danger, the engine goes by the database's clock; times in logs do not agree.";
  return warn('database.clock', found, meaning, 'Let both machines keep time by NTP.');
}

function connections({ connections: { used, max } }: ServerReport): Finding {
  const found = `${used} of ${max} in use`;
  if (max === 0 || used < max * CONNECTIONS_WARN_SHARE) return ok('database.connections', found);
  const meaning = 'A node that cannot connect commits nothing.';
  return warn('database.connections', found, meaning, 'Raise max_connections, or put a pooler before other users.');
}

function transactions({ oldestTransactionMs }: ServerReport): Finding {
  if (oldestTransactionMs < TRANSACTION_WARN_MS) return ok('database.transactions', 'none is old');
  return warn(
    'database.transactions',
    `one is open for ${spanText(oldestTransactionMs * 1_000)}`,
    'Dead rows younger than it cannot be removed: tables grow.',
    'Find it: select pid, xact_start, query from pg_stat_activity order by xact_start; and end it.',
  );
}

/** Findings about the server. */
export function judgeServerReport(report: ServerReport): readonly Finding[] {
  const judges = [version, writable, durability, autovacuum, connections, transactions, skew];
  return judges.map((judge) => judge(report));
}
