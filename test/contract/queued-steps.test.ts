/** ROUTE steps whose pool queues their work, on a real Postgres: runs that wait for what it comes to, on nodes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { codeOf, marketNode, type MarketNode, type MarketPool, type Run, signal } from '../support/market-node.js';
import { replayStored } from '../support/replay-stored.js';
import { until } from '../support/wait.js';

const database = testDatabase();
let market: MarketNode;

beforeAll(async () => {
  market = await marketNode(database.db);
});
afterAll(() => market.stop());

interface Assignment {
  readonly id: string;
  readonly state: string;
  readonly run_id: string;
}

interface Work {
  readonly decision_id: string;
  readonly routable_id: string;
}

const QUEUE = { fallback: { kind: 'queue' } };

const queueOf = (limits: readonly number[], config: object = {}): Promise<MarketPool> =>
  market.poolOf(
    limits.map((max_concurrent) => ({ max_concurrent })),
    { ...QUEUE, ...config },
  );

const route = (pool: string, args: object = {}): object => ({
  ref: 'desk',
  type: 'STEP_TYPE_ROUTE',
  args: { pool, ...args },
});

const waitingIn = ({ id }: MarketPool): Promise<readonly Work[]> =>
  market.call('GET', `/api/routing/waiting?pool_id=${id}`);

const used = async (pool: MarketPool): Promise<readonly number[]> =>
  (await pool.counters()).map((each) => each.current);

const assignmentsOf = (run: Pick<Run, 'id'>): Promise<readonly Assignment[]> =>
  market.call('GET', `/api/assignments?run_id=${run.id}`);

const complete = (id: string): Promise<unknown> => market.call('POST', `/api/assignments/${id}:complete`, {});

/** Gives the one recipient of a pool something to do; the assignment. */
async function busy({ id }: MarketPool): Promise<string> {
  const body = { pool_id: id, routable: { id: 'busy' } };
  const made = await market.call<{ assignment_ids: readonly string[] }>('POST', '/api/routing/route', body);
  return made.assignment_ids[0] ?? expect.unreachable('nothing was assigned');
}

/** Starts a run whose step waits for somebody of the pool; its work. */
async function waiting(pool: MarketPool, args: object = {}, more: object = {}): Promise<{ run: Run; workId: string }> {
  const slug = await market.publish([route(pool.name, args)], [], { output: 'steps.desk.output', ...more });
  const run = await market.start(slug);
  const work = (await waitingIn(pool)).find(({ routable_id: id }) => id === `${run.id}/desk`);
  expect([run.state, work?.routable_id]).toEqual(['RUN_STATE_WAITING', `${run.id}/desk`]);
  return { run, workId: work?.decision_id ?? '' };
}

/** Waits until a step waits. */
const waitsAt = (run: Run, path: string): Promise<true> =>
  until(`step ${path} to wait`, async () => {
    const steps = (await market.get(run.id)).steps;
    return steps.some((each) => each.path === path && each.state === 'STEP_STATE_WAITING') ? true : undefined;
  });

const stateOf = async (workId: string): Promise<string> =>
  (await market.call<{ state: string }>('GET', `/api/routing/waiting/${workId}`)).state;

