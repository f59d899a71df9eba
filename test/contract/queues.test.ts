/** Work that waits in queues of pools gets somebody as soon as there is one, in order, once, whichever node looks. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom, unitInterval } from '../../engine/src/kernel/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { QueueWorld } from '../support/queue-world.js';
import { replayStored } from '../support/replay-stored.js';
import { SteppedTime } from '../support/stepped-time.js';
import { ensureTenant } from '../support/test-tenant.js';

const database = testDatabase();
let time: SteppedTime;
let world: QueueWorld;
let works = 0;

beforeAll(async () => {
  time = await SteppedTime.begin(database.db);
  world = new QueueWorld(database.db, await ensureTenant(database.db));
});
beforeEach(() => {
  works += 1;
  world.left.length = 0;
});

async function pass(seconds: number): Promise<void> {
  await time.pass(seconds);
  await world.look();
}

const named = (name: string): string => `${name}-${works}`;

describe('work that finds nobody', () => {
  it('waits, and is assigned by a decision of its own once somebody is free', async () => {
    const { poolId, ids } = await world.pool([1]);
    const [first, second] = [named('first'), named('second')];
    await world.route(poolId, { id: first });
    const queued = await world.route(poolId, { id: second });
    expect(queued).toMatchObject({ outcome: 'queued', outcomeClass: 'waiting', reason: 'no_eligible_recipient' });
    await pass(5);
    expect(await world.waiting(poolId)).toEqual([second]);
    expect(await world.outcomes(second)).toEqual(['queued']);
    await world.complete(first);
    await pass(5);
    expect(await world.waiting(poolId)).toEqual([]);
    const decided = await world.decided(second);
    expect(decided).toMatchObject([
      { outcome: 'queued', queued_by: null },
      { outcome: 'assigned', queued_by: queued.decisionId, recipient: ids[0] },
    ]);
    expect(await world.routing().waiting.get(world.tenantId, queued.decisionId)).toMatchObject({
      ...{ state: 'decided', decidedAs: decided[1]?.decision_id },
    });
    expect(world.left).toEqual([queued.decisionId]);
    expect(world.errors).toEqual([]);
    expect((await replayStored(database.db)).differing).toEqual([]);
  });

  it('answers the same decision for the same key, and waits once', async () => {
    const { poolId } = await world.pool([]);
    const routable = { id: named('work') };
    const once = await world.route(poolId, routable, { key: named('key') });
    const again = await world.route(poolId, routable, { key: named('key'), node: 1 });
    expect(again.decisionId).toBe(once.decisionId);
    expect(await world.waiting(poolId)).toEqual([routable.id]);
  });
});

describe('the order of a queue', () => {
  /** Queues works a minute apart, frees the one recipient again and again, and says in which order they had it. */
  async function served(config: object, priorities: readonly number[], weightAfter?: object): Promise<number[]> {
    const { poolId } = await world.pool([1], config);
    const busy = named('busy');
    await world.route(poolId, { id: busy });
    for (const [index, priority] of priorities.entries()) {
      await pass(60);
      await world.route(poolId, { id: named(`w${index}`), priority });
    }
    if (weightAfter !== undefined) {
      await world.routing().pools.update(world.caller, poolId, { config: { queue: weightAfter } }, 0);
    }
    const order: number[] = [];
    let last = busy;
    for (let served = 0; served < priorities.length; served += 1) {
      await world.complete(last);
      await pass(5);
      const [now = ''] = await world.active(poolId);
      order.push(Number(now.slice(1).split('-')[0]));
      last = now;
    }
    expect(await world.waiting(poolId)).toEqual([]);
    return order;
  }

  it('is first in first out, or last in first out, whatever the priority', async () => {
    expect(await served({ queue: { order: 'fifo' } }, [0, 9, 3, 0])).toEqual([0, 1, 2, 3]);
    expect(await served({ queue: { order: 'lifo' } }, [0, 9, 3, 0])).toEqual([3, 2, 1, 0]);
  });

  it('counts a minute of priority as much as a minute of waiting, or as many as the pool says', async () => {
    // Scores at the end: 0+3, 4+2, 1+1, 0+0 minutes; then with weight 10.
    expect(await served({}, [0, 4, 1, 0])).toEqual([1, 0, 2, 3]);
    expect(await served({ queue: { age_weight_per_min: 10 } }, [0, 4, 1, 0])).toEqual([0, 1, 2, 3]);
    expect(await served({ queue: { age_weight_per_min: 0 } }, [0, 4, 1, 4])).toEqual([1, 3, 2, 0]);
  });

  it('is that of a naive sort by scores, however weights are set and changed while work waits', async () => {
    const { poolId } = await world.pool([], { queue: { age_weight_per_min: 0 } });
    const dice = seededRandom(works);
    const random = (below: number): number => Math.floor(unitInterval(dice) * below);
    const all: { id: string; priority: number; queuedUs: number; receivedUs: number }[] = [];
    for (let number = 0; number < 40; number += 1) {
      await time.pass(random(90));
      const [receivedUs, priority] = [time.nowUs - random(3_600) * 1_000_000, random(120)];
      const id = named(`w${number}`);
      all.push({ id, priority, queuedUs: time.nowUs, receivedUs });
      await world.route(poolId, { id, priority, received_at: new Date(receivedUs / 1000).toISOString() });
    }
    const ordered = (weight: number, boost: number, isRouted: boolean): readonly string[] => {
      const score = ({ priority, queuedUs, receivedUs }: (typeof all)[number]): bigint => {
        const counted = BigInt(time.nowUs - (isRouted ? queuedUs : receivedUs)) * BigInt(boost);
        return BigInt(priority) * 60_000_000n + BigInt(time.nowUs - queuedUs) * BigInt(weight) + counted;
      };
      // Works are there in the order in which they were queued, which is the order among equals.
      return all.toSorted((a, b) => Number(score(b) - score(a))).map(({ id }) => id);
    };
    expect(await world.waiting(poolId)).toEqual(ordered(0, 0, false));
    const orders = new Set<string>();
    for (const [weight, boost, start] of [
      [0, 1, 'received'],
      [0, 1, 'routed'],
      [2, 1, 'received'],
      [0, 1000, 'received'],
      [1000, 0, 'received'],
    ] as const) {
      const config = {
        queue: { age_weight_per_min: weight },
        sla: { priority_boost_per_min: boost, start_event: start },
      };
      await world.routing().pools.update(world.caller, poolId, { config }, 0);
      await pass(5);
      const found = await world.waiting(poolId);
      expect(found).toEqual(ordered(weight, boost, start === 'routed'));
      orders.add(found.join());
    }
    expect(orders.size).toBe(5);
    expect(world.errors).toEqual([]);
  });

  it('lets late work that its SLA raises go before work that has waited longer here', async () => {
    const { poolId } = await world.pool([1], { sla: { first_response_within: '60s', priority_boost_per_min: 2 } });
    await world.route(poolId, { id: named('busy') });
    const minutesAgo = (minutes: number): string => new Date(time.nowUs / 1000 - minutes * 60_000).toISOString();
    await world.route(poolId, { id: named('fresh'), priority: 15 });
    await pass(60);
    await world.route(poolId, { id: named('old'), received_at: minutesAgo(10) });
    // 0 + 0·1 + 10·2 against 15 + 1·1 + 1·2 minutes.
    expect(await world.waiting(poolId)).toEqual([named('old'), named('fresh')]);
    await world.complete(named('busy'));
    // What comes in now has its own clock: 0 + 13·2 against 0 + 10·2.
    const routed = await world.route(poolId, { id: named('older'), received_at: minutesAgo(13) });
    expect(routed.outcome).toBe('assigned');
    expect(await world.waiting(poolId)).toEqual([named('old'), named('fresh')]);
  });

  it('changes with the pool', async () => {
    expect(await served({ queue: { order: 'fifo' } }, [0, 4, 1, 0], { order: 'lifo' })).toEqual([3, 2, 1, 0]);
  });

  it('holds for work that comes in when somebody becomes free', async () => {
    const { poolId } = await world.pool([1], { queue: { order: 'fifo' } });
    await world.route(poolId, { id: named('busy') });
    await world.route(poolId, { id: named('first') });
    await world.complete(named('busy'));
    // Nobody has looked at the queue since.
    expect(await world.route(poolId, { id: named('second') })).toMatchObject({ outcome: 'queued' });
    expect(await world.active(poolId)).toEqual([named('first')]);
    expect(await world.waiting(poolId)).toEqual([named('second')]);
  });

  it('lets pass what somebody can take, where the head is for nobody', async () => {
    const { poolId } = await world.pool([], {
      eligibility_rule: 'recipient.attributes.level >= routable.attributes.level',
    });
    const attributes = { level: 9 };
    for (let number = 0; number < 70; number += 1) await world.route(poolId, { id: named(`big${number}`), attributes });
    await world.route(poolId, { id: named('small'), attributes: { level: 1 } });
    await world.recipient(poolId, 1, { attributes: { level: { number_value: 3 } } });
    await pass(5);
    expect(await world.active(poolId)).toEqual([named('small')]);
    expect(await world.waiting(poolId)).toHaveLength(70);
  });
});

