import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DeepPartial,
  RunServiceService as R,
  SignalRunRequest,
  TriggerRunRequest,
  UpdateRunRequest,
  UpdateState,
} from '../../../gen/ductor/v1/run.js';
import {
  CreateWorkflowRequest,
  PublishWorkflowRequest,
  StepType,
  WorkflowServiceService as W,
} from '../../../gen/ductor/v1/workflow.js';
import { testDatabase } from '../../../store/testing/index.js';
import { call, testClient, type TestClient } from '../testing/test-client.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';

const database = testDatabase();
let node: TestNode;
let client: TestClient;

beforeAll(async () => {
  node = await startTestNode(database.db);
  const { apiKey } = await node.tenant('updates');
  client = testClient(node.address, apiKey);
  const definition = {
    familySlug: 'order',
    steps: [
      { ref: 'gate', type: StepType.STEP_TYPE_SIGNAL },
      { ref: 'take', type: StepType.STEP_TYPE_SIGNAL },
    ],
    edges: [{ sourceRef: 'gate', targetRef: 'take', type: 1 }],
    updates: [
      {
        name: 'change',
        handledBy: 'take',
        inputSchema: { type: 'object', required: ['city'] },
        validate: 'update.city == input.city ? "it is there" : ""',
        output: { from: 'input.city', to: 'steps.take.output.city' },
      },
    ],
    queries: { city: 'has(steps.take.output) ? steps.take.output.city : input.city', whole: 'input' },
  };
  await call(client, W.createWorkflow, CreateWorkflowRequest.fromPartial(definition));
  await call(client, W.publishWorkflow, PublishWorkflowRequest.fromPartial({ workflowId: 'order' }));
});
afterAll(async () => {
  client.close();
  await node.stop();
});

async function started(): Promise<string> {
  const request = TriggerRunRequest.fromPartial({ familySlug: 'order', input: { city: 'Rome' } });
  return (await call(client, R.triggerRun, request)).data?.id ?? '';
}

async function update(runId: string, fields: DeepPartial<UpdateRunRequest>) {
  return (await call(client, R.updateRun, UpdateRunRequest.fromPartial({ runId, name: 'change', ...fields }))).data;
}

const open = (runId: string) => call(client, R.signalRun, SignalRunRequest.fromPartial({ runId, name: 'gate' }));

async function query(runId: string, name: string): Promise<unknown> {
  return (await call(client, R.queryRun, { runId, name })).data?.value;
}

describe('UpdateRun', () => {
  it('keeps an early update, answers whoever waits for it, and repeats its answer by the id', async () => {
    const runId = await started();
    const early = await update(runId, { input: { city: 'Oslo' }, updateId: 'one', wait: '0s' });
    expect(early).toMatchObject({ state: UpdateState.UPDATE_STATE_ACCEPTED, updateId: 'one' });
    expect(await query(runId, 'city')).toBe('Rome');
    const waiting = update(runId, { input: { city: 'ignored' }, updateId: 'one' });
    await open(runId);
    const answer = { state: UpdateState.UPDATE_STATE_COMPLETED, output: { from: 'Rome', to: 'Oslo' } };
    expect(await waiting).toMatchObject(answer);
    expect(await update(runId, { input: { city: 'x' }, updateId: 'one' })).toMatchObject(answer);
    expect(await query(runId, 'city')).toBe('Oslo');
    expect(await query(runId, 'whole')).toEqual({ city: 'Rome' });
    await expect(update(runId, { input: { city: 'x' }, updateId: 'two' })).rejects.toMatchObject({
      details: expect.stringContaining('has ended'),
    });
  });

  it('refuses by schema, validate and name, and leaves nothing of it', async () => {
    const runId = await started();
    const before = await call(client, R.getRunHistory, { runId, pagination: undefined });
    const refusals = [
      [{ input: { city: 'Rome' } }, 'update change is refused: it is there'],
      [{ input: {} }, 'input.city'],
      [{ name: 'other', input: {} }, 'no update "other"; it has change'],
      [{ name: 'gate', input: {} }, 'no update "gate"'],
      [{ input: { city: 'x' }, wait: '2m' }, 'wait'],
    ] as const;
    for (const [fields, details] of refusals) {
      await expect(update(runId, fields)).rejects.toMatchObject({ details: expect.stringContaining(details) });
    }
    const signal = SignalRunRequest.fromPartial({ runId, name: 'change' });
    await expect(call(client, R.signalRun, signal)).rejects.toMatchObject({
      details: expect.stringContaining('is an update of order'),
    });
    await expect(query(runId, 'none')).rejects.toMatchObject({ details: expect.stringContaining('no query "none"') });
    const after = await call(client, R.getRunHistory, { runId, pagination: undefined });
    expect(after.data).toEqual(before.data);
  });

  it('tells a caller that waits when the run ends before it answers', async () => {
    const runId = await started();
    const waiting = update(runId, { input: { city: 'Oslo' } });
    waiting.catch(() => undefined);
    for (;;) {
      const { data } = await call(client, R.getRunHistory, { runId, pagination: undefined });
      if (data.some(({ kind }) => kind === 'signal_received')) break;
    }
    await call(client, R.terminateRun, { runId, reason: '' });
    await expect(waiting).rejects.toMatchObject({ details: expect.stringContaining('before it answered') });
  });
});
