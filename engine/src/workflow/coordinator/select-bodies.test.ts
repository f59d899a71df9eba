/** Bodies of SELECT steps, on the coordinator with stores in memory. */
import { describe, expect, it } from 'vitest';
import { jsonValue } from '../machine/index.js';
import type { TestNode } from '../testing/coordinator-kit.js';
import { impossible } from '../../kernel/index.js';
import { market, WORKER } from '../testing/market.js';
import { edge, ITEM, outputOf, type BodySpec, type PlanSpec, type StepSpec } from '../testing/plan-builder.js';

const POST: BodySpec = {
  steps: { post: { type: 'CALLBACK', input: ITEM, retry: { maxAttempts: 1 } } },
  output: outputOf('post'),
};
type Select = StepSpec & { readonly type: 'SELECT' };

function selecting(more: Partial<Omit<Select, 'type'>>): PlanSpec {
  const buyers: Select = { type: 'SELECT', pool: 'buyers', slateSize: 3, body: POST, ...more };
  return { steps: { buyers, done: { type: 'CALLBACK' } }, edges: [edge('buyers', 'done')] };
}

const ROOM = [{ max_concurrent: 1 }, { max_concurrent: 1 }, { max_concurrent: 1 }];
const REFUSED = {
  kind: 'failed',
  code: 'refused',
  message: 'no',
  stack: '',
  nonRetryable: true,
  retryAfterMs: null,
} as const;

async function posting(more: Partial<Omit<Select, 'type'>>, capacities: readonly object[] = ROOM) {
  const place = await market([selecting(more)], capacities);
  const { kit, node } = place;
  /** Paths of attempts that a worker is given now. */
  const take = () => kit.take(node, WORKER);
  const settle = async (refs: ReturnType<typeof take>, outcome?: Parameters<typeof kit.settle>[2]) => {
    kit.settle(node, refs, outcome);
    await kit.pass(400, 50);
  };
  return { ...place, take, settle };
}

/** What those that a worker has were given. */
function inputs(node: TestNode): readonly unknown[] {
  return [...node.invoker.out.values()].map(
    ({ task }) => JSON.parse(Buffer.from(task.input.data).toString()) as unknown,
  );
}

