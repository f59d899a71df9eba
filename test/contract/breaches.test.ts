/**
 * What is done about clauses of SLAs that are broken, and clocks that stand still while work waits: exactly once,
 * whichever of two nodes looks, also when one dies in between.
 */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import type { Row } from '../../engine/src/store/index.js';
import { OfferWorld } from '../support/offer-world.js';
import { replayStored } from '../support/replay-stored.js';
import { STEPPED_START_US, SteppedTime } from '../support/stepped-time.js';
import { ensureTenant } from '../support/test-tenant.js';

const database = testDatabase();
let time: SteppedTime;
let world: OfferWorld;
let works = 0;
let work = '';

beforeAll(async () => {
  time = await SteppedTime.begin(database.db);
  world = new OfferWorld(database.db, await ensureTenant(database.db));
});
beforeEach(() => {
  works += 1;
  work = `late-${works}`;
  world.events.length = 0;
});
afterEach(() => {
  world.isDying = false;
  world.errors.length = 0;
});

const pass = (seconds: number): Promise<void> => time.pass(seconds);

const lastOf = async () => (await world.decided(work)).at(-1);
const current = async (): Promise<string> => (await lastOf())?.assignments[0]?.id ?? '';
const kinds = (): readonly string[] => world.events.map((event) => event.split(' ').slice(0, 2).join(' '));

/** Priority of the work in each decision about it. */
async function priorities(): Promise<readonly number[]> {
  const decided = await world.decided(work);
  return decided.map(({ record }) => {
    const { routable } = JSON.parse(record.toString('utf8')) as { readonly routable: { readonly pr?: number } };
    return routable.pr ?? 0;
  });
}

interface ClockRow extends Row {
  readonly assignment_id: string;
  readonly clause: string;
  readonly due_at: number;
  readonly breached_at: number | null;
  readonly settled_at: number | null;
  readonly paused_at: number | null;
}

async function clocksOf(ids: readonly string[]): Promise<readonly ClockRow[]> {
  const { rows } = await database.db.query<ClockRow>(
    `select assignment_id, clause, due_at, breached_at, settled_at, paused_at from ductor.sla_clock
      where assignment_id = any($1::uuid[]) order by due_at`,
    [`{${ids.join(',')}}`],
  );
  return rows;
}

