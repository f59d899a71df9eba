/** Puts database time under the control of a test. */
import type { Queryable } from '../connect/index.js';

/** A database whose ductor_now() can be moved. */
export interface DatabaseClock {
  /** Moves database time; the same for all sessions from their next statement on. */
  advance(us: number): Promise<void>;
  /** Stops database time at the instant, microseconds since 1970; advance moves it from there. */
  freeze(atUs: number): Promise<void>;
}

/** Replaces the body of ductor_now() in this database by a table with an offset and an optional frozen instant. */
export async function replaceDatabaseClock(db: Queryable): Promise<DatabaseClock> {
  await db.query('create table ductor.test_clock (offset_us bigint not null, frozen_us bigint)');
  await db.query('insert into ductor.test_clock values (0, null)');
  // Those who serve callers have no more rights than they are given.
  await db.query('grant select on ductor.test_clock to ductor_api');
  await db.query(`create or replace function ductor.ductor_now() returns timestamptz
    language sql volatile parallel safe as $$
    select coalesce(timestamptz 'epoch' + frozen_us * interval '1 microsecond', clock_timestamp())
      + offset_us * interval '1 microsecond' from ductor.test_clock $$`);
  return {
    async advance(us) {
      await db.query('update ductor.test_clock set offset_us = offset_us + $1', [us]);
    },
    async freeze(atUs) {
      await db.query('update ductor.test_clock set frozen_us = $1, offset_us = 0', [atUs]);
    },
  };
}
