/** Many runs at once on a whole node: previewed, carried out in pages, refused without their preview. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BatchAction,
  BatchRunsRequest,
  GetRunHistoryRequest,
  ListDeadLettersRequest,
  ListRunsRequest,
  RunServiceService as R,
  RunState,
  TriggerRunRequest,
  type BatchReport,
  type DeepPartial,
  type Run,
  type RunFilter,
} from '../../../gen/ductor/v1/run.js';
import { StepType } from '../../../gen/ductor/v1/workflow.js';
import type { TaskError } from '../../../gen/ductor/v1/bridge.js';
import { testDatabase } from '../../../store/testing/index.js';
import { call, testClient, wireErrorOf, type TestClient } from '../testing/test-client.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';
import { testWorker, type TestWorker } from '../testing/test-worker.js';

const database = testDatabase();
let node: TestNode;
let client: TestClient;
let tenantId = '';
let worker: TestWorker;
/** What the body of a run throws, by the run's input; null: it works. */
let failing: (input: unknown) => Partial<TaskError> | null = () => null;

const FAILS = {
  ...{ familySlug: 'fails', onExhausted: 'park' },
  steps: [{ ref: 'charge', type: StepType.STEP_TYPE_CALLBACK, retry: { maxAttempts: 1 }, args: {}, input: 'input' }],
};

const ENDS = {
  ...{ familySlug: 'ends', steps: FAILS.steps },
};

/** Answers every task at once. */
function work(): TestWorker {
  const made = testWorker(client, {
    ...{ workerId: '00000000-0000-4000-8000-000000000001', slots: 50 },
    workflows: [FAILS, ENDS].map((definition) => ({ definition, handlers: ['charge'] })),
  });
  let results = 0n;
  made.stream.on('data', ({ tasks }: { tasks: readonly { readonly input?: { readonly data: Buffer } }[] }) => {
    for (const task of tasks) {
      const input: unknown = JSON.parse(String(task.input?.data ?? 'null'));
      const error = failing(input);
      const value = { data: Buffer.from('1'), encoding: 'json' };
      const outcome =
        error === null ? ({ $case: 'output', value } as const) : ({ $case: 'error', value: error } as const);
      made.send({ results: [{ ...task, resultId: (results += 1n), outcome }], credits: 1 });
    }
  });
  made.send({ credits: 50 });
  return made;
}

beforeAll(async () => {
  node = await startTestNode(database.db);
  const tenant = await node.tenant('batches');
  ({ tenantId } = tenant);
  client = testClient(node.address, tenant.apiKey);
  const wait = { ref: 'wait', type: 'STEP_TYPE_WAIT', args: { duration: '1h' } };
  const { id } = await node.registry.create(tenantId, { family_slug: 'waits', steps: [wait] });
  await node.registry.publish(tenantId, id, 0);
  const child = { ref: 'child', type: 'STEP_TYPE_SUB_WORKFLOW', args: { workflow: 'ends' } };
  const parent = await node.registry.create(tenantId, { family_slug: 'parents', steps: [child] });
  await node.registry.publish(tenantId, parent.id, 0);
  worker = work();
  await worker.next((message) => message.welcome);
});
afterAll(async () => {
  worker.stream.end();
  client.close();
  await node.stop();
});

async function start(familySlug: string, input: unknown, attributes = {}, runKey = ''): Promise<string> {
  const request = TriggerRunRequest.fromPartial({ familySlug, input, attributes, runKey });
  return (await call(client, R.triggerRun, request)).data?.id ?? '';
}

async function batch(fields: DeepPartial<BatchRunsRequest>): Promise<BatchReport> {
  const { data } = await call(client, R.batchRuns, BatchRunsRequest.fromPartial(fields));
  if (data === undefined) throw new TypeError('an answer without data');
  return data;
}

const refusal = async (fields: DeepPartial<BatchRunsRequest>): Promise<unknown> =>
  batch(fields).catch((error: unknown) => wireErrorOf(error as never)?.details.map(({ path }) => path));

const stateOf = async (runId: string): Promise<RunState | undefined> =>
  (await call(client, R.getRun, { runId })).data?.state;

