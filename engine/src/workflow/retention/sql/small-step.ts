/** One step of the janitor: a short transaction, on one node at a time. */
import type { Queryable, Row, Transactor } from '../../../store/index.js';

/** Advisory lock of whoever removes runs. */
const LOCK_KEY = '4720150311008';

/**
 * Runs the work in a transaction of its own; undefined when another node is at it. Row by row along the indexes: a plan
 * for a list of runs that were never analysed would read whole tables.
 */
export async function smallStep<T>(db: Transactor, work: (tx: Queryable) => Promise<T>): Promise<T | undefined> {
  return db.transaction(async (tx) => {
    const { rows } = await tx.query<Row & { is_ours: boolean }>(
      `select pg_try_advisory_xact_lock(${LOCK_KEY}) as is_ours, set_config('statement_timeout', '30s', true),
        set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
        set_config('enable_mergejoin', 'off', true)`,
    );
    return rows[0]?.is_ours === true ? work(tx) : undefined;
  });
}