describe('the body of a selection', () => {
  it('runs for each recipient, and what it comes to stands beside them', async () => {
    const { start, take, settle, held, output, status, ids, check, kit } = await posting({});
    const runId = await start();
    const refs = take();
    expect(refs.map(({ path }) => path)).toEqual(['buyers[0]/post', 'buyers[1]/post', 'buyers[2]/post']);
    expect(held()).toEqual([1, 1, 1]);
    const [first, second, third] = refs;
    if (!first || !second || !third) impossible('test-tasks', 'three are missing');
    await settle([third], { kind: 'completed', output: jsonValue('c') });
    await settle([first], { kind: 'completed', output: jsonValue('a') });
    expect(output(runId, 'buyers')).toBeNull();
    await settle([second], { kind: 'completed', output: jsonValue('b') });
    const counts = { count: 3, completed: 3, failed: 0, failures: [], outputs: ['a', 'b', 'c'] };
    expect(output(runId, 'buyers')).toMatchObject({ recipients: [{}, {}, {}], ...counts });
    await settle(take());
    expect([status(runId), held(), kit.db.reservations.held]).toEqual(['COMPLETED', [0, 0, 0], []]);
    expect(ids).toHaveLength(3);
    check();
  });

  it('reads the recipient it runs for', async () => {
    const { start, take, kit, node, ids } = await posting({});
    await start();
    take();
    const read = inputs(node) as readonly { readonly id: string }[];
    expect(read.map(({ id }) => id).toSorted()).toEqual([...ids].toSorted());
    await kit.flush();
  });

  it('may fail for some', async () => {
    const { start, take, settle, output, error } = await posting({ tolerated: 1 });
    const runId = await start();
    const [first, ...others] = take();
    if (first === undefined) impossible('test-tasks', 'nobody is posted to');
    await settle([first], REFUSED);
    await settle(others);
    const failures = [{ index: 0, code: 'refused', message: 'no' }];
    expect(output(runId, 'buyers')).toMatchObject({
      completed: 2,
      failed: 1,
      failures,
      outputs: [null, 'done', 'done'],
    });
    expect(error(runId)).toBeUndefined();
  });

  it('fails the step with one failure too many, once what is under way has ended', async () => {
    const { start, take, settle, status, error, held } = await posting({});
    const runId = await start();
    const [first, ...others] = take();
    if (first === undefined) impossible('test-tasks', 'nobody is posted to');
    await settle([first], REFUSED);
    expect([status(runId), held()]).toEqual(['RUNNING', [1, 1, 1]]);
    await settle(others);
    expect([status(runId), error(runId), held()]).toEqual(['FAILED', 'refused', [0, 0, 0]]);
  });

  it('runs once for all of them', async () => {
    const { start, take, settle, output, node } = await posting({ mode: 'slate' });
    const runId = await start();
    const refs = take();
    expect(refs.map(({ path }) => path)).toEqual(['buyers[0]/post']);
    expect(inputs(node)).toMatchObject([{ recipients: [{}, {}, {}] }]);
    await settle(refs, { kind: 'completed', output: jsonValue('all') });
    expect(output(runId, 'buyers')).toMatchObject({ recipients: [{}, {}, {}], output: 'all' });
  });

  it('falls through the ranked ones, of whom all are held, to the first that it completes for', async () => {
    const { start, take, settle, output, held, status } = await posting({ mode: 'ranked' });
    const runId = await start();
    for (const path of ['buyers[0]/post', 'buyers[1]/post']) {
      const refs = take();
      expect([refs.map((ref) => ref.path), held()]).toEqual([[path], [1, 1, 1]]);
      await settle(refs, path.includes('0') ? REFUSED : { kind: 'completed', output: jsonValue('taken') });
    }
    const shown = output(runId, 'buyers') as { recipients: { id: string }[]; recipient: { id: string } };
    expect(shown.recipient).toEqual(shown.recipients[1]);
    expect(shown).toMatchObject({ index: 1, output: 'taken', failures: [{ index: 0, code: 'refused' }] });
    await settle(take());
    expect([status(runId), held()]).toEqual(['COMPLETED', [0, 0, 0]]);
  });

  it('fails when it fails for all of the ranked ones', async () => {
    const { start, take, settle, status, error, kit, held } = await posting({ mode: 'ranked' });
    const runId = await start();
    for (let tried = 0; tried < 3; tried += 1) await settle(take(), REFUSED);
    const message = 'the body failed for all 3 recipients; for the last: no';
    expect(kit.stored(runId)?.error).toMatchObject({ code: 'refused', message });
    expect([status(runId), error(runId), held()]).toEqual(['FAILED', 'refused', [0, 0, 0]]);
  });

  it('does not begin where the slate is refused, and the refusal can be caught', async () => {
    const caught = selecting({ atLeast: 3 });
    const plan = { ...caught, edges: [edge('buyers', 'done', 'FAILURE')] };
    const { start, held, kit, node, check } = await market([plan], [{ max_concurrent: 1 }, {}]);
    const runId = await start();
    expect(kit.take(node, WORKER).map(({ path }) => path)).toEqual(['done']);
    expect(kit.stored(runId)?.steps.get('buyers')).toMatchObject({ status: 'FAILED', body: null });
    expect(held()).toEqual([0, 0]);
    check();
  });

  it('is stopped by a cancel, and everybody stays held until it has ended', async () => {
    const { start, take, settle, status, held, kit, node } = await posting({ mode: 'ranked' });
    const runId = await start();
    const refs = take();
    void node.coordinator.cancel({ tenantId: kit.stored(runId)?.tenantId ?? '', runId }, 'enough', 'me');
    await kit.pass(500, 50);
    expect([status(runId), held()]).toEqual(['CANCELLING', [1, 1, 1]]);
    await settle(refs, { kind: 'cancelled' });
    expect([status(runId), held()]).toEqual(['CANCELLED', [0, 0, 0]]);
  });
});

describe('a step that routes', () => {
  const desk: StepSpec = { type: 'ROUTE', pool: 'buyers' };
  const hold: StepSpec = { type: 'SELECT', pool: 'buyers', slateSize: 1 };
  const plan: PlanSpec = { steps: { hold, desk }, edges: [edge('hold', 'desk')] };

  it('ends a run in its own row: what it assigned stays, what was held is given back', async () => {
    const { start, status, held, output, kit, ids, check } = await market([plan], [{}]);
    const runId = await start();
    expect(output(runId, 'desk')).toMatchObject({ outcome: 'assigned', recipients: [{ id: ids[0] }] });
    expect([status(runId), held(), kit.db.reservations.held]).toEqual(['COMPLETED', [0], []]);
    expect(kit.db.reservations.accounts.get(ids[0] ?? '')?.committed).toBe(1);
    check();
  });

  it('ends it by its refusal, too, and when the accounts cannot be locked', async () => {
    const { start, status, error, held, node } = await market([plan], [{ max_concurrent: 1 }]);
    expect([status(await start()), held()]).toEqual(['FAILED', [0]]);
    let answered = 0;
    node.fault = ({ method }) => {
      answered += method === 'commitGated' ? 1 : 0;
      const outcome = { kind: 'repeat', sqlState: '55P03' } as const;
      return method === 'commitGated' && answered === 2 ? { kind: 'answer', outcome } : null;
    };
    const runId = await start();
    expect([status(runId), held()]).toEqual(['FAILED', [0]]);
    expect(['capacity_authority_unavailable', 'no_eligible_recipient']).toContain(error(runId));
  });
});
