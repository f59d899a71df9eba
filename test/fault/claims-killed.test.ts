/**
 * 16 claimers call three engine processes over the wire, work comes in by Route all the while, and engines are killed
 * by SIGKILL again and again. Whatever is killed: nobody ever has an item that somebody else has, no item is lost,
 * every claim counts once in the budget of whoever made it, and nobody is ever above its limit.
 */
import { DuctorClient, DuctorError, RecipientState } from '@ductor/sdk';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../engine/src/kernel/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { findCapacityDefects } from '../../engine/src/workflow/index.js';
import { developmentKey } from '../support/api-key.js';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { sleep, until } from '../support/wait.js';

const CLAIMERS = 16;
const ITEMS = 160;
const LIMIT = 2;
/** Each claimer gives one item back, so that there are at most 176 claims; 208 are allowed. */
const BUDGET = 13;
const KILLS = 6;
/** Items that are completed between two kills, at least. */
const BETWEEN = 18;
const LOST_MS = 120_000;

const test = testDatabase();
cleanUpProcesses();

const isDecided = ({ code }: DuctorError): boolean => /^claim_|^recipient_capacity_exhausted$/.test(code);

/** Calls one engine after the other until one of them answers; 'ok' or the code that was decided. */
class Wire {
  constructor(readonly clients: readonly DuctorClient[]) {}

  async call<T>(first: number, work: (client: DuctorClient) => Promise<T>): Promise<T | string> {
    const endMs = performance.now() + LOST_MS;
    for (let turn = first; ; turn += 1) {
      try {
        return await work(this.clients[turn % this.clients.length] ?? expect.unreachable('no client'));
      } catch (error) {
        if (!(error instanceof DuctorError)) throw error;
        if (isDecided(error)) return error.code;
        if (performance.now() > endMs) throw error;
        await sleep(50);
      }
    }
  }
}

/** Notes each state of an item and each use of an account, whatever is committed. */
async function watch(): Promise<void> {
  await test.db.query(`create table ductor.test_claim (n bigserial, item_id uuid, state text, recipient_id uuid)`);
  await test.db.query('create table ductor.test_peak (used integer)');
  await test.db.query(`create function ductor.test_claim() returns trigger language plpgsql security definer as $$
    begin insert into ductor.test_claim (item_id, state, recipient_id) values (new.item_id, new.state, new.claimed_by);
      return null; end $$`);
  await test.db.query(`create function ductor.test_use() returns trigger language plpgsql security definer as $$
    begin insert into ductor.test_peak values (new.held + new.committed); return null; end $$`);
  await test.db.query(`create trigger test_claim after insert or update of state on ductor.claim_item
    for each row execute function ductor.test_claim()`);
  await test.db.query(`create trigger test_use after update on ductor.capacity_authority
    for each row execute function ductor.test_use()`);
}

interface Pond {
  readonly queueId: string;
  readonly poolId: string;
  readonly ids: readonly string[];
}

async function pondOf({ claims, pools, recipients }: DuctorClient): Promise<Pond> {
  const { id: queueId } = await claims.queues.create({ name: 'pond' });
  const budget = { maxClaims: BUDGET, period: { rolling: '24h' } };
  const config = { routingMode: 'claim', claimQueueId: queueId, claim: { claimTtl: '1h', budget } };
  const { id: poolId } = await pools.create({ name: 'pond', config });
  const ids: string[] = [];
  for (let number = 0; number < CLAIMERS; number += 1) {
    const state = RecipientState.RECIPIENT_STATE_AVAILABLE;
    ids.push((await recipients.create(poolId, { name: `r${number}`, state, capacity: { maxConcurrent: LIMIT } })).id);
  }
  return { queueId, poolId, ids };
}

