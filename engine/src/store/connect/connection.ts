/**
 * A dedicated session.
 *
 * States: open → closed (by close or destroy) or lost (the socket or the server ended it). A statement that fails
 * without an SQLSTATE cuts the session off: its answer, should it come late, must not be taken for another's.
 */
import pg from 'pg';
import { DuctorError } from '../../kernel/index.js';
import { classify, databaseError } from './classify.js';
import { COLUMN_TYPES } from './column-types.js';
import { runStatement, runTransaction } from './run-statement.js';
import { ANSWER_TIMEOUT_MS, sessionSetup } from './session.js';
import type { Connection, ConnectOptions } from './types.js';

/** How every session of the engine connects. */
export function clientConfig(url: string, applicationName: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 2_000,
    types: COLUMN_TYPES,
  };
}

/** Opens a dedicated session. Throws database_unavailable. */
export async function openConnection(
  url: string,
  applicationName: string,
  options: ConnectOptions,
): Promise<Connection> {
  const kind = options.isLane === true ? 'lane' : 'dedicated';
  const client = new pg.Client({
    ...clientConfig(url, `${applicationName} ${options.name}`),
    query_timeout: ANSWER_TIMEOUT_MS[kind],
  });
  let state: 'open' | 'closed' | 'lost' = 'open';
  let onLost: ((error: Error) => void) | undefined;
  let lostBy: Error | undefined;
  const lose = (error: Error): void => {
    if (state !== 'open') return;
    state = 'lost';
    lostBy = error;
    onLost?.(error);
  };
  client.on('error', lose);
  client.on('end', () => lose(new DuctorError('database_unavailable', `the session ${options.name} ended`)));
  try {
    await client.connect();
    await client.query(sessionSetup(kind));
  } catch (error) {
    destroySocket(client);
    throw databaseError(error, 'connect');
  }
  const { rows } = await runStatement<{ pid: number }>(client, 'select pg_backend_pid() as pid', undefined);
  const destroy = (): void => {
    if (state === 'open') state = 'closed';
    destroySocket(client);
  };
  const guard = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run();
    } catch (error) {
      if (classify(error).class === 'unknown_outcome') {
        lose(databaseError(error, options.name));
        destroySocket(client);
      }
      throw error;
    }
  };
  return {
    backendPid: rows[0]?.pid ?? 0,
    get isLost() {
      return state !== 'open';
    },
    query: (statement, values) => guard(() => runStatement(client, statement, values)),
    transaction: (work) => guard(() => runTransaction(client, work)),
    onLost(callback) {
      if (lostBy === undefined) onLost = callback;
      else callback(lostBy);
    },
    onNotification(callback) {
      client.on('notification', (message) => callback(message.channel, message.payload ?? ''));
    },
    async close() {
      if (state !== 'open') return;
      state = 'closed';
      await client.end();
    },
    destroy,
  };
}

/** Cuts the socket; the server notices and rolls back what was open. */
function destroySocket(client: pg.Client): void {
  const connection: unknown = Reflect.get(client, 'connection');
  const stream: unknown =
    typeof connection === 'object' && connection !== null ? Reflect.get(connection, 'stream') : undefined;
  if (typeof stream === 'object' && stream !== null && 'destroy' in stream && typeof stream.destroy === 'function')
    stream.destroy();
}
