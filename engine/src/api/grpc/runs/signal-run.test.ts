import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DeepPartial,
  type ExplainRunResponse,
  RunReason,
  RunServiceService as R,
  SignalRunRequest,
} from '../../../gen/ductor/v1/run.js';
import { TriggerRunRequest } from '../../../gen/ductor/v1/run.js';
import { StepType, WorkflowServiceService as W } from '../../../gen/ductor/v1/workflow.js';
import { CreateWorkflowRequest, PublishWorkflowRequest } from '../../../gen/ductor/v1/workflow.js';
import { testDatabase } from '../../../store/testing/index.js';
import { call, testClient, type TestClient } from '../testing/test-client.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';

const database = testDatabase();
let node: TestNode;
let client: TestClient;

beforeAll(async () => {
  node = await startTestNode(database.db);
  const { apiKey } = await node.tenant('signals');
  client = testClient(node.address, apiKey);
  const schema = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };
  const definition = {
    familySlug: 'payment',
    steps: [
      { ref: 'paid', type: StepType.STEP_TYPE_SIGNAL, args: { name: 'payment', schema } },
      {
        ref: 'review',
        type: StepType.STEP_TYPE_APPROVAL,
        args: { assignees: ['input.boss'], form: schema, deadline: '1d' },
      },
    ],
    edges: [],
  };
  const create = CreateWorkflowRequest.fromPartial(definition);
  await call(client, W.createWorkflow, create);
  await call(client, W.publishWorkflow, PublishWorkflowRequest.fromPartial({ workflowId: 'payment' }));
});
afterAll(async () => {
  client.close();
  await node.stop();
});

async function started(): Promise<string> {
  const request = TriggerRunRequest.fromPartial({ familySlug: 'payment', input: { boss: 'ada' } });
  return (await call(client, R.triggerRun, request)).data?.id ?? '';
}

function send(runId: string, fields: DeepPartial<SignalRunRequest>) {
  return call(client, R.signalRun, SignalRunRequest.fromPartial({ runId, ...fields }));
}

/** The run once it has ended. */
async function ended(runId: string) {
  for (;;) {
    const { data } = await call(client, R.getRun, { runId });
    if (data?.closedAt !== undefined) return data;
  }
}

describe('SignalRun', () => {
  it('brings a payload and a decision to their steps, each once', async () => {
    const runId = await started();
    await send(runId, { name: 'payment', payload: { amount: 5 }, signalId: 'invoice-1' });
    await send(runId, { name: 'payment', payload: { amount: 6 }, signalId: 'invoice-1' });
    await send(runId, { name: 'review', decision: { option: 'approve', by: 'ada', form: { amount: 1 } } });
    const run = await ended(runId);
    expect(run.output).toMatchObject({
      paid: { amount: 5 },
      review: { option: 'approve', by: 'ada', comment: '', form: { amount: 1 } },
    });
    // Whoever repeats what was heard is answered as before; what is new is refused.
    await send(runId, { name: 'payment', payload: { amount: 5 }, signalId: 'invoice-1' });
    await expect(send(runId, { name: 'payment', payload: { amount: 5 } })).rejects.toMatchObject({
      details: expect.stringContaining('has ended'),
    });
  });

  it('refuses at the door, saying why', async () => {
    const runId = await started();
    const refusals: readonly (readonly [Parameters<typeof send>[1], RegExp])[] = [
      [{ name: 'paymet', payload: 1 }, /waits for no signal "paymet"; it waits for payment, review/],
      [{ name: 'payment', payload: { amount: 'x' } }, /payload\.amount/],
      [{ name: 'review', decision: { option: 'maybe', by: 'ada' } }, /decision\.option: is none of the options/],
      [{ name: 'review', decision: { option: 'approve', by: 'bob' } }, /"bob" may not decide review; ada may/],
      [{ name: 'review', decision: { option: 'approve' } }, /may not decide review; ada may/],
      [{ name: 'review', decision: { option: 'approve', by: 'ada', form: {} } }, /decision\.form/],
      [{ name: '' }, /name: is missing/],
    ];
    for (const [fields, details] of refusals) {
      await expect(send(runId, fields)).rejects.toMatchObject({ details: expect.stringMatching(details) });
    }
    const missing = '018f0000-0000-7000-8000-000000000099';
    await expect(send(missing, { name: 'payment' })).rejects.toMatchObject({ details: `there is no run ${missing}` });
  });

  it('is what ExplainRun says the run waits for', async () => {
    const runId = await started();
    await send(runId, { name: 'payment', payload: { amount: 5 } });
    let reason: ExplainRunResponse['data'];
    do {
      reason = (await call(client, R.explainRun, { runId })).data;
    } while (reason?.step !== 'review');
    expect(reason).toMatchObject({
      ...{ reason: RunReason.RUN_REASON_APPROVAL, signal: 'review', assignees: ['ada'] },
      options: ['approve', 'reject'],
    });
  });
});
