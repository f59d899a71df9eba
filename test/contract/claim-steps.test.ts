/** CLAIM steps on a real Postgres: work in queues, and runs that wait for what becomes of it, over a whole node. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { codeOf, marketNode, type MarketNode, type MarketPool, type Run, signal } from '../support/market-node.js';
import { until } from '../support/wait.js';

const database = testDatabase();
let market: MarketNode;

beforeAll(async () => {
  market = await marketNode(database.db);
});
afterAll(() => market.stop());

interface Item {
  readonly id: string;
  readonly state: string;
  readonly assignment_id: string;
}

interface Pond extends MarketPool {
  readonly queueId: string;
  items(): Promise<readonly Item[]>;
}

let queues = 0;

/** A claim pool with a queue of its own, and one recipient. */
async function pondOf(
  claim: object = {},
  capacities: readonly object[] = [{ max_concurrent: 1 }],
  config: object = {},
): Promise<Pond> {
  queues += 1;
  const fields = { name: `queue-${queues}` };
  const { id: queueId } = await market.call<{ id: string }>('POST', '/api/claim-queues', fields);
  const pool = await market.poolOf(capacities, { routing_mode: 'claim', claim_queue_id: queueId, claim, ...config });
  const items = () => market.call<readonly Item[]>('GET', `/api/claim-queues/${queueId}/items`);
  return { ...pool, queueId, items };
}

const step = (pool: string, args: object = {}): object => ({
  ref: 'sale',
  type: 'STEP_TYPE_CLAIM',
  args: { pool, ...args },
});

/** Starts a run whose step waits; its item. */
async function waiting(pond: Pond, args: object = {}, more: object = {}): Promise<{ run: Run; itemId: string }> {
  const slug = await market.publish([step(pond.name, args)], [], { output: 'steps.sale.output', ...more });
  const run = await market.start(slug);
  const [item] = await pond.items();
  expect([run.state, item?.state]).toEqual(['RUN_STATE_WAITING', 'CLAIM_STATE_OPEN']);
  return { run, itemId: item?.id ?? '' };
}

const act = (itemId: string, verb: string, pond: Pond): Promise<Item> =>
  market.call<Item>('POST', `/api/claims/${itemId}:${verb}`, { recipient_id: pond.ids[0] });

const stateOf = async (pond: Pond): Promise<readonly string[]> => (await pond.items()).map(({ state }) => state);