describe('a clause that is broken', () => {
  it('raises the priority of the work once, and whoever gets it next has it by that', async () => {
    const sla = {
      ...{ first_response_within: '60s', resolve_within: '120s', warn_at_pct: 100 },
      on_breach: ['escalate_priority(5)', 'reroute'],
    };
    const { poolId } = await world.pool(3, { sla });
    await world.route(work, poolId, { priority: 2 });
    await pass(60);
    await world.lookAtClocks();
    await world.lookAtClocks();
    expect(kinds().toSorted()).toEqual(['breached first_response', 'rerouted first_response']);
    expect(await priorities()).toEqual([2, 7]);
    await pass(60);
    await world.lookAtClocks();
    expect(await priorities()).toEqual([2, 7, 12]);
    await pass(600);
    await world.lookAtClocks();
    expect(await priorities()).toHaveLength(3);
    expect(kinds().toSorted()).toEqual([
      ...['breached first_response', 'breached resolve'],
      ...['rerouted first_response', 'rerouted resolve'],
    ]);
    expect((await replayStored(database.db)).differing).toEqual([]);
  });

  it('raises it for all clauses that were over by then, and for whom it is offered to next', async () => {
    const sla = { pickup_within: '10s', first_response_within: '20s', on_breach: ['escalate_priority(3)'] };
    const { poolId } = await world.pool(2, { sla, requires_acceptance: true, offer_timeout: '30s' });
    await world.route(work, poolId);
    await pass(10);
    await world.lookAtClocks();
    await pass(20);
    // Nobody has looked at the second clock yet: it is over all the same.
    await world.look();
    expect(await priorities()).toEqual([0, 6]);
    await world.lookAtClocks();
    expect(kinds()).toEqual(expect.arrayContaining(['breached pickup', 'breached first_response']));
    expect(kinds().filter((kind) => kind.startsWith('breached'))).toHaveLength(2);
  });

  it('has the fallback of the pool take the work, past who else is there', async () => {
    const spare = await world.pool(1, {});
    const sla = { resolve_within: '60s', on_breach: ['fallback'] };
    const fallback = { kind: 'overflow', target: spare.poolId, on: ['sla_breach_predicted'] };
    // Whoever is chosen would be in time: nothing is predicted.
    const { poolId } = await world.pool(2, { sla, fallback });
    await world.route(work, poolId);
    const first = await current();
    await pass(60);
    await world.lookAtClocks();
    const last = await lastOf();
    expect([last?.outcome, last?.assignments[0]?.recipientId]).toEqual(['assigned', spare.ids[0]]);
    expect(await world.answer(first, 'complete')).toBe('assignment_state_conflict');
    expect((await replayStored(database.db)).differing).toEqual([]);
  });

  it('ends among the dead letters where the pool says so, and stays with whom it is when it is put off', async () => {
    const sla = { resolve_within: '60s', on_breach: ['fallback'] };
    const dead = await world.pool(2, { sla, fallback: { kind: 'dead_letter' } });
    await world.route(work, dead.poolId);
    const first = await current();
    await pass(60);
    await world.lookAtClocks();
    expect((await lastOf())?.outcome).toBe('dead_lettered');
    expect(await world.answer(first, 'complete')).toBe('assignment_state_conflict');
    work = `${work} put off`;
    const later = await world.pool(2, { sla, fallback: { kind: 'retry', delay: '5s' } });
    await world.route(work, later.poolId);
    const second = await current();
    await pass(60);
    await world.lookAtClocks();
    expect((await lastOf())?.outcome).toBe('deferred');
    expect(await world.answer(second, 'complete')).toBe('completed');
  });

  it('is told once and routed on once although the node dies in between', async () => {
    const sla = { resolve_within: '60s', on_breach: ['escalate_priority', 'reroute'] };
    const { poolId } = await world.pool(2, { sla });
    await world.route(work, poolId);
    await pass(60);
    world.isDying = true;
    await world.lookAtClocks();
    expect(await world.decided(work)).toHaveLength(1);
    world.isDying = false;
    await pass(30);
    await world.lookAtClocks();
    await pass(30);
    await world.lookAtClocks();
    expect(kinds().filter((kind) => kind === 'breached resolve')).toHaveLength(1);
    expect(await priorities()).toEqual([0, 1]);
  });
});

