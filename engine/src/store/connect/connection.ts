/**
 * A dedicated session.
 *
 * States: open → closed (by close or destroy) or lost (the socket or the server ended it, or an answer did not come).
 *
 * Invariants:
 * 1. A statement that fails without an SQLSTATE loses the session: its answer, should it come late, must not be taken
 *    for another's.
 * 2. onLost is called once, and only for a session that was not closed by its owner.
 */
import pg from 'pg';
import { DuctorError } from '../../kernel/index.js';
import { classify, databaseError } from './classify.js';
import { COLUMN_TYPES } from './column-types.js';
import { runStatement, runTransaction } from './run-statement.js';
import { ANSWER_TIMEOUT_MS, sessionSetup } from './session.js';
import type { Connection, ConnectOptions, Prepared, Queryable, Result, Row } from './types.js';

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

/** Cuts the socket; the server notices and rolls back what was open. */
function destroySocket(client: pg.Client): void {
  const connection: unknown = Reflect.get(client, 'connection');
  const stream: unknown = isObject(connection) ? Reflect.get(connection, 'stream') : undefined;
  if (isObject(stream) && 'destroy' in stream && typeof stream.destroy === 'function') stream.destroy();
}

/** Whether the thing has properties. */
function isObject(thing: unknown): thing is object {
  return typeof thing === 'object' && thing !== null;
}

/** The session; made by openConnection. */
class DedicatedConnection implements Connection {
  #state: 'open' | 'closed' | 'lost' = 'open';
  #lostBy: Error | undefined;
  #onLost: ((error: Error) => void) | undefined;

  constructor(
    private readonly client: pg.Client,
    private readonly name: string,
    readonly backendPid: number,
  ) {
    client.on('error', (error) => this.#lose(error));
    client.on('end', () => this.#lose(new DuctorError('database_unavailable', `the session ${name} ended`)));
  }

  get isLost(): boolean {
    return this.#state !== 'open';
  }

  query<R extends Row = Row>(statement: string | Prepared, values?: readonly unknown[]): Promise<Result<R>> {
    return this.#guard(() => runStatement<R>(this.client, statement, values));
  }

  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return this.#guard(() => runTransaction(this.client, work));
  }

  onLost(callback: (error: Error) => void): void {
    if (this.#lostBy === undefined) this.#onLost = callback;
    else callback(this.#lostBy);
  }

  onNotification(callback: (channel: string, payload: string) => void): void {
    this.client.on('notification', (message) => callback(message.channel, message.payload ?? ''));
  }

  async close(): Promise<void> {
    if (this.#state !== 'open') return;
    this.#state = 'closed';
    await this.client.end();
  }

  destroy(): void {
    if (this.#state === 'open') this.#state = 'closed';
    destroySocket(this.client);
  }

  /** The one way into the state lost. */
  #lose(error: Error): void {
    if (this.#state !== 'open') return;
    this.#state = 'lost';
    this.#lostBy = error;
    destroySocket(this.client);
    this.#onLost?.(error);
  }

  /** Runs a statement or a transaction (invariant 1). */
  async #guard<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (classify(error).class === 'unknown_outcome') this.#lose(databaseError(error, this.name));
      throw error;
    }
  }
}

/**
 * Opens a dedicated session.
 *
 * @param url connection string
 * @param applicationName goes before the session's name in pg_stat_activity
 * @param options name and kind
 *
 * Throws database_unavailable.
 */
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
  // A session that ends while it is set up fails the statement too; unheard the event would end the process.
  const ignore = (): void => undefined;
  client.on('error', ignore);
  try {
    await client.connect();
    await client.query(sessionSetup(kind));
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return new DedicatedConnection(client, options.name, rows[0]?.pid ?? 0);
  } catch (error) {
    destroySocket(client);
    throw databaseError(error, 'connect');
  }
}
