/**
 * What admission promises one sentence at a time, on a real Postgres, by the statements of the gate lane and by the
 * doors of routing, claims and assignments. What needs many sessions at once stands in test/fault/admission.test.ts.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryBus } from '../../engine/src/bus/index.js';
import { createCelCompiler } from '../../engine/src/expressions/index.js';
import { DuctorError, systemClock } from '../../engine/src/kernel/index.js';
import { checkRoutable } from '../../engine/src/routing/core/routable.js';
import { createRouting, type Routed } from '../../engine/src/routing/index.js';
import type { Database, Prepared, Queryable, Row, Transactor } from '../../engine/src/store/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { AdmissionWorld, POOL } from '../support/admission-world.js';
import { ensureTenant } from '../support/test-tenant.js';

const test = testDatabase();
const FULL = 'recipient_capacity_exhausted';
const OUTAGE = 'capacity_authority_unavailable';

let tenantId = '';
let world: AdmissionWorld;

beforeEach(async () => {
  tenantId = await ensureTenant(test.db);
  world = new AdmissionWorld(test.db, tenantId);
});

afterEach(() => world.end());

const callerOf = (): Parameters<AdmissionWorld['routing']['pools']['create']>[0] => {
  const by = { tenantId, principalId: world.newId(), name: 'test', scopes: new Set<never>() };
  return { by, method: 'test' };
};

async function poolIdOf(name: string): Promise<string> {
  const pools = await world.routing.pools.list(tenantId, { afterName: '', status: null, limit: 10 });
  return pools.find(({ fields }) => fields.name === name)?.poolId ?? expect.unreachable(`there is no pool ${name}`);
}

function routed(id: string, routing = world.routing): Promise<Routed> {
  const ask = { routable: checkRoutable({ id: world.newId() }), poolId: id, recipientId: undefined };
  const call = { tenantId, principalId: world.newId(), idempotencyKey: '' };
  return routing.router.route({ ...call, ask: { ...ask, excluded: [], previous: [] } });
}

async function routedTo(name: string): Promise<Routed> {
  return routed(await poolIdOf(name));
}

/** 'granted', 'reused', or the code of the refusal. */
async function selected(...picking: Parameters<AdmissionWorld['selectOnce']>): Promise<string> {
  const answer = await world.selectOnce(...picking);
  if (answer.kind === 'refused') return answer.code;
  return answer.isReused ? 'reused' : 'granted';
}

/** What counts the capacity of the tenant, all columns, in order of recipients. */
async function accounts(): Promise<readonly Row[]> {
  const text = 'select * from ductor.capacity_authority where tenant_id = $1::uuid order by recipient_id';
  return (await test.db.query(text, [tenantId])).rows;
}

async function heldOf(): Promise<readonly unknown[]> {
  return (await accounts()).map(({ held }) => held);
}

/** What a call comes to: 'ok', an outcome, or its code. */
async function cameTo(work: () => Promise<unknown>): Promise<string> {
  try {
    const value = await work();
    return typeof value === 'object' && value !== null && 'stored' in value ? (value as Routed).stored.outcome : 'ok';
  } catch (error) {
    return DuctorError.from(error).code;
  }
}

describe('limits', () => {
  it('I1: after a limit was lowered nobody is admitted until there is room below it', async () => {
    const [id = ''] = await world.open([{ max_concurrent: 3 }]);
    const runs = [await world.begin(), await world.begin(), await world.begin(), await world.begin()] as const;
    const [first, second, third, last] = runs;
    for (const run of [first, second, third]) expect(await selected(run, 's')).toBe('granted');
    await world.routing.recipients.update(callerOf(), id, { capacity: { max_concurrent: 1 } }, 0);
    for (const gone of [first, second, third]) {
      expect(await selected(last, 's')).toBe(FULL);
      expect((await routedTo(POOL)).stored.outcome).not.toBe('assigned');
      await world.closeOne(gone);
    }
    expect(await selected(last, 's')).toBe('granted');
    expect(await heldOf()).toEqual([1]);
  });

  it.each([
    [3, 2, 2],
    [2, 3, 2],
    [0, 2, 2],
    [2, 0, 2],
    [1, 1, 1],
  ])('I5: of a live limit of %i and a pinned one of %i, %i holds: unlimited beats none', async (live, pinned, most) => {
    const [id = ''] = await world.open([{ max_concurrent: live }]);
    const answers: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      answers.push(await selected(await world.begin(), 's', { pinned: new Map(pinned === 0 ? [] : [[id, pinned]]) }));
    }
    expect(answers).toEqual([0, 1, 2, 3].map((place) => (place < most ? 'granted' : FULL)));
    expect(await heldOf()).toEqual([most]);
  });
});