describe('a step whose pool queues its work', () => {
  it('waits, says for what, and completes with who gets it, in the name of its run', async () => {
    const pool = await queueOf([1]);
    const first = await busy(pool);
    const { run, workId } = await waiting(pool);
    const why = await market.call('GET', `/api/runs/${run.id}:explain`);
    expect(why).toMatchObject({ reason: 'RUN_REASON_QUEUE', step: 'desk', since: expect.any(String) });
    expect(JSON.stringify(why)).toContain(`the work of decision ${workId} to leave the queue of pool ${pool.id}`);
    await complete(first);
    const ended = await market.ended(run.id);
    const [assignment] = await assignmentsOf(run);
    expect(ended).toMatchObject({
      state: 'RUN_STATE_COMPLETED',
      output: {
        ...{ outcome: 'assigned', outcome_class: 'success', pool_id: pool.id, assignment_ids: [assignment?.id] },
        recipients: [{ id: pool.ids[0], name: `${pool.name}-r0`, units: 1, assignment_id: assignment?.id }],
      },
    });
    expect([assignment?.state, await used(pool), await stateOf(workId)]).toEqual([
      'ASSIGNMENT_STATE_ACTIVE',
      [1],
      'WAITING_STATE_DECIDED',
    ]);
    expect((await replayStored(database.db)).differing).toEqual([]);
  });

  it('fails by the name of the outcome when nobody comes in time', async () => {
    const pool = await queueOf([], { queue: { ttl: '1s' } });
    const { run } = await waiting(pool);
    const ended = await market.ended(run.id);
    expect([codeOf(ended), ended.error?.message]).toEqual(['dead_lettered', expect.stringContaining('queue_expired')]);
  });

  it('goes by the next fallback of its pool, too, and from one queue into another', async () => {
    const last = await market.poolOf([{}], { requires_acceptance: true });
    const second = await queueOf([], {
      fallback: [
        { kind: 'queue', ttl: '3s' },
        { kind: 'overflow', target: last.id },
      ],
    });
    const pool = await queueOf([], {
      fallback: [
        { kind: 'queue', ttl: '1s' },
        { kind: 'overflow', target: second.id },
      ],
    });
    const { run, workId } = await waiting(pool);
    await until('the work to move on', async () => ((await waitingIn(second)).length === 1 ? true : undefined));
    expect([(await market.get(run.id)).state, await stateOf(workId)]).toEqual([
      'RUN_STATE_WAITING',
      'WAITING_STATE_DECIDED',
    ]);
    expect(await market.ended(run.id)).toMatchObject({ output: { outcome: 'offered', pool_id: last.id } });
  });

  it('can be taken out of its second queue as well', async () => {
    const second = await queueOf([]);
    const config = {
      fallback: [
        { kind: 'queue', ttl: '1s' },
        { kind: 'overflow', target: second.id },
      ],
    };
    const { run } = await waiting(await queueOf([], config));
    await until('the work to move on', async () => ((await waitingIn(second)).length === 1 ? true : undefined));
    await market.call('POST', `/api/runs/${run.id}:cancel`, {});
    expect([(await market.ended(run.id)).state, await waitingIn(second)]).toEqual(['RUN_STATE_CANCELLED', []]);
  });

  it('waits where a rule holds it, too', async () => {
    const rule = { name: 'hold', priority: 1, expr: "routable.type == 'held'", action: 'hold' };
    await market.call('POST', '/api/rules', rule);
    const slug = await market.publish([
      { ref: 'desk', type: 'STEP_TYPE_ROUTE', args: { routable: { type: '"held"' }, timeout: '2s' } },
    ]);
    const run = await market.start(slug);
    expect(run.state).toBe('RUN_STATE_WAITING');
    expect(codeOf(await market.ended(run.id))).toBe('timeout');
  });

  it('fails when somebody takes the work out', async () => {
    const { run, workId } = await waiting(await queueOf([]));
    await market.call('POST', `/api/routing/waiting/${workId}:remove`, { reason: 'called back' });
    const ended = await market.ended(run.id);
    expect([codeOf(ended), ended.error?.message]).toEqual(['work_removed', expect.stringContaining('called back')]);
  });

  it('takes its work out when its time is over, and an edge goes on by that', async () => {
    const pool = await queueOf([]);
    const steps = [route(pool.name, { timeout: '1s' }), signal('late')];
    const run = await market.start(await market.publish(steps, [['desk', 'late', undefined, 'TIMEOUT']]));
    const [work] = await waitingIn(pool);
    await waitsAt(run, 'late');
    expect([await waitingIn(pool), await stateOf(work?.decision_id ?? '')]).toEqual([[], 'WAITING_STATE_REMOVED']);
    await market.say(run.id, 'late');
    expect((await market.ended(run.id)).state).toBe('RUN_STATE_COMPLETED');
  });

  it.each(['cancel', 'terminate'])('takes its work out when its run is to %s', async (verb) => {
    const pool = await queueOf([]);
    const { run, workId } = await waiting(pool);
    await market.call('POST', `/api/runs/${run.id}:${verb}`, { reason: 'test' });
    await market.ended(run.id);
    expect([await waitingIn(pool), await stateOf(workId)]).toEqual([[], 'WAITING_STATE_REMOVED']);
  });

  it('is counted for the depth of its queue', async () => {
    const pool = await queueOf([], { queue: { max_depth: 1 } });
    await waiting(pool);
    const more = await market.start(await market.publish([route(pool.name)]));
    expect(codeOf(await market.ended(more.id))).toBe('max_depth_exceeded');
  });

  it('is the whole of a CLAIM step to have a claim queue: nothing waits in another one', async () => {
    const pool = await queueOf([]);
    const claim = { ref: 'sale', type: 'STEP_TYPE_CLAIM', args: { pool: pool.name } };
    const run = await market.start(await market.publish([claim]));
    expect([codeOf(await market.ended(run.id)), await waitingIn(pool)]).toEqual(['not_queued', []]);
  });
});

