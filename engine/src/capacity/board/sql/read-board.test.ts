/** The board on a real database: what it shows, whose, in which order, and how the server finds it. */
import { beforeAll, describe, expect, it } from 'vitest';
import { seededRandom, uuidV7 } from '../../../kernel/index.js';
import { explainCall } from '../../../store/index.js';
import { testDatabase } from '../../../store/testing/index.js';
import { readBoard, type BoardQuery } from './read-board.js';

const database = testDatabase();
const random = seededRandom(33);
let made = 0;
const id = (): string => uuidV7(1_800_000_000_000_000 + ++made * 1000, random);
const DAY_US = 86_400_000_000;

async function addPool(tenantId: string, name: string): Promise<string> {
  const poolId = id();
  const fields = JSON.stringify({ name, status: 'STATUS_ACTIVE' });
  await database.db.query('insert into ductor.pool (tenant_id, pool_id, fields) values ($1, $2, $3)', [
    ...[tenantId, poolId, fields],
  ]);
  return poolId;
}

async function addRecipient(tenantId: string, pools: readonly string[], capacity: object, account = '0, 0, 0, 0, 0') {
  const recipientId = id();
  const fields = { name: 'Ana', status: 'STATUS_ACTIVE', state: 'RECIPIENT_STATE_AVAILABLE', capacity };
  await database.db.query('insert into ductor.recipient (tenant_id, recipient_id, fields) values ($1, $2, $3)', [
    ...[tenantId, recipientId, JSON.stringify(fields)],
  ]);
  for (const [place, poolId] of pools.entries()) {
    await database.db.query('insert into ductor.membership values ($1, $2, $3, $4, $5)', [
      ...[tenantId, poolId, recipientId, '{}', place],
    ]);
  }
  await database.db.query(
    `insert into ductor.capacity_authority
      (tenant_id, recipient_id, committed, held, day, daily_committed, daily_admitted) values ($1, $2, ${account})`,
    [tenantId, recipientId],
  );
  return recipientId;
}

interface Reserved {
  readonly poolId: string;
  readonly recipientId: string;
  readonly sinceUs: number;
}

async function reserve(tenantId: string, { poolId, recipientId, sinceUs }: Reserved) {
  const [runId, rootId] = [id(), id()];
  await database.db.query(
    `insert into ductor.capacity_reservation (admitted_at, tenant_id, root_id, chain_id, recipient_id, run_id, pool_id,
      day, place, units, digest, path) values ($1, $2, $3, $4, $5, $4, $6, 1, 0, 2, 'x', 'buyers')`,
    [sinceUs, tenantId, rootId, runId, recipientId, poolId],
  );
  return { kind: 'reservation', poolId, units: 2, sinceUs, runId, rootId, path: 'buyers' };
}

async function assign(tenantId: string, { poolId, recipientId, sinceUs }: Reserved, state = 'active') {
  const [assignmentId, decisionId] = [id(), id()];
  await database.db.query(
    `insert into ductor.assignment (tenant_id, assignment_id, recipient_id, pool_id, decision_id, routable_id, units,
      state, created_at, committed_at) values ($1, $2, $3, $4, $5, 'lead-1', 1, $6, $7, $7)`,
    [tenantId, assignmentId, recipientId, poolId, decisionId, state, sinceUs],
  );
  return { kind: 'assignment', poolId, units: 1, sinceUs, assignmentId, decisionId, routableId: 'lead-1' };
}

const ALL: BoardQuery = { poolId: null, after: null, limit: 50 };

