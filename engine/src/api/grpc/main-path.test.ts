import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AwaitRunsRequest,
  RunServiceService,
  RunState,
  StepState,
  TriggerRunRequest,
  type AwaitRunsResponse,
} from '../../gen/ductor/v1/run.js';
import { AckState } from '../../gen/ductor/v1/bridge.js';
import { EdgeType, StepType } from '../../gen/ductor/v1/workflow.js';
import { testDatabase } from '../../store/testing/index.js';
import { call, testClient, type TestClient } from './testing/test-client.js';
import { startTestNode, type TestNode } from './testing/test-node.js';
import { firstTask, resultFor, testWorker } from './testing/test-worker.js';

const database = testDatabase();
let node: TestNode;
let client: TestClient;

beforeAll(async () => {
  node = await startTestNode(database.db);
  const { apiKey } = await node.tenant('main-path');
  client = testClient(node.address, apiKey);
});
afterAll(async () => {
  client.close();
  await node.stop();
});

const definition = {
  familySlug: 'greeting',
  title: 'Greeting',
  steps: [
    { ref: 'greet', type: StepType.STEP_TYPE_CALLBACK, args: { handler: 'greet' }, input: 'input.name' },
    {
      ref: 'shout',
      type: StepType.STEP_TYPE_DATAFLOW,
      args: { operation: 'project', project: { text: 'steps.greet.output + "!"' } },
    },
  ],
  edges: [{ sourceRef: 'greet', targetRef: 'shout', type: EdgeType.EDGE_TYPE_SUCCESS, condition: '' }],
  output: 'steps.shout.output.text',
};

describe('the main path', () => {
  it('registers, triggers, runs a task, records its result and tells who awaits the run', async () => {
    const worker = testWorker(client, {
      workerId: randomUUID(),
      slots: 2,
      workflows: [{ definition, handlers: ['greet'] }],
    });
    const welcome = await worker.next((message) => message.welcome);
    expect(welcome.registrations).toEqual([
      { familySlug: 'greeting', version: 1, published: true, problems: [], code: '' },
    ]);
    worker.send({ credits: 2 });

    const request = TriggerRunRequest.fromPartial({ familySlug: 'greeting', input: { name: 'Ada' } });
    const { data: run } = await call(client, RunServiceService.triggerRun, request);
    expect(run).toMatchObject({ familySlug: 'greeting', version: 1, input: { name: 'Ada' } });
    expect(run?.steps.map(({ path }) => path)).toEqual(['greet', 'shout']);
    const runId = run?.id ?? '';

    const results = client.runs.awaitRuns(client.metadata);
    const closed = new Promise<AwaitRunsResponse>((resolve) => results.on('data', resolve));
    results.write(AwaitRunsRequest.fromPartial({ runIds: [runId] }));

    const task = await worker.next(firstTask);
    expect(task).toMatchObject({ runId, path: 'greet', handler: 'greet', attempt: 1, familySlug: 'greeting' });
    expect(JSON.parse(String(task.input?.data))).toBe('Ada');
    worker.send({ results: [resultFor(task, 7n, 'hello Ada')], credits: 1 });
    expect(await worker.next(({ acks }) => acks[0])).toEqual({
      resultId: 7n,
      state: AckState.ACK_STATE_RECORDED,
      problem: '',
    });

    const [result] = (await closed).results;
    expect(result).toMatchObject({ runId, state: RunState.RUN_STATE_COMPLETED, error: undefined });
    expect(JSON.parse(String(result?.output?.data))).toBe('hello Ada!');
    results.end();

    const got = await call(client, RunServiceService.getRun, { runId });
    expect(got.data).toMatchObject({ state: RunState.RUN_STATE_COMPLETED, output: 'hello Ada!' });
    expect(got.data?.steps.map(({ state }) => state)).toEqual([
      StepState.STEP_STATE_COMPLETED,
      StepState.STEP_STATE_COMPLETED,
    ]);
    worker.stream.end();
    expect(await worker.ended).toBeNull();
  });
});
