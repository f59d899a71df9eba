/** Settings of a session, sent as one statement right after it is connected. */

/** A setting and its value. */
type Settings = Readonly<Record<string, string>>;

/** Every session: a client that is gone is noticed within seconds, so that its locks do not stay. */
const COMMON: Settings = {
  tcp_keepalives_idle: '2',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
};

/** Pooled sessions: a query that runs longer is a fault. */
const POOLED: Settings = { ...COMMON, statement_timeout: '30s', idle_in_transaction_session_timeout: '10s' };

/**
 * Plans that do not depend on how full the tables were when they were cached: joins of batches with tables go through
 * indexes, always.
 *
 * Generic plans: left alone, PostgreSQL takes the generic plan from the sixth execution on by itself for the commit
 * statements of the workflow room (95 of 100 executions); planning each time instead costs 0.2 to 0.3 ms a commit
 * (0.73 to 0.91 ms at one run a batch, 1.58 to 1.85 ms at 64). Forcing it leaves no choice to statistics.
 */
const STABLE_PLANS: Settings = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/** Commit lanes: a stopped process holds locks for at most a second. */
const LANE: Settings = {
  ...COMMON,
  ...STABLE_PLANS,
  statement_timeout: '5s',
  idle_in_transaction_session_timeout: '1s',
};

/**
 * Sessions for callers: as pooled ones, with plans that are made once. With row-level security the server, left alone,
 * plans the reading of a run anew each time: 0.68 ms instead of 0.25 (0.54 without row-level security).
 */
const CALLER: Settings = { ...POOLED, ...STABLE_PLANS };

/** Listeners and other dedicated sessions: idle for hours, statements short. */
const DEDICATED: Settings = { ...COMMON, statement_timeout: '30s' };

/** Kinds of sessions. */
export type SessionKind = 'pooled' | 'caller' | 'lane' | 'dedicated';

const BY_KIND: Readonly<Record<SessionKind, Settings>> = {
  pooled: POOLED,
  caller: CALLER,
  lane: LANE,
  dedicated: DEDICATED,
};

/** A server on Windows cannot look after its clients while it works, and refuses the setting. */
const CHECK_CLIENT = `select set_config('client_connection_check_interval', '2s', false)
  where version() !~* '(windows|mingw|visual c)'`;

/** The statements that set a session up, for one round trip. */
export function sessionSetup(kind: SessionKind): string {
  const settings = Object.entries(BY_KIND[kind]).map(([name, value]) => `set ${name} = '${value}'`);
  return [...settings, CHECK_CLIENT].join('; ');
}

/** Longest wait for an answer, ms: over the server's own limit, for a connection that has gone silent. */
export const ANSWER_TIMEOUT_MS: Readonly<Record<SessionKind, number>> = {
  pooled: 35_000,
  caller: 35_000,
  lane: 8_000,
  dedicated: 35_000,
};
