/** ROUTE steps with `seat_for: family` on a real Postgres, on two whole nodes, of which one is started anew. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryBus } from '../../engine/src/bus/index.js';
import { systemClock } from '../../engine/src/kernel/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { startTestNode, type TestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { marketNode, select, signal, type MarketNode, type MarketPool, type Run } from '../support/market-node.js';
import { until } from '../support/wait.js';

const FAMILIES = 6;
const SEATS = 8;

const database = testDatabase();
let market: MarketNode;
let other: TestNode;

beforeAll(async () => {
  const bus = memoryBus(systemClock());
  market = await marketNode(database.db, { bus });
  other = await startTestNode(database.db, { bus });
  await until('both nodes to have shards', async () => {
    const text = 'select count(distinct node_id)::int as n from ductor.shard_owner';
    const { rows } = await database.db.query<{ n: number }>(text);
    return rows[0]?.n === 2 ? true : undefined;
  });
});
afterAll(async () => {
  await market.stop();
  await other.stop();
});

const seats = (count = SEATS): Promise<MarketPool> => market.poolOf(Array<object>(count).fill({}), {}, 'seat_affinity');

const turn = (pool: MarketPool, args: object = { seat_for: 'family' }, ref = 'turn'): object => {
  return { ref, type: 'STEP_TYPE_ROUTE', args: { pool: pool.name, ...args } };
};

/** A step that starts a workflow. */
const child = (workflow: string, args: object = {}): object => {
  return { ref: 'child', type: 'STEP_TYPE_SUB_WORKFLOW', args: { workflow, ...args }, input: {} };
};

async function boundBy(owner: string): Promise<readonly string[]> {
  const text = 'select recipient_id from ductor.routing_binding where owner = $1 order by pool_id';
  const { rows } = await database.db.query<{ recipient_id: string }>(text, [owner]);
  return rows.map(({ recipient_id: id }) => id);
}

const seatOf = 'steps.turn.output.recipients[0].id';