describe('the board', () => {
  it('shows limits, what is in use and who has it, longest first, in all pools of a recipient', async () => {
    const tenantId = id();
    const [a, b] = [await addPool(tenantId, 'a'), await addPool(tenantId, 'b')];
    const today = `(ductor.now_us() / ${DAY_US})::integer`;
    const capacity = { max_concurrent: 5, daily_limit: 9 };
    const recipientId = await addRecipient(tenantId, [a, b], capacity, `1, 2, ${today}, 3, 4`);
    const assignment = await assign(tenantId, { poolId: b, recipientId, sinceUs: 7 });
    const reservation = await reserve(tenantId, { poolId: a, recipientId, sinceUs: 5 });
    for (const state of ['offered', 'completed', 'released', 'declined']) {
      await assign(tenantId, { poolId: b, recipientId, sinceUs: 6 }, state);
    }
    const line = {
      ...{ recipientId, recipientName: 'Ana', status: 'STATUS_ACTIVE', state: 'RECIPIENT_STATE_AVAILABLE' },
      ...{ maxConcurrent: 5, dailyLimit: 9, held: 2, committed: 1, usedToday: 7, holderCount: 2 },
      holders: [reservation, assignment],
    };
    expect(await readBoard(database.db, tenantId, ALL)).toEqual([
      { ...line, poolId: a, poolName: 'a' },
      { ...line, poolId: b, poolName: 'b' },
    ]);
    expect(await readBoard(database.db, tenantId, { ...ALL, poolId: b })).toEqual([
      { ...line, poolId: b, poolName: 'b' },
    ]);
    expect(await readBoard(database.db, id(), ALL)).toEqual([]);
  });

  it('counts the daily figures of another day as nothing, and no assignments from before a reset', async () => {
    const tenantId = id();
    const poolId = await addPool(tenantId, 'a');
    const recipientId = await addRecipient(tenantId, [poolId], {}, '0, 0, 1, 3, 4');
    await assign(tenantId, { poolId, recipientId, sinceUs: 7 });
    const later = await assign(tenantId, { poolId, recipientId, sinceUs: 8 });
    await database.db.query('update ductor.capacity_authority set reset_at = 7, committed = 1 where tenant_id = $1', [
      tenantId,
    ]);
    expect(await readBoard(database.db, tenantId, ALL)).toMatchObject([
      { maxConcurrent: 0, dailyLimit: 0, committed: 1, usedToday: 0, holders: [later], holderCount: 1 },
    ]);
  });

  it('names ten holders and counts all', async () => {
    const tenantId = id();
    const poolId = await addPool(tenantId, 'a');
    const recipientId = await addRecipient(tenantId, [poolId], {});
    for (let sinceUs = 12; sinceUs > 0; sinceUs -= 1) await reserve(tenantId, { poolId, recipientId, sinceUs });
    const [line] = await readBoard(database.db, tenantId, ALL);
    expect(line?.holderCount).toBe(12);
    expect(line?.holders.map(({ sinceUs }) => sinceUs)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('goes on after a line, through all pools or within one', async () => {
    const tenantId = id();
    const pools = [await addPool(tenantId, 'z'), await addPool(tenantId, 'a')];
    const recipients = [await addRecipient(tenantId, pools, {}), await addRecipient(tenantId, pools, {})];
    const wanted = pools.flatMap((poolId) => recipients.map((recipientId) => ({ poolId, recipientId })));
    const walk = async (poolId: string | null): Promise<object[]> => {
      const seen: { poolId: string; recipientId: string }[] = [];
      for (;;) {
        const [line] = await readBoard(database.db, tenantId, { poolId, after: seen.at(-1) ?? null, limit: 1 });
        if (line === undefined) return seen;
        seen.push({ poolId: line.poolId, recipientId: line.recipientId });
      }
    };
    expect(await walk(null)).toEqual(wanted);
    expect(await walk(pools[0] ?? '')).toEqual(wanted.slice(0, 2));
    expect(await walk(pools[1] ?? '')).toEqual(wanted.slice(2));
  });

  it('fails where nothing is counted: no figure is made up', async () => {
    const tenantId = id();
    const recipientId = await addRecipient(tenantId, [await addPool(tenantId, 'a')], {});
    await database.db.query('delete from ductor.capacity_authority where tenant_id = $1', [tenantId]);
    await expect(readBoard(database.db, tenantId, ALL)).rejects.toMatchObject({
      ...{ code: 'capacity_authority_unavailable', message: expect.stringContaining(recipientId) },
    });
  });
});

describe('its statement, on tables that hold much', () => {
  const tenantId = id();
  beforeAll(async () => {
    // 4 pools of 1,000 recipients; each recipient had 20 assignments, one of which is active.
    await database.db.query(
      `with pools as (
        insert into ductor.pool (tenant_id, pool_id, fields)
        select $1::uuid, gen_random_uuid(), jsonb_build_object('name', 'p' || i, 'status', 'STATUS_ACTIVE')
          from generate_series(1, 4) i returning pool_id
      ), recipients as (
        insert into ductor.recipient (tenant_id, recipient_id, fields)
        select $1::uuid, gen_random_uuid(),
          jsonb_build_object('name', 'r' || i, 'status', 'STATUS_ACTIVE', 'state', 'RECIPIENT_STATE_BUSY')
          from generate_series(1, 4000) i returning recipient_id
      ), accounts as (
        insert into ductor.capacity_authority (tenant_id, recipient_id) select $1::uuid, recipient_id from recipients
      ), members as (
        insert into ductor.membership (tenant_id, pool_id, recipient_id, fields, place)
        select $1::uuid, p.pool_id, r.recipient_id, '{}', 0 from recipients r, pools p
      ), held as (
        insert into ductor.capacity_reservation (admitted_at, tenant_id, root_id, chain_id, recipient_id, run_id,
          pool_id, day, place, units, digest, path)
        select i, $1::uuid, gen_random_uuid(), gen_random_uuid(), recipient_id, gen_random_uuid(), recipient_id, 1, 0,
          1, 'x', 'a' from recipients, generate_series(1, 3) i
      )
      insert into ductor.assignment (tenant_id, assignment_id, recipient_id, pool_id, decision_id, routable_id, units,
        state, created_at, committed_at)
      select $1::uuid, gen_random_uuid(), recipient_id, recipient_id, gen_random_uuid(), 'l', 1,
        case when i = 1 then 'active' else 'completed' end, i, i from recipients, generate_series(1, 20) i`,
      [tenantId],
    );
    await database.db.query('analyze');
  }, 60_000);

  it.each([
    ['of all pools', null],
    ['of one', '00000000-0000-7000-8000-000000000001'],
  ])('goes through indexes, %s', async (_, poolId) => {
    const send = (db: Parameters<typeof readBoard>[0]): Promise<unknown> =>
      readBoard(db, tenantId, { poolId, after: null, limit: 51 });
    const { indexes, wholeTables } = await explainCall(database.db, send, false);
    expect(indexes).toEqual(
      expect.arrayContaining(['membership_pkey', 'capacity_reservation_of', 'assignment_active', 'recipient_pkey']),
    );
    // Four pools are one page of the table.
    expect(wholeTables.filter((name) => name !== 'pool')).toEqual([]);
  });

  it('shows a page of them', async () => {
    const lines = await readBoard(database.db, tenantId, { ...ALL, limit: 201 });
    expect(lines).toHaveLength(201);
    expect(new Set(lines.map(({ holderCount }) => holderCount))).toEqual(new Set([4]));
  });
});
