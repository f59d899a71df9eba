/** ROUTE steps on a real Postgres: decisions, assignments, errors by outcome, over a whole node. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRecordReader, replay } from '../../engine/src/routing/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { codeOf, marketNode, type MarketNode, type Run, signal } from '../support/market-node.js';
import { until } from '../support/wait.js';

const database = testDatabase();
let market: MarketNode;

beforeAll(async () => {
  market = await marketNode(database.db);
});
afterAll(() => market.stop());

const route = (pool: string, args: object = {}): object => ({
  ref: 'desk',
  type: 'STEP_TYPE_ROUTE',
  args: { pool, ...args },
});

interface Routed {
  readonly id: string;
  readonly outcome: string;
  readonly assignment_ids: readonly string[];
  readonly duplicate_of: string;
  readonly claim_item_id: string;
  readonly recipients: readonly { readonly id: string; readonly name: string; readonly assignment_id: string }[];
}

/** Runs one step that routes; what it puts out, or its error. */
async function routed(pool: string, args: object = {}, input: object = {}): Promise<Run & { readonly output: Routed }> {
  const slug = await market.publish([route(pool, args)], [], { output: 'steps.desk.output' });
  const { id } = await market.start(slug, input);
  return (await market.ended(id)) as Run & { readonly output: Routed };
}

const used = async (pool: { counters(): Promise<readonly { readonly current: number }[]> }) =>
  (await pool.counters()).map(({ current }) => current);

interface Assignment {
  readonly id: string;
  readonly state: string;
  readonly run_id: string;
  readonly pool_id: string;
  readonly decision_id: string;
}

const assignmentsOf = (run: Run): Promise<readonly Assignment[]> =>
  market.call('GET', `/api/assignments?run_id=${run.id}`);

