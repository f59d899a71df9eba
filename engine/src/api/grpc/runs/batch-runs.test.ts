/** Many runs at once on a whole node: previewed, carried out in pages, refused without their preview. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BatchAction,
  BatchRunsRequest,
  ListDeadLettersRequest,
  RunServiceService as R,
  RunState,
  TriggerRunRequest,
  type BatchReport,
  type DeepPartial,
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

/** Answers every task at once. */
function work(): TestWorker {
  const made = testWorker(client, {
    ...{ workerId: '00000000-0000-4000-8000-000000000001', slots: 50 },
    workflows: [{ definition: FAILS, handlers: ['charge'] }],
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
  worker = work();
  await worker.next((message) => message.welcome);
});
afterAll(async () => {
  worker.stream.end();
  client.close();
  await node.stop();
});

async function start(familySlug: string, input: unknown, attributes = {}): Promise<string> {
  const request = TriggerRunRequest.fromPartial({ familySlug, input, attributes });
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