describe('a batch', () => {
  it('changes nothing before it is confirmed, then every page of what was previewed and nothing later', async () => {
    const wanted: string[] = [];
    for (let n = 0; n < 5; n += 1) wanted.push(await start('waits', null, { which: 'these' }));
    const other = await start('waits', null, { which: 'others' });
    const asked = { action: BatchAction.BATCH_ACTION_CANCEL, filter: { attributes: { which: 'these' } } };
    const { matched, isMore, sample, confirmation } = await batch(asked);
    expect([matched, isMore, new Set(sample.map(({ id }) => id))]).toEqual([5, false, new Set(wanted)]);
    expect(await stateOf(wanted[0] ?? '')).toBe(RunState.RUN_STATE_WAITING);
    const later = await start('waits', null, { which: 'these' });

    const pages: BatchReport[] = [];
    for (let cursor = ''; pages.length === 0 || cursor !== ''; cursor = pages.at(-1)?.nextCursor ?? '') {
      pages.push(await batch({ ...asked, confirmation, cursor, pageSize: 2, reason: 'wrong price' }));
    }
    expect(pages.map(({ done, skipped, failures }) => [done, skipped, failures.length])).toEqual([
      [2, 0, 0],
      [2, 0, 0],
      [1, 0, 0],
    ]);
    for (const runId of wanted) await expect.poll(() => stateOf(runId)).toBe(RunState.RUN_STATE_CANCELLED);
    expect([await stateOf(other), await stateOf(later)]).toEqual([
      RunState.RUN_STATE_WAITING,
      RunState.RUN_STATE_WAITING,
    ]);
    const { rows } = await database.db.query(
      "select object_id, reason from ductor.audit where method like '%BatchRuns' and outcome = 'ok'",
    );
    expect(new Set(rows.map(({ object_id: id, reason }) => [id, reason].join()))).toEqual(
      new Set(wanted.map((id) => `${id},wrong price`)),
    );
    // The same page again finds nothing open.
    expect(await batch({ ...asked, confirmation })).toMatchObject({ done: 0, skipped: 0, nextCursor: '' });
  });

  it('is refused with the confirmation of another one, and with fields that say nothing', async () => {
    const asked = { action: BatchAction.BATCH_ACTION_PAUSE, filter: { familySlug: 'waits' } };
    const { confirmation } = await batch(asked);
    for (const change of [
      { action: BatchAction.BATCH_ACTION_TERMINATE },
      { filter: {} },
      { filter: { familySlug: 'waits', state: RunState.RUN_STATE_WAITING } },
      { confirmation: 'guessed' },
      { confirmation: `${confirmation}A` },
    ]) {
      expect(await refusal({ ...asked, confirmation, ...change })).toEqual(['confirmation']);
    }
    expect(await refusal({ filter: { familySlug: '\0', fingerprint: 'x' }, cursor: 'abc', pageSize: 201 })).toEqual([
      ...['action', 'page_size', 'filter.family_slug', 'filter.fingerprint', 'confirmation'],
    ]);
    const { action } = asked;
    expect(await refusal({ action, filter: { state: RunState.RUN_STATE_FAILED } })).toEqual(['filter.state']);
    expect(await refusal({ action: BatchAction.BATCH_ACTION_RETRY, filter: { state: 2 } })).toEqual(['filter.state']);
  });
});