describe('a step that routes', () => {
  it.each(['STEP_TYPE_ROUTE', 'STEP_TYPE_SELECT'])('begins (%s) in the row that lets its run in', async (type) => {
    const pool = await market.poolOf([{}]);
    const concurrency = [{ key: '"of-one"', limit: 1 }];
    const slug = await market.publish([{ ref: 'desk', type, args: { pool: pool.name } }], [], { concurrency });
    const runs = [await market.start(slug, {}), await market.start(slug, {})];
    for (const { id } of runs) expect(await market.ended(id)).toMatchObject({ state: 'RUN_STATE_COMPLETED' });
  });

  it('assigns in its own commit, with the run as owner, and puts out the decision', async () => {
    const pool = await market.poolOf([{ max_concurrent: 1 }]);
    const run = await routed(pool.name, { routable: { type: '"ticket"', attributes: { n: 'input.n' } } }, { n: 3 });
    const [assignment] = await assignmentsOf(run);
    const [id = ''] = run.output.assignment_ids;
    expect(assignment).toMatchObject({ id, state: 'ASSIGNMENT_STATE_ACTIVE', run_id: run.id });
    expect(run.output).toMatchObject({
      ...{ outcome: 'assigned', pool_id: pool.id, routable_id: `${run.id}/desk`, outcome_class: 'success' },
      recipients: [{ id: pool.ids[0], name: `${pool.name}-r0`, units: 1, assignment_id: id }],
    });
    const decision = await market.call<Routed>('GET', `/api/routing/decisions/${run.output.id}`);
    expect(decision).toMatchObject({ outcome: 'assigned', assignment_ids: [id] });
    const path = `/api/routing/decisions/${run.output.id}:export`;
    const file = await market.call<{ record: string; documents: Record<string, unknown> }>('GET', path);
    const known = new Map(Object.entries(file.documents));
    expect(replay(file.record, known, createRecordReader()).isSame).toBe(true);
  });

  it('leaves its assignment when the run ends: that is completed, or released, by whoever does the work', async () => {
    const pool = await market.poolOf([{ max_concurrent: 1 }]);
    const run = await routed(pool.name);
    expect([run.state, await used(pool)]).toEqual(['RUN_STATE_COMPLETED', [1]]);
    await market.call('POST', `/api/assignments/${run.output.assignment_ids[0]}:complete`, {});
    expect(await used(pool)).toEqual([0]);
  });

  it('leaves it when the run is cancelled, too', async () => {
    const pool = await market.poolOf([{ max_concurrent: 1 }]);
    const run = await market.start(await market.publish([route(pool.name), signal()], [['desk', 'done']]));
    await market.call('POST', `/api/runs/${run.id}:cancel`, {});
    expect((await market.ended(run.id)).state).toBe('RUN_STATE_CANCELLED');
    expect(await used(pool)).toEqual([1]);
    const [assignment] = await assignmentsOf(run);
    await market.call('POST', `/api/assignments/${assignment?.id}:release`, {});
    expect(await used(pool)).toEqual([0]);
  });

  it('counts with what is held: reservations and assignments share one limit', async () => {
    const pool = await market.poolOf([{ max_concurrent: 2 }]);
    const select = { ref: 'buyers', type: 'STEP_TYPE_SELECT', args: { pool: pool.name } };
    const holder = await market.start(await market.publish([select, signal()], [['buyers', 'done']]));
    expect((await routed(pool.name)).state).toBe('RUN_STATE_COMPLETED');
    expect(codeOf(await routed(pool.name))).toBe('no_eligible_recipient');
    await market.say(holder.id);
    await market.holding(pool, [0]);
    expect((await routed(pool.name)).state).toBe('RUN_STATE_COMPLETED');
  });

  it('offers where the pool asks for acceptance', async () => {
    const pool = await market.poolOf([{ max_concurrent: 1 }], { requires_acceptance: true });
    const run = await routed(pool.name);
    expect([run.output.outcome, await used(pool)]).toEqual(['offered', [0]]);
    await market.call('POST', `/api/assignments/${run.output.assignment_ids[0]}:accept`, {});
    expect(await used(pool)).toEqual([1]);
  });

  it('passes over those that it is told to', async () => {
    const pool = await market.poolOf([{}, {}]);
    const run = await routed(pool.name, { exclude: `["${pool.ids[0]}"]` });
    expect(run.output.recipients.map(({ id }) => id)).toEqual([pool.ids[1]]);
    expect(codeOf(await routed(pool.name, { exclude: '[7]' }))).toBe('expression_failed');
  });

  it('knows work that comes twice by the window of its pool', async () => {
    const pool = await market.poolOf([{}], { dedupe: { window: '1h' } });
    const args = { routable: { id: '"lead-1"', dedupe_key: '"lead-1"' } };
    const [first, second] = [await routed(pool.name, args), await routed(pool.name, args)];
    expect(second.output).toMatchObject({ outcome: 'duplicate', duplicate_of: first.output.id, assignment_ids: [] });
    expect(await used(pool)).toEqual([1]);
  });

  it('puts work in the claim queue of its pool in its own commit, and does not wait for a claim', async () => {
    const { id: queueId } = await market.call<{ id: string }>('POST', '/api/claim-queues', { name: 'pond' });
    const pool = await market.poolOf([{ max_concurrent: 1 }], { routing_mode: 'claim', claim_queue_id: queueId });
    const run = await routed(pool.name, { routable: { id: '"lead-7"', type: '"lead"' } });
    const { id, claim_item_id: itemId } = run.output;
    expect(run.output).toMatchObject({ outcome: 'queued_for_claim', outcome_class: 'waiting', assignment_ids: [] });
    expect([itemId, await used(pool)]).toEqual([id, [0]]);
    expect(await market.call('GET', `/api/routing/decisions/${id}`)).toMatchObject({ claim_item_id: itemId });
    const items = await market.call('GET', `/api/claim-queues/${queueId}/items?state=CLAIM_STATE_OPEN`);
    expect(items).toMatchObject([{ id: itemId, pool_id: pool.id, routable_id: 'lead-7' }]);
    const claimed = await market.call('POST', `/api/claims/${itemId}:claim`, { recipient_id: pool.ids[0] });
    expect([claimed, await used(pool)]).toMatchObject([{ state: 'CLAIM_STATE_CLAIMED' }, [1]]);
  });

  it('puts work in a queue where a fallback says so, and fails where its pool has no queue any more', async () => {
    const { id: queueId } = await market.call<{ id: string }>('POST', '/api/claim-queues', { name: 'late' });
    const config = { fallback: { kind: 'claim' }, claim_queue_id: queueId };
    const pool = await market.poolOf([{ max_concurrent: 1 }], config);
    const runs = [await routed(pool.name), await routed(pool.name)];
    expect(runs.map(({ output }) => output.outcome)).toEqual(['assigned', 'queued_for_claim']);
    const empty = await market.call<{ id: string }>('POST', '/api/claim-queues', { name: 'gone' });
    const other = await market.poolOf([{}], { routing_mode: 'claim', claim_queue_id: empty.id });
    await market.call('DELETE', `/api/claim-queues/${empty.id}`);
    const failed = await routed(other.name);
    expect([codeOf(failed), failed.error?.message]).toEqual(['not_found', expect.stringContaining(empty.id)]);
  });

  it('goes through fallbacks, which it reads under its locks', async () => {
    const second = await market.poolOf([{}]);
    const pool = await market.poolOf([], { fallback: { kind: 'overflow' }, overflow_pool_id: second.id });
    const run = await routed(pool.name);
    expect(run.output).toMatchObject({ outcome: 'assigned', pool_id: second.id });
  });
});

