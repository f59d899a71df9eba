/**
 * 16 claimers, most of them in four teams, over three nodes that share nothing but a database, want 400 items while
 * sessions are cut again and again. The claimers of a team share its budgets, in two queues at once, and two of
 * them change their team on the way. Whatever happens at the same time: each team has exactly what its budget lets it,
 * no more than `max_open` of it at any moment, and nothing dies of a deadlock. A node that comes later counts on.
 */
import { describe, expect, it } from 'vitest';
import { seededRandom, sleep } from '../../engine/src/kernel/index.js';
import { checkRoutable } from '../../engine/src/routing/core/routable.js';
import type { Routing } from '../../engine/src/routing/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { ClaimWorld } from '../support/claim-world.js';

const CLAIMERS = 16;
const QUEUES = 2;
/** Of each queue. */
const ITEMS = 200;
const TEAMS = ['north', 'east', 'south', 'west'] as const;
/** Of each team and queue; five times this is less than the items. */
const BUDGET = 30;
const OPEN = 3;

const test = testDatabase();
const world = new ClaimWorld(test);
const { by, caller, tenantId } = world;
const nodeOf = (number: number): Routing => world.nodeOf(number);

const named = (team: string): object => ({ attributes: { team: { string_value: team } } });

/** Claimer 0 is in no team; the others are in one of four by turns. */
const teamOf = (number: number): string => (number === 0 ? '' : (TEAMS[number % TEAMS.length] ?? ''));

interface Stage {
  readonly ids: readonly string[];
  /** Of all queues. */
  readonly items: readonly string[];
}

/** Two queues with a pool each that have the same members, and work that waits in them. */
async function stage(): Promise<Stage> {
  const ids: string[] = [];
  const poolIds: string[] = [];
  for (let place = 0; place < QUEUES; place += 1) {
    const queue = await nodeOf(0).claims.queues.create(caller, { name: `pond-${place}` });
    const budget = { max_claims: BUDGET, period: { rolling: '24h' }, max_open: OPEN, scope: 'team' };
    const config = { routing_mode: 'claim', claim_queue_id: queue.id, claim: { claim_ttl: '1h', budget } };
    poolIds.push((await nodeOf(0).pools.create(caller, { name: `pond-${place}`, config })).poolId);
  }
  const memberships = poolIds.map((pool_id) => ({ pool_id }));
  for (let number = 0; number < CLAIMERS; number += 1) {
    const fields = { name: `r${number}`, state: 'RECIPIENT_STATE_AVAILABLE', memberships, ...named(teamOf(number)) };
    ids.push((await nodeOf(0).recipients.create(caller, poolIds[0] ?? '', fields)).recipient.recipientId);
  }
  const items = await Promise.all(
    Array.from({ length: QUEUES * ITEMS }, async (_, number) => {
      const poolId = poolIds[number % QUEUES];
      const ask = { routable: checkRoutable({ id: `lead-${number}` }), poolId, recipientId: undefined };
      const call = { tenantId, principalId: by.principalId, idempotencyKey: '' };
      const whole = { ...call, ask: { ...ask, excluded: [], previous: [] } };
      return (await nodeOf(number).router.route(whole)).stored.decisionId;
    }),
  );
  return { ids, items };
}

/** What a call came to; 'open' for max_open. */
const certain = (call: (turn: number) => Promise<unknown>): Promise<string> =>
  world.certain(call, ({ code, message }) => (message.includes('max_open') ? 'open' : code));

/** One claimer: goes through all items in an order of its own. What it has it completes now and then. */
async function work(number: number, recipientId: string, { items }: Stage): Promise<number> {
  const dice = seededRandom(number + 1);
  const order = [...items].map((id) => [dice.uint32(), id] as const).toSorted(([a], [b]) => a - b);
  const has: string[] = [];
  let claimed = 0;
  const act = (verb: 'claim' | 'complete', itemId: string): Promise<string> =>
    certain((turn) => nodeOf(number + turn).claims.act({ by, method: 'test', itemId, recipientId, verb, reason: '' }));
  const endOne = async (): Promise<void> => {
    const itemId = has.shift();
    if (itemId !== undefined) expect(await act('complete', itemId)).toBe('ok');
  };
  for (const [place, [, itemId]] of order.entries()) {
    // It goes to another team, or back, with whatever it has.
    if (number <= 2 && number > 0 && place % 60 === 30) {
      const team = place % 120 === 30 ? (TEAMS[0] ?? '') : teamOf(number);
      await certain((turn) => nodeOf(number + turn).recipients.update(caller, recipientId, named(team), 0));
    }
    for (let tries = 0; tries < 40; tries += 1) {
      const code = await act('claim', itemId);
      if (code === 'ok') {
        claimed += 1;
        has.push(itemId);
      }
      if (code !== 'open') break;
      // Its own claims may be what is in the way, or those of others of its team, who will end theirs.
      if (has.length > 0) await endOne();
      else await sleep(world.clock, 5);
    }
    if (has.length > 0 && dice.uint32() % 2 === 0) await endOne();
  }
  while (has.length > 0) await endOne();
  return claimed;
}

const COUNTED = `select coalesce(i.claimed_for, a.recipient_id::text) as holder, i.queue_id, a.committed_at, a.ended_at
  from ductor.assignment a join ductor.claim_item i on i.tenant_id = a.tenant_id and i.item_id = a.claim_item_id`;

describe('claimers of four teams, some of whom move', () => {
  it('have together exactly what budgets let their teams, and no more at a time', { timeout: 240_000 }, async () => {
    const all = await stage();
    let isOver = false;
    const cutting = world.cut(() => isOver, { everyMs: 80, like: '%claim_%' });
    await Promise.all(all.ids.map((id, number) => work(number, id, all)));
    isOver = true;
    expect(await cutting).toBeGreaterThan(0);
    const { rows: counts } = await test.db.query<{ holder: string; claims: number }>(
      `select holder, count(*)::integer as claims from (${COUNTED}) c group by holder, queue_id order by holder`,
    );
    expect(counts.map(({ claims }) => claims)).toEqual(counts.map(() => BUDGET));
    expect(counts).toHaveLength(QUEUES * (TEAMS.length + 1));
    expect([...new Set(counts.map(({ holder }) => holder))]).toEqual(expect.arrayContaining([...TEAMS, all.ids[0]]));
    const { rows: peaks } = await test.db.query<{ peak: number }>(
      `with counted as (${COUNTED}), moved as (
          select holder, queue_id, committed_at as at, 1 as by from counted
          union all select holder, queue_id, ended_at, -1 from counted where ended_at is not null),
        open as (select sum(by) over (partition by holder, queue_id order by at, by) as open from moved)
        select max(open)::integer as peak from open`,
    );
    expect(peaks).toEqual([{ peak: OPEN }]);
    // What a node remembers counts for nothing: a new one refuses just so.
    const late = world.node();
    const { rows: open } = await test.db.query<{ id: string }>(
      "select item_id as id from ductor.claim_item where state = 'open' order by item_id limit 1",
    );
    const [itemId = '', recipientId = ''] = [open[0]?.id, all.ids.at(-1)];
    const again = { by, method: 'test', itemId, recipientId, verb: 'claim', reason: '' } as const;
    const code = await certain(() => late.claims.act(again));
    expect(code).toBe('claim_budget_exhausted');
    const { rows: dead } = await test.db.query(
      'select deadlocks::integer as deadlocks from pg_stat_database where datname = current_database()',
    );
    expect(dead).toEqual([{ deadlocks: 0 }]);
  });
});
