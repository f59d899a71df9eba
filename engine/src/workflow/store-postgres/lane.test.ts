import { describe, expect, it } from 'vitest';
import { testDatabase } from '../../store/testing/index.js';
import { newLane } from './lane.js';

const test = testDatabase();

async function sessionsNamed(name: string): Promise<unknown> {
  const { rows } = await test.db.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
      where application_name like $1 and datname = current_database()`,
    [`%${name}`],
  );
  return rows[0]?.count;
}

describe('a lane', () => {
  it('opens a session anew after it was lost or cut', async () => {
    const lane = newLane(test.db, 'cut');
    const first = await lane.session();
    expect(await lane.session()).toBe(first);
    lane.cut();
    const second = await lane.session();
    expect(second).not.toBe(first);
    await second.query('select 1');
    await lane.close();
  });

  it('opens none once it is closed, also for a read that the close cut off', async () => {
    const lane = newLane(test.db, 'closed');
    const session = await lane.session();
    const read = session.query('select pg_sleep(30)').catch(() => lane.session());
    const [again] = await Promise.allSettled([read, lane.close()]);
    expect(again).toMatchObject({ status: 'rejected', reason: { code: 'database_unavailable' } });
    await expect.poll(() => sessionsNamed('closed'), { timeout: 10_000 }).toBe(0);
  });

  it('ends a session that is being opened when it is closed', async () => {
    const lane = newLane(test.db, 'opening');
    const opening = lane.session();
    await Promise.all([opening, lane.close()]);
    await expect.poll(() => sessionsNamed('opening'), { timeout: 10_000 }).toBe(0);
  });
});
