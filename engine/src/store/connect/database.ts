/** The pool of sessions that every room shares. */
import pg from 'pg';
import { classify, databaseError } from './classify.js';
import { clientConfig, openConnection } from './connection.js';
import { runStatement, runTransaction } from './run-statement.js';
import { ANSWER_TIMEOUT_MS, sessionSetup } from './session.js';
import type { Database } from './types.js';

/** How to open a database. */
export interface DatabaseOptions {
  /** Connection string: of a server, or of startEmbeddedPostgres. */
  readonly url: string;
  /** Shown in pg_stat_activity; must begin with "ductor". Default "ductor". */
  readonly applicationName?: string;
  /** Most pooled sessions at once; default 10. */
  readonly maxConnections?: number;
  /** Told of idle sessions that ended; default: nobody. */
  readonly log?: (line: string) => void;
}

/** The pool's configuration with the hook that its types lack: run on each new session before it is handed out. */
interface PoolConfig extends pg.PoolConfig {
  readonly onConnect: (client: pg.ClientBase) => Promise<void>;
}

/**
 * Opens a database: lazily, the first statement connects. Check the server with checkServer before use.
 * A statement throws database_unavailable when the server cannot be reached.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const applicationName = options.applicationName ?? 'ductor';
  const config: PoolConfig = {
    ...clientConfig(options.url, applicationName),
    max: options.maxConnections ?? 10,
    idleTimeoutMillis: 30_000,
    query_timeout: ANSWER_TIMEOUT_MS.pooled,
    onConnect: async (client) => {
      // A session that ends between two statements of its borrower raises this; the pool listens to idle ones only.
      client.on('error', (error) => options.log?.(`a database session ended: ${error.message}`));
      await client.query(sessionSetup('pooled'));
    },
  };
  const pool = new pg.Pool(config);
  // The pool repeats the error of an idle session; unheard it would end the process. It drops the session itself.
  pool.on('error', () => undefined);
  let isClosed = false;

  const borrow = async (): Promise<pg.PoolClient> => {
    try {
      return await pool.connect();
    } catch (error) {
      throw databaseError(error, 'connect');
    }
  };
  const withClient = async <T>(run: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await borrow();
    let isBroken = true;
    try {
      const result = await run(client);
      isBroken = false;
      return result;
    } catch (error) {
      // The session is sound when the server answered with an SQLSTATE or the caller's own code threw.
      isBroken = ['unknown_outcome', 'unavailable'].includes(classify(error).class);
      throw error;
    } finally {
      client.release(isBroken);
    }
  };
  return {
    query: (statement, values) => withClient((client) => runStatement(client, statement, values)),
    transaction: (work) => withClient((client) => runTransaction(client, work)),
    connect: (connectOptions) => openConnection(options.url, applicationName, connectOptions),
    async close() {
      if (isClosed) return;
      isClosed = true;
      await pool.end();
    },
  };
}