describe('reuse', () => {
  it('I6: 20 identical selections at once are charged once', async () => {
    await world.open([{ max_concurrent: 1 }]);
    const run = await world.begin();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, session) => selected(run, 's', { session })));
    expect(answers.toSorted()).toEqual(['granted', ...Array.from({ length: 19 }, () => 'reused')]);
    expect(await accounts()).toMatchObject([{ held: 1, daily_admitted: 1 }]);
  });

  it('I7: another digest, a parent, a child and a sibling take what they need anew', async () => {
    await world.open([{ max_concurrent: 9 }]);
    const parent = await world.begin();
    const [child, sibling] = [await world.begin(parent), await world.begin(parent)];
    const asked = [
      { run: child, path: 'a' },
      { run: parent, path: 'a' },
      { run: sibling, path: 'a' },
      { run: parent, path: 'b' },
    ];
    const answers: string[] = [];
    for (const { run, path } of asked) answers.push(await selected(run, path));
    expect(answers).toEqual(['granted', 'granted', 'granted', 'granted']);
    expect(await heldOf()).toEqual([4]);
    // What each had before is still its own.
    for (const { run, path } of asked) expect(await selected(run, path)).toBe('reused');
    expect(await heldOf()).toEqual([4]);
  });
});

/** Every row of every table, but of those. */
async function everything(without: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { rows: tables } = await test.db.query<Row & { name: string }>(
    "select tablename as name from pg_tables where schemaname = 'ductor' order by 1",
  );
  const found = new Map<string, string>();
  for (const { name } of tables) {
    if (without.includes(name)) continue;
    const text = `select coalesce(string_agg(t::text, E'\\n' order by t::text), '') as all from ductor."${name}" t`;
    found.set(name, (await test.db.query<Row & { all: string }>(text)).rows[0]?.all ?? '');
  }
  return found;
}

/** What a refused decision is allowed to leave: the record of itself. */
const OF_THE_RECORD = ['routing_decision', 'routing_document'];

describe('a refusal', () => {
  it('I10: leaves every table as it was, byte for byte, but for its own record', async () => {
    await world.open([{ max_concurrent: 1 }, { max_concurrent: 1 }]);
    const [holder, other] = [await world.begin(), await world.begin()];
    expect(await selected(holder, 's', { slate: 2 })).toBe('granted');
    // Once, so that what is only there to be locked is there.
    expect(await selected(other, 's')).toBe(FULL);
    expect((await routedTo(POOL)).stored.outcome).not.toBe('assigned');
    const before = await everything(OF_THE_RECORD);
    for (const slate of [1, 2]) expect(await selected(other, 's', { slate })).toBe(FULL);
    expect((await routedTo(POOL)).stored.outcome).not.toBe('assigned');
    expect(await everything(OF_THE_RECORD)).toEqual(before);
    expect(before.get('capacity_authority')).not.toBe('');
  });

  it('I10: of a claim leaves every table as it was, byte for byte', async () => {
    const { itemIds, recipientId } = await pond();
    const [first = '', second = ''] = itemIds;
    expect(await cameTo(() => claim(first, recipientId))).toBe('ok');
    expect(await cameTo(() => claim(second, recipientId))).toBe(FULL);
    const before = await everything([]);
    expect(await cameTo(() => claim(second, recipientId))).toBe(FULL);
    expect(await everything([])).toEqual(before);
  });
});

/** A pool whose work is claimed, by one who has room for one. */
async function pond(): Promise<{ readonly itemIds: readonly string[]; readonly recipientId: string }> {
  const caller = callerOf();
  const { claims, pools, recipients } = world.routing;
  const queue = await claims.queues.create(caller, { name: 'pond' });
  const claimed = { claim_ttl: '1h', budget: { max_claims: 9, period: { rolling: '1h' } } };
  const config = { routing_mode: 'claim', claim_queue_id: queue.id, claim: claimed };
  const pool = await pools.create(caller, { name: 'pond', config });
  const fields = { name: 'r', state: 'RECIPIENT_STATE_AVAILABLE', capacity: { max_concurrent: 1 } };
  const { recipient } = await recipients.create(caller, pool.poolId, fields);
  const itemIds = [await routed(pool.poolId), await routed(pool.poolId)].map(({ stored }) => stored.decisionId);
  return { itemIds, recipientId: recipient.recipientId };
}

function claim(itemId: string, recipientId: string): Promise<unknown> {
  return world.routing.claims.act({ ...callerOf(), itemId, recipientId, verb: 'claim', reason: '' });
}

