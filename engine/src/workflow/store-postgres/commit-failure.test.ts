import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../store/index.js';
import { testDatabase } from '../../store/testing/index.js';
import { outcomeOfFailure } from './commit-failure.js';

const test = testDatabase();

/** What a statement throws that fails with the SQLSTATE. */
async function failure(sqlState: string): Promise<unknown> {
  const raise = `do $$ begin raise exception 'made to fail' using errcode = '${sqlState}'; end $$`;
  return test.db.query(raise).catch((error: unknown) => error);
}

describe('outcomeOfFailure', () => {
  it.each(['22001', '22021', '23505', '23502', '54000', '54023'])(
    'takes %s for a fault of the batch',
    async (state) => {
      const outcome = outcomeOfFailure(await failure(state));
      expect(outcome).toMatchObject({ kind: 'rejected', sqlState: state });
      expect(outcome).toHaveProperty('message', expect.stringContaining('made to fail'));
    },
  );

  it.each(['40001', '40P01', '55P03', '57014', '53100', '53200', '42P01', '25006', 'XX000'])(
    'repeats after %s',
    async (state) => {
      expect(outcomeOfFailure(await failure(state))).toEqual({ kind: 'repeat', sqlState: state });
    },
  );

  it.each(['57P01', '57P02', '08006', '58030', '40003'])('knows nothing after %s', async (state) => {
    expect(outcomeOfFailure(await failure(state)).kind).toBe('unknown');
  });

  it('knows nothing after a session that was really ended', async () => {
    const db = openDatabase({ url: test.url, applicationName: 'ductor ended' });
    const error: unknown = await db
      .query('select pg_terminate_backend(pg_backend_pid())')
      .then(() => undefined)
      .catch((caught: unknown) => caught);
    expect(outcomeOfFailure(error).kind).toBe('unknown');
    await db.close();
  });

  it('throws what does not come from the database', () => {
    const mine = new TypeError('mine');
    expect(() => outcomeOfFailure(mine)).toThrow(mine);
  });
});
