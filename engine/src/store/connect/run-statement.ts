/** Sends statements and transactions through a client of node-postgres. */
import type pg from 'pg';
import { DuctorError } from '../../kernel/index.js';
import { databaseError } from './classify.js';
import { queryAsTenant } from './tenant-query.js';
import type { Prepared, Queryable, Result, Row } from './types.js';

/** The part of a pool or client that is used here. */
type Sender = Pick<pg.ClientBase, 'query'>;

/** Runs one statement; errors become DuctorErrors. */
export async function runStatement<R extends Row>(
  sender: Sender,
  statement: string | Prepared,
  values: readonly unknown[] | undefined,
): Promise<Result<R>> {
  const { name, text } = typeof statement === 'string' ? { name: undefined, text: statement } : statement;
  try {
    const result = await sender.query<R>({
      text,
      ...(name === undefined ? {} : { name }),
      ...(values === undefined ? {} : { values: [...values] }),
    });
    return { rows: result.rows, rowCount: result.rowCount ?? 0 };
  } catch (error) {
    throw databaseError(error, name ?? text.trimStart().slice(0, 60));
  }
}

/** The same for a tenant, through a session that is set up for tenants. */
export async function runTenantStatement<R extends Row>(
  client: pg.ClientBase,
  tenantId: string,
  statement: string | Prepared,
  values: readonly unknown[] | undefined,
): Promise<Result<R>> {
  const named = typeof statement === 'string' ? { text: statement } : statement;
  try {
    const result = await queryAsTenant<R>(client, tenantId, named, values ?? []);
    return { rows: result.rows, rowCount: result.rowCount ?? 0 };
  } catch (error) {
    throw databaseError(error, 'name' in named ? named.name : named.text.trimStart().slice(0, 60));
  }
}

/** Commits. Throws when the server rolled back instead: a failed statement inside was caught and ignored. */
async function commit(sender: Sender): Promise<void> {
  let command: string;
  try {
    ({ command } = await sender.query('commit'));
  } catch (error) {
    throw databaseError(error, 'commit');
  }
  if (command !== 'COMMIT')
    throw new DuctorError('internal', 'the transaction was rolled back: a statement in it failed');
}

/**
 * Runs the work between begin and commit. If the rollback fails too, the first error is the one to tell.
 *
 * @param begin what begins the transaction
 */
export async function runTransaction<T>(
  sender: Sender,
  work: (tx: Queryable) => Promise<T>,
  begin = 'begin',
): Promise<T> {
  const tx: Queryable = { query: (statement, values) => runStatement(sender, statement, values) };
  await tx.query(begin);
  let result: T;
  try {
    result = await work(tx);
  } catch (error) {
    await tx.query('rollback').catch(() => undefined);
    throw error;
  }
  await commit(sender);
  return result;
}
