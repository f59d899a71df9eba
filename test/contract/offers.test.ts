/** Offers that are declined or not answered go to the next recipient, exactly once, whichever of two nodes looks. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { OfferWorld } from '../support/offer-world.js';
import { replayStored } from '../support/replay-stored.js';
import { SteppedTime } from '../support/stepped-time.js';
import { ensureTenant } from '../support/test-tenant.js';

const database = testDatabase();
const OFFERING = { requires_acceptance: true, offer_timeout: '30s' };
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
  work = `work-${works}`;
  world.events.length = 0;
});

const pass = (seconds: number): Promise<void> => time.pass(seconds);

const lastOf = async (id = work) => (await world.decided(id)).at(-1);
const offered = async (id = work): Promise<string> => (await lastOf(id))?.assignments[0]?.id ?? '';

describe('an offer', () => {
  it('that is declined goes to the next recipient, until the pool has offered it as often as it may', async () => {
    const { poolId, ids } = await world.pool(4, { ...OFFERING, max_offers: 3 });
    await world.route(work, poolId);
    for (let times = 0; times < 3; times += 1) {
      expect(await world.answer(await offered(), 'decline')).toBe('declined');
      await pass(1);
      await world.look();
    }
    const decided = await world.decided(work);
    expect(decided.map(({ outcome }) => outcome)).toEqual(['offered', 'offered', 'offered', 'offers_exhausted']);
    const recipients = decided.flatMap(({ assignments }) => assignments.map(({ recipientId }) => recipientId));
    expect(recipients).toEqual(ids.slice(0, 3));
    expect(world.events).toEqual(['routed_on offered', 'routed_on offered', 'routed_on offers_exhausted']);
    await pass(100);
    await world.look();
    expect(await world.decided(work)).toHaveLength(4);
  });

  it('wakes the node that hears that it is declined, once that is committed, and no other answer does', async () => {
    const { poolId } = await world.pool(3, OFFERING);
    const seen: string[] = [];
    const states = async (): Promise<void> => {
      const state = (await lastOf())?.assignments[0]?.state ?? '';
      seen.push(state);
    };
    const told: Promise<void>[] = [];
    world.routing.whenDeclined(() => void told.push(states()));
    await world.route(work, poolId);
    await world.answer(await offered(), 'decline');
    await Promise.all(told);
    expect(seen).toEqual(['declined']);
    await world.look();
    await world.answer(await offered(), 'accept');
    await world.answer(await offered(), 'complete');
    expect(told).toHaveLength(1);
  });

  it('that nobody answers in time is over then and no sooner, and cannot be taken any more', async () => {
    const { poolId, ids } = await world.pool(2, OFFERING);
    await world.route(work, poolId);
    const first = await offered();
    await pass(29);
    await world.look();
    expect(await world.decided(work)).toHaveLength(1);
    await pass(1);
    await world.look();
    expect(await world.answer(first, 'accept')).toBe('assignment_state_conflict');
    const decided = await world.decided(work);
    expect(decided.map(({ assignments }) => assignments.map(({ state }) => state))).toEqual([
      ['declined'],
      ['offered'],
    ]);
    expect(world.events).toEqual(['timed_out declined', 'routed_on offered']);
    expect(await world.answer(await offered(), 'accept')).toBe('active');
    expect(await world.committed(ids[1] ?? '')).toBe(1);
    await pass(100);
    await world.look();
    expect(await world.decided(work)).toHaveLength(2);
    expect(await world.answer(await offered(), 'complete')).toBe('completed');
    expect(await world.committed(ids[1] ?? '')).toBe(0);
  });

  it('that is taken, or taken back, goes to nobody else', async () => {
    const { poolId } = await world.pool(3, OFFERING);
    for (const verb of ['accept', 'release'] as const) {
      const id = `${work} ${verb}`;
      await world.route(id, poolId);
      await world.answer(await offered(id), verb);
      await pass(60);
      await world.look();
      expect(await world.decided(id)).toHaveLength(1);
    }
    expect(world.events).toEqual([]);
  });

  it('that everybody declines has run out of offers, and the pool falls back', async () => {
    const spare = await world.pool(1, {});
    const { poolId } = await world.pool(2, {
      ...OFFERING,
      fallback: { kind: 'overflow', on: ['offers_exhausted'] },
      overflow_pool_id: spare.poolId,
    });
    await world.route(work, poolId);
    for (let times = 0; times < 2; times += 1) {
      await world.answer(await offered(), 'decline');
      await pass(1);
      await world.look();
    }
    const last = await lastOf();
    expect([last?.outcome, last?.assignments[0]?.recipientId]).toEqual(['assigned', spare.ids[0]]);
    expect((await world.decided(work)).map(({ outcome }) => outcome)).toEqual(['offered', 'offered', 'assigned']);
  });

  it('of a slate is replaced by itself', async () => {
    const { poolId, ids } = await world.pool(4, { ...OFFERING, slate_size: 2 });
    await world.route(work, poolId);
    const [, second] = (await lastOf())?.assignments ?? [];
    await world.answer(second?.id ?? '', 'decline');
    await pass(1);
    await world.look();
    const decided = await world.decided(work);
    const recipients = decided.map(({ assignments }) => assignments.map(({ recipientId }) => recipientId).toSorted());
    expect(recipients).toEqual([ids.slice(0, 2).toSorted(), ids.slice(2, 3)]);
  });
});

describe('very many offers', () => {
  it('are each routed on once, by whichever node, whatever is answered in that moment', async () => {
    const { poolId } = await world.pool(5, { ...OFFERING, offer_timeout: '10s', max_offers: 50 });
    const names = Array.from({ length: 60 }, (_, index) => `${work} ${index}`);
    await Promise.all(names.map((name) => world.route(name, poolId)));
    for (let round = 0; round < 6; round += 1) {
      await pass(round % 2 === 0 ? 10 : 5);
      const open = await Promise.all(names.map((name) => offered(name)));
      const answers = open.map((id, index) => {
        if (id === '') return undefined;
        if ((index + round) % 4 === 0) return world.answer(id, 'decline');
        return (index + round) % 7 === 0 ? world.answer(id, 'accept') : undefined;
      });
      await Promise.all([...answers, world.look(), world.look()]);
    }
    await pass(40);
    await world.look();
    expect(world.errors).toEqual([]);
    const active = new Map<string, number>();
    for (const name of names) {
      const decided = await world.decided(name);
      const all = decided.flatMap(({ assignments }) => assignments);
      // One after the other, nobody twice, and nothing after it was taken.
      expect(new Set(all.map(({ recipientId }) => recipientId)).size).toBe(all.length);
      expect(all.slice(0, -1).every(({ state }) => state === 'declined')).toBe(true);
      expect(decided.slice(0, -1).every(({ outcome }) => outcome === 'offered')).toBe(true);
      for (const { recipientId, state } of all) {
        if (state === 'active') active.set(recipientId, (active.get(recipientId) ?? 0) + 1);
      }
    }
    for (const [recipientId, count] of active) expect(await world.committed(recipientId)).toBe(count);
    expect((await replayStored(database.db)).differing).toEqual([]);
  });
});