const ending = (pool: string, args: object = {}): object => route(pool, { ...args, ends_with_run: true });

/** Waits until the only assignment of a run is in a state. */
const stands = (run: Run, state: string): Promise<true> =>
  until(`the assignment to be ${state}`, async () => {
    return (await assignmentsOf(run))[0]?.state === `ASSIGNMENT_STATE_${state}` ? true : undefined;
  });

const noted = async (): Promise<number> => {
  const { rows } = await database.db.query<{ n: number }>('select count(*)::int as n from ductor.assignment_ending');
  return rows[0]?.n ?? -1;
};

describe('a step whose assignments end with the run', () => {
  it.each([
    ['COMPLETED', (id: string) => market.say(id)],
    ['CANCELLED', (id: string) => market.call('POST', `/api/runs/${id}:cancel`, {})],
    ['TERMINATED', (id: string) => market.call('POST', `/api/runs/${id}:terminate`, { reason: 'test' })],
  ])('releases them once it is %s, and not before', async (state, end) => {
    const pool = await market.poolOf([{ max_concurrent: 1 }]);
    const run = await market.start(await market.publish([ending(pool.name), signal()], [['desk', 'done']]));
    expect(await used(pool)).toEqual([1]);
    await end(run.id);
    expect((await market.ended(run.id)).state).toBe(`RUN_STATE_${state}`);
    await stands(run, 'RELEASED');
    await until('the look to be over', async () => ((await noted()) === 0 ? true : undefined));
    expect(await used(pool)).toEqual([0]);
  });

  it('releases them where the run fails, or its time is over', async () => {
    const pool = await market.poolOf([{}]);
    const fail = { ref: 'no', type: 'STEP_TYPE_FAIL', args: { code: 'sorry', message: '"no"' } };
    const failed = await market.start(await market.publish([ending(pool.name), fail], [['desk', 'no']]));
    const flow = await market.publish([ending(pool.name), signal()], [['desk', 'done']], { timeout: '1s' });
    const late = await market.start(flow);
    expect([failed.state, (await market.ended(late.id)).state]).toEqual(['RUN_STATE_FAILED', 'RUN_STATE_TIMED_OUT']);
    await stands(failed, 'RELEASED');
    await stands(late, 'RELEASED');
    expect(await used(pool)).toEqual([0]);
  });

  it('takes back what is only offered, and offers it to nobody else', async () => {
    const pool = await market.poolOf([{}, {}], { requires_acceptance: true, offer_timeout: '1h' });
    const run = await market.start(await market.publish([ending(pool.name), signal()], [['desk', 'done']]));
    const [first] = await assignmentsOf(run);
    // The next offer is made beside the run, and is as much its work.
    await market.call('POST', `/api/assignments/${first?.id}:decline`, {});
    const open = '/api/assignments?state=ASSIGNMENT_STATE_OFFERED';
    const next = await until('the next offer', async () => (await market.call<readonly Assignment[]>('GET', open))[0]);
    await market.say(run.id);
    await until('it to be taken back', async () => {
      const { state } = await market.call<Assignment>('GET', `/api/assignments/${next.id}`);
      return state === 'ASSIGNMENT_STATE_RELEASED' ? true : undefined;
    });
    expect(await market.call('GET', open)).toEqual([]);
  });

  it('leaves what was completed, and what other steps have assigned', async () => {
    const [pool, other] = [await market.poolOf([{}]), await market.poolOf([{}])];
    const stays = { ...route(other.name), ref: 'stays' };
    const steps = [ending(pool.name), stays, signal()];
    const run = await market.start(
      await market.publish(steps, [
        ['desk', 'stays'],
        ['stays', 'done'],
      ]),
    );
    const first = (await assignmentsOf(run)).find(({ pool_id: id }) => id === pool.id);
    await market.call('POST', `/api/assignments/${first?.id}:complete`, {});
    await market.say(run.id);
    await market.ended(run.id);
    await until('the look to be over', async () => ((await noted()) === 0 ? true : undefined));
    const states = (await assignmentsOf(run)).map(({ state }) => state).sort();
    expect(states).toEqual(['ASSIGNMENT_STATE_ACTIVE', 'ASSIGNMENT_STATE_COMPLETED']);
    expect(await used(other)).toEqual([1]);
  });

  it('keeps them over continuations, and is looked at by whichever node is there', async () => {
    const pool = await market.poolOf([{ max_concurrent: 1 }]);
    const again = { ref: 'again', type: 'STEP_TYPE_CONTINUE_AS_NEW', input: { turn: '2' } };
    const edges = [
      ['desk', 'again', 'input.turn == 1'],
      ['desk', 'done', 'input.turn == 2', 'FAILURE'],
    ] as const;
    const slug = await market.publish([ending(pool.name), again, signal()], edges);
    const run = await market.start(slug, { turn: 1 });
    expect([run.state, await used(pool)]).toEqual(['RUN_STATE_CONTINUED', [1]]);
    const found = await until('the next run', async () => {
      const runs = await market.call<readonly Run[]>('GET', `/api/runs?family_slug=${slug}`);
      return runs.find(({ state }) => state === 'RUN_STATE_WAITING');
    });
    expect(await used(pool)).toEqual([1]);
    await market.say(found.id);
    await market.ended(found.id);
    await market.restart();
    await stands(run, 'RELEASED');
    expect(await used(pool)).toEqual([0]);
  });

  it('withdraws what waits in a claim queue', async () => {
    const { id: queueId } = await market.call<{ id: string }>('POST', '/api/claim-queues', { name: 'brief' });
    const pool = await market.poolOf([{}], { routing_mode: 'claim', claim_queue_id: queueId });
    const run = await market.start(await market.publish([ending(pool.name), signal()], [['desk', 'done']]));
    const items = () => market.call<readonly { state: string }[]>('GET', `/api/claim-queues/${queueId}/items`);
    expect(await items()).toMatchObject([{ state: 'CLAIM_STATE_OPEN' }]);
    await market.say(run.id);
    await until('it to be withdrawn', async () => {
      return (await items())[0]?.state === 'CLAIM_STATE_WITHDRAWN' ? true : undefined;
    });
  });
});