describe('a ROUTE step for the family', () => {
  it('gives the seat of the family to all its runs, on whichever node, until the last has ended', async () => {
    const pool = await seats();
    const below = await market.publish(
      [turn(pool), { ...select(pool.name), ref: 'held' }, signal()],
      [
        ['turn', 'held'],
        ['held', 'done'],
      ],
      { output: { turn: seatOf, held: 'steps.held.output.recipients[0].id' } },
    );
    const above = await market.publish(
      [turn(pool), child(below), turn(pool, undefined, 'again')],
      [
        ['turn', 'child'],
        ['child', 'again'],
      ],
      { output: { first: seatOf, child: 'steps.child.output', last: 'steps.again.output.recipients[0].id' } },
    );
    const runs = await Promise.all(Array.from({ length: FAMILIES }, () => market.start(above)));
    const children = await until('all children to wait', async () => {
      const found = await market.call<readonly Run[]>('GET', `/api/runs?family_slug=${below}`);
      const waiting = found.filter(({ state }) => state === 'RUN_STATE_WAITING');
      return waiting.length === FAMILIES ? waiting : undefined;
    });
    for (const { id } of runs) expect(await boundBy(id)).toHaveLength(1);
    const nodes = await database.db.query(
      `select distinct o.node_id from ductor.runs r join ductor.shard_owner o using (shard) where r.tenant_id = $1`,
      [market.tenantId],
    );
    expect(nodes.rowCount).toBe(2);
    await market.restart();
    for (const { id } of children) await market.say(id);
    const taken: unknown[] = [];
    for (const { id } of runs) {
      const { state, output } = await market.ended(id);
      // The commit that has ended the run has ended its seat: nobody has looked around since.
      expect([state, await boundBy(id)]).toEqual(['RUN_STATE_COMPLETED', []]);
      const { first, last, child: under } = output as { first: string; last: string; child: object };
      expect([last, under]).toEqual([first, { turn: first, held: first }]);
      taken.push(first);
    }
    // In turn: each family had another one.
    expect(new Set(taken).size).toBe(FAMILIES);
  });

  it('keeps it for a child that outlives its parent, and for the run that continues another one', async () => {
    const pool = await seats();
    const below = await market.publish([turn(pool), signal()], [['turn', 'done']]);
    const again = { ref: 'again', type: 'STEP_TYPE_CONTINUE_AS_NEW', input: { turn: '2' } };
    const above = await market.publish(
      [turn(pool), child(below, { detach: true }), again, signal('stop')],
      [
        ['turn', 'child', 'input.turn == 1'],
        ['child', 'again'],
        ['turn', 'stop', 'input.turn == 2'],
      ],
    );
    const root = await market.start(above, { turn: 1 });
    const [seat] = await boundBy(root.id);
    const next = await until('the next run to wait', async () => {
      const found = await market.call<readonly Run[]>('GET', `/api/runs?family_slug=${above}`);
      return found.find(({ state }) => state === 'RUN_STATE_WAITING');
    });
    const [left] = await until('the child to wait', async () => {
      const found = await market.call<readonly Run[]>('GET', `/api/runs?family_slug=${below}`);
      return found[0]?.state === 'RUN_STATE_WAITING' ? found : undefined;
    });
    const used = await pool.counters();
    expect(used.map(({ current }) => current).toSorted((a, b) => a - b)).toEqual([
      ...Array<number>(SEATS - 1).fill(0),
      3,
    ]);
    await market.say(next.id, 'stop');
    await market.ended(next.id);
    expect(await boundBy(root.id)).toEqual([seat]);
    await market.say(left?.id ?? '');
    await market.ended(left?.id ?? '');
    expect(await boundBy(root.id)).toEqual([]);
  });

  it('leaves nothing behind where its run begins, routes and ends in one row, or is ended by somebody', async () => {
    const pool = await seats();
    const at = await market.start(await market.publish([turn(pool)]));
    expect([at.state, await boundBy(at.id)]).toEqual(['RUN_STATE_COMPLETED', []]);
    for (const verb of ['cancel', 'terminate']) {
      const run = await market.start(await market.publish([turn(pool), signal()], [['turn', 'done']]));
      expect(await boundBy(run.id)).toHaveLength(1);
      await market.call('POST', `/api/runs/${run.id}:${verb}`, { reason: 'test' });
      await market.ended(run.id);
      expect(await boundBy(run.id)).toEqual([]);
    }
  });

  it('goes elsewhere when its seat is rate limited, and stays there', async () => {
    const pool = await seats(2);
    const steps = [turn(pool), signal(), turn(pool, undefined, 'next'), turn(pool, undefined, 'last')];
    const edges = [
      ['turn', 'done'],
      ['done', 'next'],
      ['next', 'last'],
    ] as const;
    const outputs = ['turn', 'next', 'last'].map((ref) => `steps.${ref}.output.recipients[0].id`);
    const run = await market.start(await market.publish(steps, edges, { output: { seats: outputs } }));
    const [first = ''] = await boundBy(run.id);
    await market.call('POST', '/api/routing/outcomes', {
      ...{ pool_id: pool.id, recipient_id: first, success: false },
      reset_at: new Date(Date.now() + 600_000).toISOString(),
    });
    expect(await boundBy(run.id)).toEqual([]);
    await market.say(run.id);
    const { output } = await market.ended(run.id);
    const spare = pool.ids.find((id) => id !== first);
    expect(output).toEqual({ seats: [first, spare, spare] });
  });

  it('climbs with its family where the pool has tiers', async () => {
    const pool = await market.poolOf([{}, {}, {}], {}, 'escalate_on_retry');
    for (const [tier, id] of pool.ids.entries()) await market.call('PATCH', `/api/recipients/${id}`, { tier });
    const tried = { routable: { attributes: { retry_attempt: 'input.attempt' } } };
    const flow = await market.publish(
      [turn(pool, { seat_for: 'family', ...tried }), turn(pool, undefined, 'next')],
      [['turn', 'next']],
      { output: { seats: [seatOf, 'steps.next.output.recipients[0].id'] } },
    );
    const [, second] = pool.ids;
    expect((await market.start(flow, { attempt: 1 })).output).toEqual({ seats: [second, second] });
  });

  it('is without effect in a pool without seats; without it the seat is that of the work', async () => {
    const plain = await market.poolOf([{}]);
    const pool = await seats();
    const flow = await market.publish(
      [turn(plain, undefined, 'plain'), turn(pool, { routable: { id: 'input.work' } }), signal()],
      [
        ['plain', 'turn'],
        ['turn', 'done'],
      ],
    );
    const run = await market.start(flow, { work: 'work-7' });
    expect([run.state, await boundBy(run.id)]).toEqual(['RUN_STATE_WAITING', []]);
    expect(await boundBy('work-7')).toHaveLength(1);
    await market.say(run.id);
    await market.ended(run.id);
    expect(await boundBy('work-7')).toHaveLength(1);
  });
});
