/**
 * 16 claimers over three nodes that share nothing but a database want 1,000 items, all of them the same ones, while
 * sessions are cut again and again. Whatever happens at the same time: no item is claimed twice, every budget is used
 * up exactly, nobody is ever above its limit, and nothing dies of a deadlock.
 */
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../engine/src/kernel/index.js';
import { checkRoutable } from '../../engine/src/routing/core/routable.js';
import type { Routing } from '../../engine/src/routing/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { ClaimWorld } from '../support/claim-world.js';

const CLAIMERS = 16;
const ITEMS = 1_000;
/** 16 times 50: the budgets end before the items do. */
const BUDGET = 50;
const LIMIT = 3;

const test = testDatabase();
const world = new ClaimWorld(test);
const { by, caller, tenantId } = world;
const nodeOf = (number: number): Routing => world.nodeOf(number);

/** A pool that everybody claims from; its recipients. */
async function pond(): Promise<{ readonly poolId: string; readonly ids: readonly string[] }> {
  const queue = await nodeOf(0).claims.queues.create(caller, { name: 'pond' });
  const budget = { max_claims: BUDGET, period: { rolling: '24h' } };
  const config = { routing_mode: 'claim', claim_queue_id: queue.id, claim: { claim_ttl: '1h', budget } };
  const { poolId } = await nodeOf(0).pools.create(caller, { name: 'pond', config });
  const ids: string[] = [];
  for (let number = 0; number < CLAIMERS; number += 1) {
    const capacity = { max_concurrent: LIMIT };
    const fields = { name: `r${number}`, state: 'RECIPIENT_STATE_AVAILABLE', capacity };
    ids.push((await nodeOf(0).recipients.create(caller, poolId, fields)).recipient.recipientId);
  }
  return { poolId, ids };
}

/** One claimer: goes through all items in an order of its own; what it has it completes when it is full. */
async function work(number: number, recipientId: string, items: readonly string[]): Promise<readonly string[]> {
  const dice = seededRandom(number + 1);
  const order = [...items].map((id) => [dice.uint32(), id] as const).toSorted(([a], [b]) => a - b);
  const [mine, has]: [string[], string[]] = [[], []];
  const act = (verb: 'claim' | 'complete', itemId: string): Promise<string> =>
    world.certain((turn) =>
      nodeOf(number + turn).claims.act({ by, method: 'test', itemId, recipientId, verb, reason: '' }),
    );
  for (const [, itemId] of order) {
    for (;;) {
      const code = await act('claim', itemId);
      if (code === 'ok') {
        mine.push(itemId);
        has.push(itemId);
      }
      if (code === 'claim_budget_exhausted') break;
      if (code !== 'recipient_capacity_exhausted') break;
      expect(await act('complete', has.shift() ?? '')).toBe('ok');
    }
    if (mine.length >= BUDGET) break;
  }
  // Nothing more, whatever is left.
  for (const [, itemId] of order.slice(0, 40)) expect(await act('claim', itemId)).not.toBe('ok');
  for (const itemId of has) expect(await act('complete', itemId)).toBe('ok');
  return mine;
}

describe('16 claimers of 1,000 items', () => {
  it('never have one twice, and exactly what their budgets and limits let them', { timeout: 240_000 }, async () => {
    const { poolId, ids } = await pond();
    const items = await Promise.all(
      Array.from({ length: ITEMS }, async (_, number) => {
        const ask = { routable: checkRoutable({ id: `lead-${number}` }), poolId, recipientId: undefined };
        const call = { tenantId, principalId: by.principalId, idempotencyKey: '' };
        const whole = { ...call, ask: { ...ask, excluded: [], previous: [] } };
        return (await nodeOf(number).router.route(whole)).stored.decisionId;
      }),
    );
    let isOver = false;
    const cutting = world.cut(() => isOver, { everyMs: 60, like: '%claim_item%' });
    const claimed = await Promise.all(ids.map((id, number) => work(number, id, items)));
    isOver = true;
    expect(await cutting).toBeGreaterThan(0);
    // A claim whose answer was lost counts once, too: claiming again says that one has it.
    expect(claimed.map(({ length }) => length)).toEqual(ids.map(() => BUDGET));
    expect(new Set(claimed.flat()).size).toBe(CLAIMERS * BUDGET);
    const { rows: states } = await test.db.query(
      'select state, count(*)::integer as items from ductor.claim_item group by 1 order by 1',
    );
    expect(states).toEqual([
      { state: 'completed', items: CLAIMERS * BUDGET },
      { state: 'open', items: ITEMS - CLAIMERS * BUDGET },
    ]);
    const { rows: assignments } = await test.db.query(
      `select count(*)::integer as made, count(distinct claim_item_id)::integer as items from ductor.assignment
        where state = 'completed'`,
    );
    expect(assignments).toEqual([{ made: CLAIMERS * BUDGET, items: CLAIMERS * BUDGET }]);
    const { rows: peaks } = await test.db.query<{ peak: number }>(
      `with moved as (
          select recipient_id, committed_at as at, units as by from ductor.assignment
          union all select recipient_id, ended_at, -units from ductor.assignment where ended_at is not null),
        used as (select sum(by) over (partition by recipient_id order by at, by) as used from moved)
        select max(used)::integer as peak from used`,
    );
    expect(peaks).toEqual([{ peak: LIMIT }]);
    const { rows: left } = await test.db.query('select 1 from ductor.capacity_authority where committed <> 0');
    expect(left).toEqual([]);
    const { rows: dead } = await test.db.query(
      'select deadlocks::integer as deadlocks from pg_stat_database where datname = current_database()',
    );
    expect(dead).toEqual([{ deadlocks: 0 }]);
  });
});