describe('a step that routes fails with the outcome as its code', () => {
  it.each<[string, () => Promise<string>, string]>([
    ['nobody may be chosen', async () => (await market.poolOf([])).name, 'no_eligible_recipient'],
    ['there is no such pool', async () => 'no-such-pool', 'not_found'],
    ['no rule is for it', async () => '', 'no_matching_rule'],
    [
      'its pool puts it off',
      async () => (await market.poolOf([], { fallback: { kind: 'retry', delay: '10s' } })).name,
      'deferred',
    ],
    [
      'its pool gives it up',
      async () => (await market.poolOf([], { fallback: { kind: 'dead_letter' } })).name,
      'dead_lettered',
    ],
    [
      'its pool is switched off',
      async () => {
        const pool = await market.poolOf([{}]);
        const body = { enabled: false, expected_version: 0, reason: 'test' };
        await market.call('POST', `/api/pools/${pool.id}:set_enabled`, body);
        return pool.name;
      },
      'pool_disabled',
    ],
  ])('when %s', async (_, poolOf, code) => {
    const name = await poolOf();
    const step = { ref: 'desk', type: 'STEP_TYPE_ROUTE', args: name === '' ? {} : { pool: name } };
    const caught = { ref: 'caught', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'project', project: CAUGHT } };
    const edges = [['desk', 'caught', undefined, 'FAILURE'] as const];
    const slug = await market.publish([step, caught], edges, { output: 'steps.caught.output.code' });
    const run = await market.ended((await market.start(slug)).id);
    expect([run.state, run.output]).toEqual(['RUN_STATE_COMPLETED', code]);
    expect(await assignmentsOf(run)).toEqual([]);
  });

  it('when the authority cannot be asked, which is no answer about room', async () => {
    const pool = await market.poolOf([{}]);
    const run = await database.db.transaction(async (tx) => {
      const id = pool.ids[0] ?? '';
      await tx.query('select 1 from ductor.capacity_authority where recipient_id = $1::uuid for update', [id]);
      return routed(pool.name);
    });
    expect(codeOf(run)).toBe('capacity_authority_unavailable');
  });
});

const CAUGHT = { code: 'steps.desk.error.code' };
