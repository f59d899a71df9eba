/** Late work that waits in a queue: taken from who was late, not lost, given once to somebody else, whoever looks. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../engine/src/kernel/index.js';
import type { Row } from '../../engine/src/store/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { QueueWorld } from '../support/queue-world.js';
import { replayStored } from '../support/replay-stored.js';
import { SteppedTime } from '../support/stepped-time.js';
import { ensureTenant } from '../support/test-tenant.js';

const database = testDatabase();
let time: SteppedTime;
let world: QueueWorld;
let works = 0;
let work = '';

beforeAll(async () => {
  time = await SteppedTime.begin(database.db);
  world = new QueueWorld(database.db, await ensureTenant(database.db));
});
beforeEach(() => {
  works += 1;
  work = `late-${works}`;
  world.clauses.length = 0;
});
afterEach(() => {
  world.isDying = false;
  world.errors.length = 0;
});

const pass = (seconds: number): Promise<void> => time.pass(seconds);

/** Time passes, then all nodes look at clocks and at queues. */
async function passAndLook(seconds: number): Promise<void> {
  await pass(seconds);
  await world.lookAtClocks();
  await world.look();
}

interface Given extends Row {
  readonly recipient_id: string;
  readonly state: string;
}

/** Who has had the work, in order. */
async function given(id = work): Promise<readonly (readonly [recipientId: string, state: string])[]> {
  const { rows } = await database.db.query<Given>(
    `select recipient_id, state from ductor.assignment where tenant_id = $1::uuid and routable_id = $2
      order by created_at, assignment_id`,
    [world.tenantId, id],
  );
  return rows.map(({ recipient_id: recipientId, state }) => [recipientId, state] as const);
}

const told = (kind: string): readonly string[] =>
  world.clauses.filter((each) => each.startsWith(`${kind} `)).map((each) => each.split(' ')[1] ?? '');

/** Priority of the work in each decision about it. */
async function priorities(): Promise<readonly number[]> {
  const { rows } = await database.db.query<Row & { record: Buffer }>(
    `select record from ductor.routing_decision where tenant_id = $1::uuid and routable_id = $2
      order by decided_at, decision_id`,
    [world.tenantId, work],
  );
  return rows.map(({ record }) => {
    const { routable } = JSON.parse(record.toString('utf8')) as { readonly routable: { readonly pr?: number } };
    return routable.pr ?? 0;
  });
}

describe('late work that nobody else can take', () => {
  for (const action of ['reroute', 'fallback']) {
    it(`waits, away from who was late, until somebody else comes (${action})`, async () => {
      const sla = { resolve_within: '60s', on_breach: ['escalate_priority(5)', action] };
      const { poolId, ids } = await world.pool([1], { sla });
      await world.route(poolId, { id: work });
      await passAndLook(60);
      expect(await given()).toEqual([[ids[0], 'released']]);
      expect(await world.waiting(poolId)).toEqual([work]);
      expect(told('rerouted')).toEqual(['resolve']);
      // Whoever was late is free, and does not get it.
      await passAndLook(600);
      expect(await world.waiting(poolId)).toEqual([work]);
      const second = await world.recipient(poolId, 1);
      await passAndLook(5);
      expect(await given()).toEqual([
        [ids[0], 'released'],
        [second, 'active'],
      ]);
      expect(await world.waiting(poolId)).toEqual([]);
      await passAndLook(600);
      expect(await world.outcomes(work)).toEqual(['assigned', 'queued', 'assigned']);
      expect(await priorities()).toEqual([0, 5, 5]);
      expect([told('breached'), told('rerouted')]).toEqual([['resolve'], ['resolve']]);
      expect(world.errors).toEqual([]);
      expect((await replayStored(database.db)).differing).toEqual([]);
    });
  }

  it('stays with whom it is where the queue is full', async () => {
    const sla = { resolve_within: '60s', on_breach: ['reroute'] };
    const { poolId, ids } = await world.pool([1], { sla, queue: { max_depth: 1 } });
    await world.route(poolId, { id: work });
    await world.route(poolId, { id: `${work} other` });
    await passAndLook(60);
    expect(await given()).toEqual([[ids[0], 'active']]);
    expect(await world.outcomes(work)).toEqual(['assigned', 'max_depth_exceeded']);
    expect([told('breached'), told('rerouted')]).toEqual([['resolve'], []]);
  });

  it('waits once although the node dies before it takes it from who was late', async () => {
    const sla = { resolve_within: '60s', on_breach: ['reroute'] };
    const { poolId, ids } = await world.pool([1], { sla });
    await world.route(poolId, { id: work });
    await pass(60);
    world.isDying = true;
    await world.lookAtClocks();
    expect(await given()).toEqual([[ids[0], 'active']]);
    expect(await world.waiting(poolId)).toEqual([work]);
    world.isDying = false;
    // Somebody has it meanwhile: that stays.
    const second = await world.recipient(poolId, 1);
    await pass(5);
    await world.look();
    await passAndLook(30);
    expect(await given()).toEqual([
      [ids[0], 'released'],
      [second, 'active'],
    ]);
    await passAndLook(600);
    expect(await world.outcomes(work)).toEqual(['assigned', 'queued', 'assigned']);
  });

  it('is taken away for one clause alone, however many were over at a look', async () => {
    const sla = { first_response_within: '60s', resolve_within: '120s', on_breach: ['escalate_priority', 'reroute'] };
    const alone = await world.pool([1], { sla });
    await world.route(alone.poolId, { id: work });
    await passAndLook(180);
    await passAndLook(60);
    expect(await world.waiting(alone.poolId)).toEqual([work]);
    expect(await world.outcomes(work)).toEqual(['assigned', 'queued']);
    expect(told('breached').toSorted()).toEqual(['first_response', 'resolve']);
    expect(told('rerouted')).toEqual(['first_response']);
    work = `${work} with others`;
    const several = await world.pool([1, 1, 1], { sla });
    await world.route(several.poolId, { id: work });
    await passAndLook(180);
    await passAndLook(60);
    expect(await given()).toEqual([
      [several.ids[0], 'released'],
      [several.ids[1], 'active'],
    ]);
  });

  it('is tried again for the next clause where nothing came of the one before', async () => {
    const sla = { first_response_within: '60s', resolve_within: '120s', on_breach: ['reroute'] };
    const { poolId, ids } = await world.pool([1], { sla, fallback: { kind: 'none' } });
    await world.route(poolId, { id: work });
    await passAndLook(180);
    expect(await given()).toEqual([[ids[0], 'active']]);
    expect(await world.outcomes(work)).toEqual(['assigned', 'no_eligible_recipient', 'no_eligible_recipient']);
  });
});

