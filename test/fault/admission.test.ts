/**
 * Admission on a real Postgres, over sixteen sessions of which some are cut in the middle: never above a limit, nothing
 * released too early and nothing left, no deadlock. Three ways to do it wrong are each found out.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import type { Row } from '../../engine/src/store/index.js';
import { findCapacityDefects } from '../../engine/src/workflow/index.js';
import { AdmissionWorld, type Bug, type Pace } from '../support/admission-world.js';
import { ensureTenant } from '../support/test-tenant.js';

const SESSIONS = 16;
const KILLS = 0.04;
/** The long form: DUCTOR_ADMISSION_OPERATIONS=30000. */
const OPERATIONS = Number(process.env['DUCTOR_ADMISSION_OPERATIONS'] ?? 1_500);
const LIMIT_MS = 60_000 + OPERATIONS * 20;
const CAPACITIES = [
  { max_concurrent: 1, daily_limit: 0 },
  { max_concurrent: 2, daily_limit: 0 },
  { max_concurrent: 3, daily_limit: 0 },
  { max_concurrent: 4, daily_limit: OPERATIONS },
  { max_concurrent: 0, daily_limit: 60 },
];

const SLOW: Pace = { few: 4, slow: 0.8 };

const database = testDatabase();
let tenantId = '';

beforeEach(async () => {
  tenantId = await ensureTenant(database.db);
});

async function violations(): Promise<readonly string[]> {
  const { rows } = await database.db.query<Row & { what: string }>('select distinct what from ductor.test_violation');
  return rows.map(({ what }) => what);
}

async function worldOf(bug: Bug, seed: number, pace?: Pace): Promise<AdmissionWorld> {
  const world = new AdmissionWorld(database.db, tenantId, bug, seed, pace);
  await world.open(CAPACITIES);
  await database.db.query('truncate ductor.test_violation');
  return world;
}

describe('admission', () => {
  it(
    `holds what it promises over ${OPERATIONS} operations`,
    async () => {
      const world = await worldOf({}, 1);
      await world.work(SESSIONS, OPERATIONS, KILLS);
      // In the midst of it all: accounts and reservations agree in every snapshot.
      const kinds = (await findCapacityDefects(database.db)).map(({ kind }) => kind);
      expect(kinds).toEqual([]);
      const partial = await database.db.query(
        `select 1 from ductor.capacity_reservation group by tenant_id, root_id, chain_id, digest
        having count(*) <> max(place) + 1`,
      );
      expect(partial.rowCount).toBe(0);
      await world.end();
      const { tally } = world;
      expect([...tally.errors]).toEqual([]);
      expect(await violations()).toEqual([]);
      expect(await findCapacityDefects(database.db)).toEqual([]);
      const left = await database.db.query('select 1 from ductor.capacity_reservation where tenant_id = $1::uuid', [
        tenantId,
      ]);
      expect(left.rowCount).toBe(0);
      const families = await database.db.query('select 1 from ductor.capacity_family where tenant_id = $1::uuid', [
        tenantId,
      ]);
      expect(families.rowCount).toBe(0);
      for (const count of [tally.granted, tally.refused, tally.closed, tally.born]) {
        expect(count).toBeGreaterThan(OPERATIONS / 100);
      }
      // Sessions are cut by the clock: the quicker the operations, the fewer.
      expect(tally.killed).toBeGreaterThan(OPERATIONS / 300);
    },
    LIMIT_MS,
  );

  it('holds it in few families whose ends take long', async () => {
    const world = await worldOf({}, 2, SLOW);
    await world.work(SESSIONS, 400, 0);
    await world.end();
    expect([...world.tally.errors]).toEqual([]);
    expect(await violations()).toEqual([]);
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
      for (const what of [...(await violations()), ...world.tally.errors.keys()]) found.add(what);
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