describe('the end of waiting', () => {
  it('is dead_lettered, or what the next fallback makes of it', async () => {
    const spare = await world.pool([5]);
    const alone = await world.pool([], { queue: { ttl: '60s' } });
    const next = await world.pool([], {
      fallback: [
        { kind: 'queue', ttl: '90s' },
        { kind: 'overflow', target: spare.poolId },
      ],
    });
    await world.route(alone.poolId, { id: named('alone') });
    await world.route(next.poolId, { id: named('next') });
    await pass(59);
    expect([await world.outcomes(named('alone')), await world.outcomes(named('next'))]).toEqual([
      ['queued'],
      ['queued'],
    ]);
    await pass(6);
    expect(await world.decided(named('alone'))).toMatchObject([
      {},
      { outcome: 'dead_lettered', reason: 'queue_expired' },
    ]);
    await pass(30);
    expect(await world.outcomes(named('next'))).toEqual(['queued', 'assigned']);
    expect(await world.active(spare.poolId)).toEqual([named('next')]);
    expect((await replayStored(database.db)).differing).toEqual([]);
  });

  it('comes at once where the queue is full', async () => {
    const { poolId } = await world.pool([], { queue: { max_depth: 2 } });
    const outcomes = await Promise.all(
      [0, 1, 2].map(async (number) => (await world.route(poolId, { id: named(`w${number}`) })).outcome),
    );
    expect(outcomes).toEqual(['queued', 'queued', 'max_depth_exceeded']);
    expect(await world.decided(named('w2'))).toMatchObject([{ reason: 'queue_full' }]);
    await pass(5);
    expect(await world.waiting(poolId)).toHaveLength(2);
  });

  it('is what whoever takes it out says', async () => {
    const { poolId } = await world.pool([]);
    const { decisionId } = await world.route(poolId, { id: named('work') });
    const { waiting } = world.routing();
    expect(await waiting.depth(world.tenantId, poolId)).toBe(1);
    expect(await waiting.remove(world.caller, decisionId, 'sent by mistake')).toMatchObject({ state: 'removed' });
    expect(await waiting.remove(world.caller, decisionId, 'again')).toMatchObject({ state: 'removed' });
    await world.recipient(poolId, 1);
    await pass(5);
    expect([await waiting.depth(world.tenantId, poolId), await world.outcomes(named('work'))]).toEqual([0, ['queued']]);
  });
});

describe('work that a rule holds', () => {
  it('waits until the rules say something else', async () => {
    const { poolId } = await world.pool([5]);
    const { rules } = world.routing();
    const expr = `routable.type == "${named('held')}"`;
    const rule = await rules.create(world.caller, { name: named('hold'), expr, action: 'hold' });
    const queued = await world.route(undefined, { id: named('work'), type: named('held') });
    expect(queued).toMatchObject({ outcome: 'queued', reason: 'held_by_rule' });
    await pass(5);
    expect(await world.outcomes(named('work'))).toEqual(['queued']);
    await rules.update(world.caller, rule.id, { action: 'route', pool_id: poolId }, 0);
    await pass(5);
    expect(await world.outcomes(named('work'))).toEqual(['queued', 'assigned']);
    expect(await world.active(poolId)).toEqual([named('work')]);
    expect((await replayStored(database.db)).differing).toEqual([]);
  });
});
