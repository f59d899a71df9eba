/**
 * A dedicated session that is opened when it is needed and opened anew when it was lost.
 *
 * States: none → open (ask) → none (lost, or cut);  any → closed.
 * Invariants:
 * 1. At most one session; a lost one is never asked again.
 * 2. A statement is sent at most once: what failed is the caller's to repeat.
 * 3. Once it is closed no session is opened: a read that was cut off by the close, and repeated, would leave one that
 *    keeps the process alive.
 */
import { DuctorError } from '../../kernel/index.js';
import type { Connection, Database } from '../../store/index.js';

/** See above. */
export interface Lane {
  /** The open session; opens one if there is none. Throws database_unavailable. */
  session(): Promise<Connection>;
  /** Cuts the session off; the next caller gets a new one. */
  cut(): void;
  /** Ends the session politely, for good. */
  close(): Promise<void>;
}

/**
 * A lane.
 *
 * @param db where to connect
 * @param name what the session is for, shown in pg_stat_activity
 * @param settings a statement for each new session; default: none
 */
export function newLane(db: Database, name: string, settings = ''): Lane {
  let opening: Promise<Connection> | undefined;
  let current: Connection | undefined;
  let isClosed = false;

  const open = async (): Promise<Connection> => {
    const connection = await db.connect({ name, isLane: true });
    try {
      // A plan made anew for each batch costs more than the batch.
      await connection.query('set plan_cache_mode = force_generic_plan');
      if (settings !== '') await connection.query(settings);
    } catch (error) {
      connection.destroy();
      throw error;
    }
    current = connection;
    return connection;
  };
  const cut = (): void => {
    current?.destroy();
    current = undefined;
  };
  return {
    async session() {
      if (current !== undefined && !current.isLost) return current;
      current = undefined;
      if (isClosed) throw new DuctorError('database_unavailable', `${name} is closed`);
      opening ??= open().finally(() => {
        opening = undefined;
      });
      return opening;
    },
    cut,
    async close() {
      isClosed = true;
      await opening?.catch(() => undefined);
      const closing = current;
      current = undefined;
      await closing?.close();
    },
  };
}
