import { describe, expect, it } from 'vitest';
import { createTestDatabase, replaceDatabaseClock, testDatabase } from './index.js';

const test = testDatabase();

describe('testDatabase', () => {
  it('gives a migrated database', async () => {
    const { rows } = await test.db.query<{ us: number }>('select ductor.now_us() as us');
    expect(rows[0]?.us).toBeGreaterThan(1.7e15);
  });

  it('gives each caller its own', async () => {
    const other = await createTestDatabase();
    await other.db.query('create table only_here (x int)');
    const { rows } = await test.db.query("select to_regclass('only_here') as found");
    expect(rows).toEqual([{ found: null }]);
    await other.drop();
  });

  it('names the sessions that were left open', async () => {
    const other = await createTestDatabase();
    const connection = await other.db.connect({ name: 'forgotten' });
    await expect(other.drop()).rejects.toThrow('ductor test forgotten');
    expect(connection.isLost).toBe(true);
  });

  it('moves database time', async () => {
    const other = await createTestDatabase();
    const clock = await replaceDatabaseClock(other.db);
    const now = async (): Promise<unknown> => (await other.db.query('select ductor.now_us() as us')).rows[0]?.['us'];
    await clock.freeze(1_800_000_000_123_456);
    expect(await now()).toBe(1_800_000_000_123_456);
    await clock.advance(5);
    expect(await now()).toBe(1_800_000_000_123_461);
    await other.drop();
  });
});