describe('a reset', () => {
  it('I12: zeroes what is committed, in all and today, and nothing else', async () => {
    await world.open([{ max_concurrent: 5, daily_limit: 9 }]);
    const run = await world.begin();
    for (const path of ['a', 'b']) expect(await selected(run, path)).toBe('granted');
    for (let count = 0; count < 3; count += 1) expect((await routedTo(POOL)).stored.outcome).toBe('assigned');
    const before = await accounts();
    expect(before).toMatchObject([{ held: 2, committed: 3, daily_admitted: 2, daily_committed: 3 }]);
    await world.routing.pools.resetCapacity(callerOf(), await poolIdOf(POOL));
    const [after] = await accounts();
    expect(after).toEqual({
      ...before[0],
      ...{ committed: 0, daily_committed: 0, reset_at: after?.['reset_at'], updated_at: after?.['updated_at'] },
    });
    // What was held is still reused, and released once.
    expect(await selected(run, 'a')).toBe('reused');
    await world.closeOne(run);
    expect(await accounts()).toMatchObject([{ held: 0, committed: 0, daily_admitted: 2 }]);
  });
});

/** A database in which pools have always just become another version. */
function skewed(db: Database): Database {
  const later = (tx: Queryable): Queryable => ({
    async query<R extends Row>(statement: string | Prepared, values: readonly unknown[] = []) {
      const result = await tx.query<R>(statement, values);
      if (typeof statement === 'string' || !statement.name.startsWith('routing_standing_pools')) return result;
      return {
        ...result,
        rows: result.rows.map((row) => ({ ...row, record_version: 1 + Number(row['record_version']) })),
      };
    },
  });
  const acting = (inner: Transactor): Transactor => ({
    query: (...asked) => inner.query(...asked),
    transaction: (work) => inner.transaction((tx) => work(later(tx))),
  });
  return {
    ...acting(db),
    asTenant: (id) => acting(db.asTenant(id)),
    connect: (to) => db.connect(to),
    close: () => db.close(),
  };
}

/** While somebody else has the account of everybody. */
function lockedOut<T>(work: () => Promise<T>): Promise<T> {
  return test.db.transaction(async (tx) => {
    await tx.query('select 1 from ductor.capacity_authority where tenant_id = $1::uuid for update', [tenantId]);
    return work();
  });
}

describe('an authority that cannot be asked', () => {
  it('I13: is told apart from want of room at every door, when locks are not had in time', async () => {
    await world.open([{ max_concurrent: 1 }]);
    const { itemIds, recipientId } = await pond();
    const [itemId = ''] = itemIds;
    const { stored } = await routedTo(POOL);
    const [assignmentId = ''] = stored.assignmentIds;
    const before = await accounts();
    const doors = [
      () => routedTo(POOL),
      () => claim(itemId, recipientId),
      async () => {
        const action = { assignmentId, verb: 'complete', reason: '' } as const;
        const [result] = await world.routing.assignments.act(callerOf(), [action]);
        if (result instanceof DuctorError) throw result;
      },
    ];
    for (const door of doors) expect(await lockedOut(() => cameTo(door))).toBe(OUTAGE);
    expect(await accounts()).toEqual(before);
  });

  it('I13: is told apart from want of room at every door, when an account is missing', async () => {
    await world.open([{ max_concurrent: 1 }]);
    const { itemIds, recipientId } = await pond();
    const [itemId = ''] = itemIds;
    const run = await world.begin();
    await test.db.query('delete from ductor.capacity_authority where tenant_id = $1::uuid', [tenantId]);
    expect(await selected(run, 's')).toBe(OUTAGE);
    expect(await cameTo(() => routedTo(POOL))).toBe(OUTAGE);
    expect(await cameTo(() => claim(itemId, recipientId))).toBe(OUTAGE);
    expect(await accounts()).toEqual([]);
  });

  it('I13: is told apart from want of room, when versions differ again and again', async () => {
    await world.open([{ max_concurrent: 1 }]);
    const clock = systemClock();
    const routing = createRouting({
      ...{ db: skewed(test.db), cel: createCelCompiler(), clock, bus: memoryBus(clock), newId: () => world.newId() },
      ...{ seedKey: new Uint8Array(32), engine: { version: 'test', tzdb: '' } },
    });
    const turned = async (): Promise<Routed> => routed(await poolIdOf(POOL), routing);
    // Once, so that what is only there to be locked is there.
    expect(await cameTo(turned)).toBe(OUTAGE);
    const before = await everything([]);
    expect(await cameTo(turned)).toBe(OUTAGE);
    expect(await everything([])).toEqual(before);
  });
});