describe('a step that waits and whose assignments end with the run', () => {
  it('has them released once it is over, also those that came out of the queue', async () => {
    const pool = await queueOf([1]);
    const first = await busy(pool);
    const flow = [route(pool.name, { ends_with_run: true }), signal()];
    const run = await market.start(await market.publish(flow, [['desk', 'done']]));
    await complete(first);
    await waitsAt(run, 'done');
    expect(await used(pool)).toEqual([1]);
    await market.say(run.id);
    await market.ended(run.id);
    await until('it to be released', async () => ((await used(pool))[0] === 0 ? true : undefined));
    expect((await assignmentsOf(run))[0]?.state).toBe('ASSIGNMENT_STATE_RELEASED');
  });

  it('takes work out that came back into the queue after its step, once the run is over', async () => {
    const pool = await queueOf([1], { requires_acceptance: true, offer_timeout: '1h' });
    const flow = [route(pool.name, { ends_with_run: true }), signal()];
    const run = await market.start(await market.publish(flow, [['desk', 'done']]));
    const [offered] = await assignmentsOf(run);
    await market.call('POST', `/api/assignments/${offered?.id}:decline`, {});
    const work = await until('it to wait', async () => (await waitingIn(pool))[0]);
    await market.say(run.id);
    await market.ended(run.id);
    await until('it to be taken out', async () => ((await waitingIn(pool)).length === 0 ? true : undefined));
    expect(await stateOf(work?.decision_id ?? '')).toBe('WAITING_STATE_REMOVED');
  });
});

describe('a step that waits, over two nodes', () => {
  it('hears of what another node decided, paused or not, and after the one that had it is gone', async () => {
    const pool = await queueOf([1]);
    const first = await busy(pool);
    const { run } = await waiting(pool);
    const other = await market.again();
    try {
      await market.call('POST', `/api/runs/${run.id}:pause`, {});
      await complete(first);
      await until('it to be assigned', async () => ((await assignmentsOf(run)).length === 1 ? true : undefined));
      await market.restart();
      await market.call('POST', `/api/runs/${run.id}:resume`, {});
      expect((await market.ended(run.id)).state).toBe('RUN_STATE_COMPLETED');
    } finally {
      await other.stop();
    }
  });

  it('ends once, whether the assignment or the end of its run comes first', async () => {
    const other = await market.again();
    const [came, gone]: [string[], string[]] = [[], []];
    try {
      for (let round = 0; round < 12; round += 1) {
        const pool = await queueOf([1]);
        const first = await busy(pool);
        const { run, workId } = await waiting(pool, round % 2 === 0 ? { ends_with_run: true } : {});
        await Promise.all([complete(first), market.call('POST', `/api/runs/${run.id}:cancel`, {})]);
        const { state } = await market.ended(run.id);
        const isGone = (await stateOf(workId)) === 'WAITING_STATE_REMOVED';
        (isGone ? gone : came).push(state);
        expect(await waitingIn(pool)).toEqual([]);
        expect((await assignmentsOf(run)).length).toBe(isGone ? 0 : 1);
        const rest = isGone || round % 2 === 0 ? 0 : 1;
        await until('what is left', async () => ((await used(pool))[0] === rest ? true : undefined));
      }
    } finally {
      await other.stop();
    }
    expect(came.length + gone.length).toBe(12);
  });

  it('loses no assignment to the end of its time', async () => {
    const other = await market.again();
    const ends = new Map<string, number>();
    try {
      for (let round = 0; round < 8; round += 1) {
        const pool = await queueOf([1]);
        const first = await busy(pool);
        const { run, workId } = await waiting(pool, { timeout: '600ms' });
        await new Promise((resolve) => setTimeout(resolve, 440 + 20 * round));
        await complete(first);
        const ended = await market.ended(run.id);
        const end = codeOf(ended) ?? ended.state;
        ends.set(end, (ends.get(end) ?? 0) + 1);
        const isLate = end === 'timeout';
        expect(await stateOf(workId)).toBe(isLate ? 'WAITING_STATE_REMOVED' : 'WAITING_STATE_DECIDED');
        expect([await used(pool), (await assignmentsOf(run)).length]).toEqual(isLate ? [[0], 0] : [[1], 1]);
      }
    } finally {
      await other.stop();
    }
    expect([...ends.keys()].every((end) => end === 'timeout' || end === 'RUN_STATE_COMPLETED')).toBe(true);
  });
});
