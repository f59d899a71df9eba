/**
 * Admission on a real Postgres, over sixteen sessions of which some are cut in the middle: never above a limit, nothing
 * released too early and nothing left, no deadlock. Three ways to do it wrong are each found out.
 */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cases } from '../../engine/src/kernel/testing/test-length.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import type { Row } from '../../engine/src/store/index.js';
import { findCapacityDefects } from '../../engine/src/workflow/index.js';
import { capacitiesFor, deadlocks, disagreements, leftovers, violations } from '../support/admission-checks.js';
import { AdmissionWorld, type Bug, type Pace } from '../support/admission-world.js';
import { ensureTenant } from '../support/test-tenant.js';

const SESSIONS = 16;
const KILLS = 0.04;
/** In full in CI's longer lane. */
const OPERATIONS = cases(1_500, 30_000);
const LIMIT_MS = 60_000 + OPERATIONS * 20;
const SLOW: Pace = { few: 4, slow: 0.8 };

const database = testDatabase();
let tenantId = '';

async function worldOf(bug: Bug, seed: number, pace?: Pace): Promise<AdmissionWorld> {
  const world = new AdmissionWorld(database.db, tenantId, bug, seed, pace);
  await world.open(capacitiesFor(OPERATIONS));
  await database.db.query('truncate ductor.test_violation');
  return world;
}

describe(`over ${OPERATIONS} operations at ${SESSIONS} sessions, some of which are cut in the middle`, () => {
  let world: AdmissionWorld;
  let midst: readonly string[] = [];
  let own = '';

  beforeAll(async () => {
    own = tenantId = await ensureTenant(database.db);
    world = await worldOf({}, 1);
    await world.work(SESSIONS, OPERATIONS, KILLS);
    midst = await disagreements(database.db);
    await world.end();
  }, LIMIT_MS);

  it('every kind of operation comes to something', () => {
    const { granted, refused, closed, born } = world.tally;
    for (const count of [granted, refused, closed, born]) expect(count).toBeGreaterThan(OPERATIONS / 100);
  });

  it('I1: no admission leaves anybody above a limit', async () => {
    expect(await violations(database.db)).not.toContain('above its limit');
  });

  it('I2, I3: accounts say what reservations say, and slates are whole, in the midst and at the end', async () => {
    expect(midst).toEqual([]);
    expect(await disagreements(database.db)).toEqual([]);
  });

  it('I4: a day is never exceeded, and a release lowers nothing of it', async () => {
    const found = await violations(database.db);
    for (const what of ['above the limit of its day', 'a day was refunded']) expect(found).not.toContain(what);
  });

  it('I8: nothing is released over somebody who is open, and nothing is left after the last', async () => {
    expect(await violations(database.db)).not.toContain('released while somebody below was open');
    expect(await leftovers(database.db, own)).toBe(0);
  });

  it('I9: nothing dies of a deadlock', async () => {
    expect([...world.tally.errors]).toEqual([]);
    expect(await deadlocks(database.db)).toBe(0);
  });

  it('I11: whoever is cut has done all or nothing', async () => {
    // Sessions are cut by the clock: the quicker the operations, the fewer.
    expect(world.tally.killed).toBeGreaterThan(OPERATIONS / 300);
    expect(await findCapacityDefects(database.db)).toEqual([]);
  });

  it('I14: no day goes back', async () => {
    expect(await violations(database.db)).not.toContain('a day went back');
  });

  it('I15: decisions made again from the numbers they recorded come to the same', { timeout: LIMIT_MS }, async () => {
    const { decisions } = world.routing;
    const { rows } = await database.db.query<Row & { id: string }>(
      `select decision_id as id from ductor.routing_decision
        where tenant_id = $1::uuid order by decision_id limit 500`,
      [own],
    );
    expect(rows.length).toBeGreaterThan(Math.min(499, OPERATIONS / 10));
    const other: string[] = [];
    for (const { id } of rows) if (!(await decisions.replay(own, id)).isSame) other.push(id);
    expect(other).toEqual([]);
  });
});

describe('admission', () => {
  beforeEach(async () => {
    tenantId = await ensureTenant(database.db);
    await database.db.query('truncate ductor.capacity_reservation, ductor.capacity_authority, ductor.capacity_family');
  });

  it('holds it in few families whose ends take long', async () => {
    const world = await worldOf({}, 2, SLOW);
    await world.work(SESSIONS, 400, 0);
    await world.end();
    expect([...world.tally.errors]).toEqual([]);
    expect(await violations(database.db)).toEqual([]);
    expect(await findCapacityDefects(database.db)).toEqual([]);
  });

  it.each<[string, Bug]>([
    [
      'counts and then inserts',
      { unlocked: ['capacity_lock_accounts', 'capacity_lock_families', 'routing_lock_states'] },
    ],
    ['counts on what it saw before it had the locks', { readsFirst: true }],
  ])('is caught when it %s', async (_, bug) => {
    const found = new Set<string>();
    for (let seed = 1; seed <= 12 && found.size === 0; seed += 1) {
      tenantId = await ensureTenant(database.db);
      const world = await worldOf(bug, seed, SLOW);
      await world.work(SESSIONS, 400, 0);
      await world.end();
      for (const what of [...(await violations(database.db)), ...world.tally.errors.keys()]) found.add(what);
      for (const { kind } of await findCapacityDefects(database.db)) found.add(kind);
      await database.db.query(
        'truncate ductor.capacity_reservation, ductor.capacity_authority, ductor.capacity_family',
      );
    }
    expect([...found]).not.toEqual([]);
  });

  it.each<[string, Bug, readonly string[]]>([
    ['releases what a parent holds whose child ends at the same time', {}, []],
    ['does not where nobody locks the family', { unlocked: ['capacity_lock_families'] }, ['not_released']],
  ])('%s', async (_, bug, found) => {
    const world = await worldOf(bug, 1, { few: 1, slow: 0 });
    await world.race();
    await world.end();
    expect((await findCapacityDefects(database.db)).map(({ kind }) => kind)).toEqual(found);
    await database.db.query('truncate ductor.capacity_reservation, ductor.capacity_authority, ductor.capacity_family');
  });
});
