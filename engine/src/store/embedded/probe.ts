/** Short connections to an embedded server: does it accept, is anybody else there. */
import pg from 'pg';

/** Where a server listens. */
export interface Target {
  /** Folder of the unix socket, or an address. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password?: string;
}

/** Name of these connections, so that they do not count as engines. */
const PROBE_NAME = 'ductor-probe';

/** Runs one query on a connection of its own. */
async function ask(target: Target, text: string): Promise<pg.QueryResult<{ answer: number }>> {
  const client = new pg.Client({
    ...target,
    application_name: PROBE_NAME,
    connectionTimeoutMillis: 5_000,
    query_timeout: 5_000,
  });
  // A server that goes away raises this besides failing the query; unheard it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await client.query<{ answer: number }>(text);
  } finally {
    await client.end();
  }
}

/** Whether the server accepts connections now. */
export async function accepts(target: Target): Promise<boolean> {
  try {
    await ask(target, 'select 1 as answer');
    return true;
  } catch {
    return false;
  }
}

/** Whether any engine is connected: every connection of openDatabase names itself "ductor…". */
export async function hasEngines(target: Target): Promise<boolean> {
  const text = `select count(*)::int as answer from pg_stat_activity
    where backend_type = 'client backend' and application_name like 'ductor%' and application_name <> '${PROBE_NAME}'`;
  const { rows } = await ask(target, text);
  return (rows[0]?.answer ?? 0) > 0;
}
