/** Bindings of owners on a real Postgres: whoever deletes some locks them in one order. */
import { describe, expect, it } from 'vitest';
import { replaceDatabaseClock, testDatabase } from '../../../store/testing/index.js';
import { maintainRouting } from '../../maintain-routing.js';
import { idOf } from '../../testing/strategy-kit.js';
import { writeBindings } from './known-keys.js';
import { evictSeat, releaseFreeOwners, releaseOwners } from './seats.js';

const OWNERS = 400;
const [TENANT, SEAT] = [idOf(1), idOf(2)];
const POOLS = [idOf(4), idOf(3)];

const database = testDatabase();

const owners = Array.from({ length: OWNERS }, (_, index) => ({ tenantId: TENANT, owner: `owner ${index}` }));

/** Binds all owners to the seat in both pools, so that they lie on the disk in no order that any index has. */
async function bindAll(expiresUs = Number.MAX_SAFE_INTEGER): Promise<void> {
  for (const [at, poolId] of POOLS.entries()) {
    const entries = owners.map(({ owner }) => ({ poolId, key: `seat/${owner}`, owner, recipientId: SEAT, expiresUs }));
    const half = entries.filter((_, index) => index % 2 === at);
    const rest = entries.filter((_, index) => index % 2 !== at);
    // In the order of keys a statement, but one after the other.
    await writeBindings(database.db, TENANT, half);
    await writeBindings(database.db, TENANT, rest);
  }
}

async function left(): Promise<number> {
  const text = 'select 1 from ductor.routing_binding where tenant_id = $1::uuid';
  return (await database.db.query(text, [TENANT])).rowCount;
}

describe('seats', () => {
  it('are taken away, released and bound anew at the same time, and nobody waits in a circle', async () => {
    const backwards = owners.toReversed();
    for (let round = 0; round < 12; round += 1) {
      await bindAll();
      const { db } = database;
      const came = await Promise.allSettled([
        releaseOwners(db, backwards),
        db.transaction((tx) => evictSeat(tx, TENANT, SEAT)),
        releaseOwners(db, owners),
        db.transaction((tx) => evictSeat(tx, TENANT, SEAT)),
        bindAll(),
        releaseFreeOwners(db, backwards),
      ]);
      expect(came.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []))).toEqual([]);
    }
    await releaseOwners(database.db, owners);
    expect(await left()).toBe(0);
  });

  it('that are over are taken out of the table, and nobody waits for those that somebody has locked', async () => {
    const time = await replaceDatabaseClock(database.db);
    await time.freeze(1_000_000);
    await bindAll(999_999);
    const mine = "select 1 from ductor.routing_binding where owner = 'owner 7' for update";
    await database.db.transaction(async (tx) => {
      expect((await tx.query(mine)).rowCount).toBe(2);
      await maintainRouting(database.db);
      expect(await left()).toBe(2);
    });
    await maintainRouting(database.db);
    expect(await left()).toBe(0);
  });
});