/** From the answer to a claim to the call that ends it, by the claimer's own clock. */
interface Held {
  readonly itemId: string;
  readonly recipientId: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** One claimer: takes what it gets, gives its first item back, and completes the others when it is full. */
async function claim(wire: Wire, pond: Pond, number: number, isOver: () => boolean): Promise<readonly Held[]> {
  const recipientId = pond.ids[number] ?? expect.unreachable('no recipient');
  const dice = seededRandom(number + 1);
  const held: Held[] = [];
  const has: { itemId: string; fromMs: number }[] = [];
  let given = 0;
  const end = async (): Promise<void> => {
    const last = has.shift();
    if (last === undefined) return;
    held.push({ ...last, recipientId, toMs: performance.now() });
    const isGiven = given === 0;
    given += 1;
    const verb = isGiven ? 'release' : 'complete';
    const code = await wire.call(dice.uint32() % 3, ({ claims }) => claims[verb](last.itemId, recipientId));
    // The answer was lost, and somebody else has the item by now.
    if (typeof code === 'string') expect([verb, code]).toEqual(['release', 'claim_state_conflict']);
  };
  while (!isOver()) {
    const options = { state: 'OPEN', recipientId, pageSize: 50 } as const;
    const found = await wire.call(dice.uint32() % 3, ({ claims }) => claims.list(pond.queueId, options));
    const open = typeof found === 'string' ? [] : found.items;
    const itemId = open[dice.uint32() % Math.max(1, open.length)]?.id;
    if (itemId === undefined) {
      await end();
      await sleep(100);
      continue;
    }
    const made = await wire.call(dice.uint32() % 3, ({ claims }) => claims.claim(itemId, recipientId));
    if (typeof made !== 'string') has.push({ itemId, fromMs: performance.now() });
    else if (made !== 'claim_rescinded' && made !== 'claim_state_conflict') {
      await end();
      if (made === 'claim_budget_exhausted' && has.length === 0) await sleep(200);
    }
  }
  return held;
}

const count = async (text: string): Promise<number> => {
  const { rows } = await test.db.query<{ count: number }>(`select count(*)::integer as count from ${text}`);
  return rows[0]?.count ?? 0;
};
const completed = (): Promise<number> => count("ductor.claim_item where state = 'completed'");

/** Kills one engine after the other while work goes on, and starts it again. */
async function killEngines(engines: readonly Engine[]): Promise<void> {
  for (let kills = 0; kills < KILLS; kills += 1) {
    const target = Math.min((kills + 1) * BETWEEN, ITEMS - 10);
    await until('work to go on', async () => (await completed()) >= target, { limitMs: LOST_MS, everyMs: 50 });
    const engine = engines[kills % engines.length] ?? expect.unreachable('no engine');
    await engine.kill();
    await engine.start();
  }
}

/** Items of which one claim followed another without a release between them. */
const DOUBLES = `(select state, lag(state) over (partition by item_id order by n) as was from ductor.test_claim) h
  where state = 'claimed' and was <> 'open'`;

describe('16 claimers of engines that are killed', () => {
  it('have each item once, all of them, within budgets and limits', { timeout: 290_000 }, async () => {
    await watch();
    const { apiKey } = await developmentKey(test.db);
    const engines = await Promise.all([0, 1, 2].map((n) => startEngine({ name: `e${n}`, databaseUrl: test.url })));
    const clients = engines.map(({ address: engine }) => new DuctorClient({ engine, apiKey }));
    const [first = expect.unreachable('no client')] = clients;
    const wire = new Wire(clients);
    const pond = await pondOf(first);
    let isOver = false;
    const claimers = pond.ids.map((_, number) => claim(wire, pond, number, () => isOver));
    const feeding = (async () => {
      for (let number = 0; number < ITEMS; number += 1) {
        const id = `lead-${number}`;
        const options = { poolId: pond.poolId, idempotencyKey: id };
        const made = await wire.call(number, ({ routing }) => routing.route({ id }, options));
        expect(made).toMatchObject({ outcome: 'queued_for_claim' });
      }
    })();
    await Promise.all([feeding, killEngines(engines)]);
    await until('all work to be done', async () => (await completed()) === ITEMS, { limitMs: LOST_MS, everyMs: 100 });
    isOver = true;
    const held = (await Promise.all(claimers)).flat();
    for (const client of clients) client.close();

    expect([await count('ductor.claim_item'), await count(DOUBLES)]).toEqual([ITEMS, 0]);
    const sorted = held.toSorted((a, b) =>
      a.itemId === b.itemId ? a.fromMs - b.fromMs : a.itemId < b.itemId ? -1 : 1,
    );
    const doubles = sorted.filter((each, index) => {
      const before = sorted[index - 1];
      return before?.itemId === each.itemId && before.recipientId !== each.recipientId && before.toMs > each.fromMs;
    });
    expect([doubles, held.length >= ITEMS]).toEqual([[], true]);
    // Each claim that was committed counts once, whoever lost its answer.
    const { rows: used } = await test.db.query<{ used: number; claimed: number }>(
      `select jsonb_array_length(u.periods -> 'rolling' -> (select jsonb_object_keys(u.periods -> 'rolling'))) as used,
          (select count(*)::integer from ductor.test_claim c
            where c.recipient_id = u.recipient_id and c.state = 'claimed') as claimed
        from ductor.claim_budget_usage u`,
    );
    expect(used.map(({ used: each }) => each)).toEqual(used.map(({ claimed }) => claimed));
    expect(used.every(({ used: each }) => each <= BUDGET)).toBe(true);
    expect(used.reduce((sum, { used: each }) => sum + each, 0)).toBe(held.length);
    const { rows: peaks } = await test.db.query<{ peak: number }>('select max(used) as peak from ductor.test_peak');
    expect(peaks).toEqual([{ peak: LIMIT }]);
    expect(await count('ductor.capacity_authority where committed <> 0 or held <> 0')).toBe(0);
    expect(await findCapacityDefects(test.db)).toEqual([]);
    const { rows: dead } = await test.db.query(
      'select deadlocks::integer as deadlocks from pg_stat_database where datname = current_database()',
    );
    expect(dead).toEqual([{ deadlocks: 0 }]);
  });
});
