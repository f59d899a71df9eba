/** A pool of sessions of one kind; a session that may be broken is not lent out again. */
import pg from 'pg';
import { classify, databaseError } from './classify.js';
import { clientConfig } from './connection.js';
import { ANSWER_TIMEOUT_MS, sessionSetup } from './session.js';

/** Which sessions. */
export interface SessionPoolOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly maxConnections: number;
  readonly kind: 'pooled' | 'caller';
  readonly log: (line: string) => void;
  /** What else a new session needs before it is lent out. */
  readonly prepare: (client: pg.ClientBase) => Promise<void>;
}

/** The pool's configuration with the hook that its types lack: run on each new session before it is handed out. */
interface PoolConfig extends pg.PoolConfig {
  readonly onConnect: (client: pg.ClientBase) => Promise<void>;
}

/** Runs work on a session. */
export type WithClient = <T>(run: (client: pg.PoolClient) => Promise<T>) => Promise<T>;

/** A pool. */
export interface SessionPool {
  /** Lends a session for the time of the work. Throws database_unavailable when there is none to be had. */
  readonly withClient: WithClient;
  close(): Promise<void>;
}

/** Opens a pool, lazily: the first work connects. */
export function sessionPool({
  url,
  applicationName,
  maxConnections,
  kind,
  log,
  prepare,
}: SessionPoolOptions): SessionPool {
  const config: PoolConfig = {
    ...clientConfig(url, applicationName),
    max: maxConnections,
    idleTimeoutMillis: 30_000,
    query_timeout: ANSWER_TIMEOUT_MS[kind],
    onConnect: async (client) => {
      // A session that ends between two statements of its borrower raises this; the pool listens to idle ones only.
      client.on('error', (error) => log(`a database session ended: ${error.message}`));
      await client.query(sessionSetup(kind));
      await prepare(client);
    },
  };
  const pool = new pg.Pool(config);
  // The pool repeats the error of an idle session; unheard it would end the process. It drops the session itself.
  pool.on('error', () => undefined);

  const borrow = async (): Promise<pg.PoolClient> => {
    try {
      return await pool.connect();
    } catch (error) {
      throw databaseError(error, 'connect');
    }
  };
  return {
    async withClient(run) {
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
    },
    close: () => pool.end(),
  };
}