describe('a retry of runs that have ended', () => {
  const { BATCH_ACTION_RETRY: action } = BatchAction;
  const { RUN_STATE_FAILED: state } = RunState;

  async function failed(familySlug: string, attributes: object, runKey = ''): Promise<string> {
    const id = await start(familySlug, 1, attributes, runKey);
    await expect.poll(() => stateOf(id), { timeout: 20_000 }).toBe(state);
    return id;
  }

  async function listed(fields: DeepPartial<ListRunsRequest>): Promise<readonly Run[]> {
    return (await call(client, R.listRuns, ListRunsRequest.fromPartial(fields))).data;
  }

  it('tries each again by a new run, once, and a page that is sent twice does no harm', async () => {
    failing = () => ({ code: 'declined', message: 'no' });
    const attributes = { which: 'closed' };
    const ids = [await failed('ends', attributes), await failed('ends', attributes), await failed('ends', attributes)];
    const asked = { action, filter: { state, familySlug: 'ends', attributes } };
    const { matched, sample, confirmation } = await batch(asked);
    expect([matched, new Set(sample.map(({ id }) => id))]).toEqual([3, new Set(ids)]);
    expect(await listed({ familySlug: 'ends', attributes })).toHaveLength(3);

    failing = () => null;
    const page = { ...asked, confirmation, pageSize: 2, reason: 'the bank is back' };
    const first = await batch(page);
    expect(first).toMatchObject({ done: 2, skipped: 0, failures: [] });
    expect(await batch(page)).toMatchObject({ done: 0, skipped: 2, failures: [] });
    expect(await batch({ ...page, cursor: first.nextCursor })).toMatchObject({ done: 1, skipped: 0, nextCursor: '' });
    const completed = () => listed({ familySlug: 'ends', attributes, state: RunState.RUN_STATE_COMPLETED });
    await expect.poll(async () => (await completed()).length, { timeout: 20_000 }).toBe(3);
    const starts = await Promise.all(
      (await completed()).map(async ({ id }) => {
        const { data } = await call(client, R.getRunHistory, GetRunHistoryRequest.fromPartial({ runId: id }));
        return (data[0]?.detail as { readonly forked_run_id?: string } | undefined)?.forked_run_id;
      }),
    );
    expect(new Set(starts)).toEqual(new Set(ids));
    const { rows } = await database.db.query(
      "select count(*)::int as count from ductor.audit where reason = 'the bank is back' and outcome = 'ok'",
    );
    expect(rows).toEqual([{ count: 3 }]);
    // The next batch finds them again, as they have failed, and leaves them alone.
    const again = await batch(asked);
    expect(await batch({ ...asked, confirmation: again.confirmation })).toMatchObject({ done: 0, skipped: 3 });
  });

  it('leaves children to their parents unless it is asked for them, and runs with a run key to people', async () => {
    failing = () => ({ code: 'declined', message: 'no' });
    const parent = await failed('parents', { which: 'family' });
    const found = async (filter: DeepPartial<RunFilter>) =>
      (await batch({ action, filter: { state, ...filter } })).matched;
    const [child] = await listed({ parentRunId: parent });
    expect(child?.state).toBe(state);
    const { matched, sample } = await batch({ action, filter: { state, startedAfter: child?.startedAt } });
    expect([matched, sample.some(({ id }) => id === child?.id)]).toEqual([0, false]);
    expect(await found({ parentRunId: parent })).toBe(1);
    expect(await found({ attributes: { which: 'family' } })).toBe(1);

    const keyed = await failed('ends', { which: 'keyed' }, 'customer-9');
    const asked = { action, filter: { state, attributes: { which: 'keyed' } } };
    const { confirmation } = await batch(asked);
    expect(await batch({ ...asked, confirmation })).toMatchObject({
      ...{ done: 0, skipped: 0 },
      failures: [{ runId: keyed, code: 'invalid_argument', message: expect.stringContaining('customer-9') }],
    });
  });

  it('is of runs that ended otherwise than well', async () => {
    for (const other of [RunState.RUN_STATE_COMPLETED, RunState.RUN_STATE_CONTINUED]) {
      expect(await refusal({ action, filter: { state: other } })).toEqual(['filter.state']);
    }
    expect(await refusal({ action, filter: { state, fingerprint: '0123456789abcdef' } })).toEqual(['filter.state']);
    for (const other of [RunState.RUN_STATE_CANCELLED, RunState.RUN_STATE_TIMED_OUT, RunState.RUN_STATE_TERMINATED]) {
      expect(await batch({ action, filter: { state: other, familySlug: 'nobody' } })).toMatchObject({ matched: 0 });
    }
  });
});

describe('dead letters', () => {
  it('are grouped by what parked them, and one group is retried, the other one closed', async () => {
    failing = (input) => {
      const n = JSON.stringify(input).includes('1') ? 1 : 2;
      return { code: n === 1 ? 'declined' : 'unreachable', message: `no ${n}` };
    };
    const declined = [await start('fails', 1), await start('fails', 1)];
    const unreachable = await start('fails', 2);
    for (const id of [...declined, unreachable]) {
      await expect.poll(() => stateOf(id), { timeout: 10_000 }).toBe(RunState.RUN_STATE_PARKED);
    }
    const groups = async (familySlug = '') =>
      (await call(client, R.listDeadLetters, ListDeadLettersRequest.fromPartial({ familySlug }))).data;
    const [first, second] = await groups();
    expect(first).toMatchObject({
      count: 2,
      familySlug: 'fails',
      step: 'charge',
      errorCode: 'declined',
      message: 'no 1',
    });
    expect(second).toMatchObject({ count: 1, errorCode: 'unreachable', exampleRunId: unreachable });
    expect(declined).toContain(first?.exampleRunId);
    expect(await groups('waits')).toEqual([]);

    failing = () => null;
    const retry = { action: BatchAction.BATCH_ACTION_RETRY, filter: { fingerprint: first?.fingerprint ?? '' } };
    const { matched, confirmation } = await batch(retry);
    expect(matched).toBe(2);
    expect(await batch({ ...retry, confirmation })).toMatchObject({ done: 2 });
    for (const id of declined) {
      await expect.poll(() => stateOf(id), { timeout: 10_000 }).toBe(RunState.RUN_STATE_COMPLETED);
    }
    const end = { action: BatchAction.BATCH_ACTION_CANCEL, filter: { fingerprint: second?.fingerprint ?? '' } };
    expect(await batch({ ...end, confirmation: (await batch(end)).confirmation })).toMatchObject({ done: 1 });
    await expect.poll(() => stateOf(unreachable), { timeout: 10_000 }).toBe(RunState.RUN_STATE_CANCELLED);
    expect(await groups()).toEqual([]);
  });
});