describe('clocks of work that waits', () => {
  const sla = { first_response_within: '60s', resolve_within: '120s', pause_states: ['waiting_customer'] };

  it('stand still in the states that the pool names, and go on where they were', async () => {
    const { poolId } = await world.pool(1, { sla });
    await world.route(work, poolId);
    const id = await current();
    await pass(30);
    expect(await world.setWorkState(id, 'waiting_customer')).toBe('');
    await pass(3_600);
    await world.lookAtClocks();
    // Again, and in other states, nothing changes: these are no states in which it stands still.
    expect(await world.setWorkState(id, 'waiting_customer', 1)).toBe('');
    expect(world.events.filter((event) => event.includes('breached'))).toEqual([]);
    expect(await world.setWorkState(id, 'on_the_phone')).toBe('');
    const [first] = await clocksOf([id]);
    expect([first?.due_at, first?.paused_at]).toEqual([time.nowUs + 30_000_000, null]);
    await pass(29);
    await world.lookAtClocks();
    expect(kinds()).not.toContain('breached first_response');
    await pass(1);
    await world.lookAtClocks();
    expect(kinds()).toContain('breached first_response');
    expect(await world.answer(id, 'complete')).toBe('completed');
    expect(await world.setWorkState(id, 'waiting_customer')).toBe('assignment_state_conflict');
    expect(await world.setWorkState(world.newId(), '')).toBe('not_found');
  });

  it('are settled when the work ends meanwhile', async () => {
    const { poolId } = await world.pool(1, { sla });
    await world.route(work, poolId);
    const id = await current();
    await world.setWorkState(id, 'waiting_customer');
    await pass(7_200);
    expect(await world.answer(id, 'complete')).toBe('completed');
    await world.lookAtClocks();
    const clocks = await clocksOf([id]);
    expect(clocks.map(({ settled_at, breached_at }) => [settled_at, breached_at])).toEqual([
      ...[
        [time.nowUs, null],
        [time.nowUs, null],
      ],
    ]);
  });

  it('count open time alone by the business clock', async () => {
    const schedule = { weekly: [{ days: ['sat', 'sun'], open: '09:00', close: '12:00' }] };
    const business = { resolve_within: '90m', clock: 'business', pause_states: ['waiting_customer'] };
    const fresh = STEPPED_START_US + 7 * 86_400_000_000;
    await pass((fresh - time.nowUs) / 1_000_000);
    const { poolId } = await world.pool(1, { sla: business, schedule });
    await world.route(work, poolId);
    const id = await current();
    const due = (): Promise<number | undefined> => clocksOf([id]).then(([clock]) => clock?.due_at);
    // 10:45 to 12:00 are 75 minutes, 15 more the next day.
    expect(await due()).toBe(fresh + (22 * 60 + 30) * 60_000_000);
    await pass(15 * 60);
    await world.setWorkState(id, 'waiting_customer');
    await pass(2 * 3_600);
    await world.setWorkState(id, '');
    // It stood still from 11:00 to 12:00 of open time.
    expect(await due()).toBe(fresh + (23 * 60 + 30) * 60_000_000);
  });

  it('go on with the work that is routed again: what it stood still is not lost', async () => {
    const { poolId } = await world.pool(2, { sla: { ...sla, on_breach: ['reroute'] } });
    await world.route(work, poolId);
    const first = await current();
    await world.setWorkState(first, 'waiting_customer');
    await pass(1_000);
    await world.setWorkState(first, '');
    await pass(60);
    await world.lookAtClocks();
    const second = await current();
    expect(second).not.toBe(first);
    const clocks = await clocksOf([second]);
    expect(clocks.map(({ clause, due_at }) => [clause, due_at])).toEqual([
      ['first_response', time.nowUs],
      ['resolve', time.nowUs + 60_000_000],
    ]);
  });

  it('of very many works stand still and run out as counted second by second, whoever says and looks', async () => {
    const { poolId } = await world.pool(20, { sla: { resolve_within: '20s', pause_states: ['waiting_customer'] } });
    const names = Array.from({ length: 50 }, (_, index) => `${work} ${index}`);
    const ids: string[] = [];
    for (const name of names) {
      await world.route(name, poolId);
      ids.push((await world.decided(name))[0]?.assignments[0]?.id ?? '');
    }
    const waits = ids.map(() => false);
    const ran = ids.map(() => 0);
    const brokenAt = ids.map((): number | null => null);
    for (let second = 0; second < 60; second += 1) {
      const turns = ids.flatMap((id, index) => {
        if ((index * 7 + second * 5 + ((index * second) % 11)) % 13 !== 0) return [];
        waits[index] = waits[index] !== true;
        return [world.setWorkState(id, waits[index] === true ? 'waiting_customer' : '', index % 2)];
      });
      await Promise.all([...turns, world.lookAtClocks()]);
      for (const index of ids.keys()) {
        if (waits[index] !== true) ran[index] = (ran[index] ?? 0) + 1;
        if (ran[index] === 20) brokenAt[index] ??= time.nowUs + 1_000_000;
      }
      await pass(1);
    }
    await world.lookAtClocks();
    expect(world.errors).toEqual([]);
    const found = new Map((await clocksOf(ids)).map((clock) => [clock.assignment_id, clock]));
    const broken = ids.filter((_, index) => brokenAt[index] !== null);
    expect(broken.length).toBeGreaterThan(10);
    expect(broken.length).toBeLessThan(50);
    for (const [index, id] of ids.entries()) {
      const { due_at, breached_at } = found.get(id) ?? { due_at: 0, breached_at: 0 };
      const expected = brokenAt[index] ?? null;
      expect([breached_at !== null, expected === null ? 0 : due_at]).toEqual([expected !== null, expected ?? 0]);
    }
    const told = world.events.filter((event) => ids.some((id) => event === `breached resolve ${id}`));
    expect(new Set(told).size).toBe(told.length);
    expect(told).toHaveLength(broken.length);
  });
});