describe('a step that waits for a claim', () => {
  it('puts its work in a queue, says so, and completes with whoever claims it', async () => {
    const pond = await pondOf();
    const { run, itemId } = await waiting(pond, { routable: { id: '"lead-1"' } });
    const why = await market.call('GET', `/api/runs/${run.id}:explain`);
    expect(why).toMatchObject({ reason: 'RUN_REASON_CLAIM', step: 'sale', since: expect.any(String) });
    expect(JSON.stringify(why)).toContain(`item ${itemId} of claim queue ${pond.queueId} to be claimed`);
    const { assignment_id: assignmentId } = await act(itemId, 'claim', pond);
    const recipient = { id: pond.ids[0], name: `${pond.name}-r0`, external_id: '', type: 'agent', units: 1 };
    const output = { item_id: itemId, decision_id: itemId, recipient, assignment_id: assignmentId };
    expect(await market.ended(run.id)).toMatchObject({ state: 'RUN_STATE_COMPLETED', output });
  });

  it('waits until the work is done, where it says so', async () => {
    const pond = await pondOf();
    const { run, itemId } = await waiting(pond, { until: 'completed' });
    await act(itemId, 'claim', pond);
    await act(itemId, 'release', pond);
    const { assignment_id: assignmentId } = await act(itemId, 'claim', pond);
    expect((await market.get(run.id)).state).toBe('RUN_STATE_WAITING');
    await act(itemId, 'complete', pond);
    const output = { item_id: itemId, assignment_id: assignmentId, recipient: { id: pond.ids[0] } };
    expect(await market.ended(run.id)).toMatchObject({ state: 'RUN_STATE_COMPLETED', output });
  });

  it('leaves work that is given back after the step to whoever claims it then, or to the fallback', async () => {
    const other = await market.poolOf([{ max_concurrent: 1 }]);
    const fallback = [{ kind: 'overflow', target: other.id, on: ['claim_expired'] }];
    const pond = await pondOf({ claim_ttl: '3s' }, [{ max_concurrent: 1 }], { fallback });
    const { run, itemId } = await waiting(pond);
    await act(itemId, 'claim', pond);
    expect((await market.ended(run.id)).state).toBe('RUN_STATE_COMPLETED');
    await act(itemId, 'release', pond);
    await until('the work to go on', async () => (await other.counters())[0]?.current === 1);
    expect(await stateOf(pond)).toEqual(['CLAIM_STATE_EXPIRED']);
  });

  it('fails when nobody claims it in time, and nothing is decided again', async () => {
    const pond = await pondOf({ claim_ttl: '1s' });
    const { run } = await waiting(pond);
    expect(codeOf(await market.ended(run.id))).toBe('claim_expired');
    expect(await stateOf(pond)).toEqual(['CLAIM_STATE_EXPIRED']);
  });

  it('fails when the work is taken away from whoever claimed it', async () => {
    const pond = await pondOf();
    const { run, itemId } = await waiting(pond, { until: 'completed' });
    const { assignment_id: assignmentId } = await act(itemId, 'claim', pond);
    await market.call('POST', `/api/assignments/${assignmentId}:release`, {});
    expect(codeOf(await market.ended(run.id))).toBe('claim_withdrawn');
  });

  it('takes its work out when its time is over', async () => {
    const pond = await pondOf();
    const { run, itemId } = await waiting(pond, { timeout: '1s' });
    expect(codeOf(await market.ended(run.id))).toBe('timeout');
    expect(await stateOf(pond)).toEqual(['CLAIM_STATE_WITHDRAWN']);
    await expect(act(itemId, 'claim', pond)).rejects.toThrow('claim_state_conflict');
  });

  it.each(['cancel', 'terminate'])('takes its work out when its run is to %s', async (verb) => {
    const pond = await pondOf();
    const { run, itemId } = await waiting(pond);
    await market.call('POST', `/api/runs/${run.id}:${verb}`, { reason: 'test' });
    await market.ended(run.id);
    expect(await stateOf(pond)).toEqual(['CLAIM_STATE_WITHDRAWN']);
    await expect(act(itemId, 'claim', pond)).rejects.toThrow('claim_state_conflict');
  });

  it('leaves what is claimed with whoever claimed it', async () => {
    const pond = await pondOf();
    const { run, itemId } = await waiting(pond, { until: 'completed' });
    await act(itemId, 'claim', pond);
    await market.call('POST', `/api/runs/${run.id}:cancel`, {});
    expect((await market.ended(run.id)).state).toBe('RUN_STATE_CANCELLED');
    expect(await stateOf(pond)).toEqual(['CLAIM_STATE_CLAIMED']);
  });

  it('takes it away with the end of the run, where it says so', async () => {
    const pond = await pondOf();
    const flow = [step(pond.name, { ends_with_run: true }), signal()];
    const run = await market.start(await market.publish(flow, [['sale', 'done']]));
    const [item] = await pond.items();
    const { assignment_id: id } = await act(item?.id ?? '', 'claim', pond);
    await until('the claim to be told', async () => {
      return (await market.get(run.id)).steps.some(({ path }) => path === 'done') ? true : undefined;
    });
    expect((await pond.counters()).map(({ current }) => current)).toEqual([1]);
    await market.say(run.id);
    await until('it to be taken away', async () => {
      const { state } = await market.call<{ state: string }>('GET', `/api/assignments/${id}`);
      return state === 'ASSIGNMENT_STATE_RELEASED' ? true : undefined;
    });
    expect([await stateOf(pond), (await pond.counters()).map(({ current }) => current)]).toEqual([
      ['CLAIM_STATE_WITHDRAWN'],
      [0],
    ]);
  });

  it('learns of a claim while the run is paused, and over another node', async () => {
    const pond = await pondOf();
    const { run, itemId } = await waiting(pond);
    await market.call('POST', `/api/runs/${run.id}:pause`, {});
    await market.restart();
    await act(itemId, 'claim', pond);
    await market.call('POST', `/api/runs/${run.id}:resume`, {});
    expect((await market.ended(run.id)).state).toBe('RUN_STATE_COMPLETED');
    expect(await stateOf(pond)).toEqual(['CLAIM_STATE_CLAIMED']);
  });

  it('fails with the outcome as its code where nothing waits', async () => {
    const pushed = await market.poolOf([{ max_concurrent: 1 }]);
    const slug = await market.publish([step(pushed.name)]);
    expect(codeOf(await market.ended((await market.start(slug)).id))).toBe('not_queued');
    expect((await pushed.counters()).map(({ current }) => current)).toEqual([0]);
    const nobody = await pondOf({}, []);
    const empty = await market.start(await market.publish([step(nobody.name)]));
    expect([codeOf(await market.ended(empty.id)), await nobody.items()]).toEqual(['no_eligible_recipient', []]);
  });

  it('ends once, whether a claim or the end of the run comes first', async () => {
    for (let round = 0; round < 20; round += 1) {
      const pond = await pondOf();
      const { run, itemId } = await waiting(pond);
      const claimed = act(itemId, 'claim', pond).then(
        () => true,
        () => false,
      );
      const [isClaimed] = await Promise.all([claimed, market.call('POST', `/api/runs/${run.id}:cancel`, {})]);
      await until('the run to end', async () => ((await market.get(run.id)).state.endsWith('ED') ? true : undefined));
      expect(await stateOf(pond)).toEqual([isClaimed ? 'CLAIM_STATE_CLAIMED' : 'CLAIM_STATE_WITHDRAWN']);
    }
  });
});