describe('clauses that run out while work waits', () => {
  const within = { first_response_within: '60s', resolve_within: '600s' };
  const sla = { ...within, on_breach: ['escalate_priority(2)', 'reroute'] };

  it('are told once, and nobody loses work for them', async () => {
    const { poolId, ids } = await world.pool([1], { sla });
    const busy = `${work} busy`;
    await world.route(poolId, { id: busy });
    await world.route(poolId, { id: work });
    await pass(30);
    await world.complete(busy);
    await pass(60);
    await world.look();
    await passAndLook(5);
    expect(await given()).toEqual([[ids[0], 'active']]);
    expect(told('breached')).toEqual(['first_response']);
    // The next one is its own: it had ten minutes for that.
    await passAndLook(600);
    expect(await given()).toEqual([[ids[0], 'released']]);
    expect(await world.waiting(poolId)).toEqual([work]);
    expect(await priorities()).toEqual([0, 0, 4]);
  });

  it('of late work are told of as well', async () => {
    const { poolId, ids } = await world.pool([1], { sla });
    await world.route(poolId, { id: work });
    await passAndLook(60);
    await passAndLook(900);
    expect(told('breached')).toEqual(['first_response']);
    const second = await world.recipient(poolId, 1);
    await passAndLook(5);
    await passAndLook(60);
    expect(told('breached')).toEqual(['first_response', 'resolve']);
    expect(await given()).toEqual([
      [ids[0], 'released'],
      [second, 'active'],
    ]);
    expect(await world.outcomes(work)).toEqual(['assigned', 'queued', 'assigned']);
  });
});

it('loses and doubles nothing, whoever looks when', async () => {
  const sla = { first_response_within: '20s', resolve_within: '40s', on_breach: ['escalate_priority', 'reroute'] };
  const { poolId } = await world.pool([2, 2, 1], { sla: { ...sla, priority_boost_per_min: 3 } });
  const names = Array.from({ length: 24 }, (_, index) => `${work} ${index}`);
  for (const id of names) await world.route(poolId, { id });
  const dice = seededRandom(7);
  const done = new Set<string>();
  for (let second = 0; second < 120; second += 1) {
    await pass(1 + (dice.uint32() % 3));
    world.isDying = dice.uint32() % 5 === 0;
    const active = await world.active(poolId);
    const ends = active.filter(() => dice.uint32() % 24 === 0);
    for (const id of ends) done.add(id);
    await Promise.all([
      ...(dice.uint32() % 3 === 0 ? [] : [world.lookAtClocks()]),
      ...(dice.uint32() % 3 === 0 ? [] : [world.look()]),
      ...(ends.length === 0 ? [] : [world.complete(...ends)]),
    ]);
  }
  world.isDying = false;
  await passAndLook(60);
  await passAndLook(60);
  const waiting = await world.waiting(poolId);
  const active = await world.active(poolId);
  expect(new Set([...waiting, ...active]).size).toBe(waiting.length + active.length);
  const open = new Set([...waiting, ...active]);
  expect(names.filter((id) => !open.has(id) && !done.has(id))).toEqual([]);
  expect(told('rerouted').length).toBeGreaterThan(5);
  for (const id of names) {
    const states = (await given(id)).map(([, state]) => state);
    expect(states.filter((state) => state === 'active').length + Number(waiting.includes(id))).toBeLessThan(2);
  }
  expect((await replayStored(database.db)).differing).toEqual([]);
});
