import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunKeyConflict, RunServiceService as R } from '../../../gen/ductor/v1/run.js';
import { SignalRunRequest, SignalWithStartRequest, TriggerRunRequest } from '../../../gen/ductor/v1/run.js';
import { StepType, WorkflowServiceService as W } from '../../../gen/ductor/v1/workflow.js';
import { CreateWorkflowRequest, PublishWorkflowRequest } from '../../../gen/ductor/v1/workflow.js';
import { testDatabase } from '../../../store/testing/index.js';
import { call, testClient, type TestClient } from '../testing/test-client.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';

const database = testDatabase();
let node: TestNode;
let client: TestClient;

/** Takes one signal at a time, and ends with the one that says so. */
const INTAKE = {
  familySlug: 'intake',
  steps: [
    {
      ref: 'until-done',
      type: StepType.STEP_TYPE_LOOP,
      args: { vars: { said: [] }, until: 'steps.word.output == "done"', max_iterations: 1_000 },
      body: {
        steps: [{ ref: 'word', type: StepType.STEP_TYPE_SIGNAL }],
        output: { said: 'vars.said + [steps.word.output]' },
      },
    },
  ],
  edges: [],
  output: { said: 'steps["until-done"].output.said' },
};

beforeAll(async () => {
  node = await startTestNode(database.db);
  const { apiKey } = await node.tenant('keys');
  client = testClient(node.address, apiKey);
  await call(client, W.createWorkflow, CreateWorkflowRequest.fromPartial(INTAKE));
  await call(client, W.publishWorkflow, PublishWorkflowRequest.fromPartial({ workflowId: 'intake' }));
});
afterAll(async () => {
  client.close();
  await node.stop();
});

function trigger(runKey: string, onOpen = RunKeyConflict.RUN_KEY_CONFLICT_ANSWER) {
  return call(client, R.triggerRun, TriggerRunRequest.fromPartial({ familySlug: 'intake', runKey, onOpen }));
}

function say(runKey: string, word: string, signalId = '') {
  const start = { familySlug: 'intake', runKey };
  return call(
    client,
    R.signalWithStart,
    SignalWithStartRequest.fromPartial({ start, name: 'word', payload: word, signalId }),
  );
}

/** What a run was told, once it has ended. */
async function heard(runId: string): Promise<readonly string[]> {
  for (;;) {
    const { data } = await call(client, R.getRun, { runId });
    if (data?.closedAt === undefined) continue;
    expect(data.error).toBeUndefined();
    return data.output.said;
  }
}

describe('a run key', () => {
  it('answers the run that is open, or refuses, and is free once that has ended', async () => {
    const first = await trigger('ada');
    expect(first.data?.runKey).toBe('ada');
    expect((await trigger('ada')).data?.id).toBe(first.data?.id);
    const refused = trigger('ada', RunKeyConflict.RUN_KEY_CONFLICT_REFUSE);
    await expect(refused).rejects.toMatchObject({ code: 6 });
    await expect(refused).rejects.toThrow(`is held by run ${first.data?.id}`);
    expect((await trigger('bob')).data?.id).not.toBe(first.data?.id);
    const done = SignalRunRequest.fromPartial({ runId: first.data?.id ?? '', name: 'word', payload: 'done' });
    await call(client, R.signalRun, done);
    await heard(first.data?.id ?? '');
    expect((await trigger('ada', RunKeyConflict.RUN_KEY_CONFLICT_REFUSE)).data?.id).not.toBe(first.data?.id);
  });

  it('stands alone', async () => {
    const both = TriggerRunRequest.fromPartial({ familySlug: 'intake', runKey: 'x', idempotencyKey: 'y' });
    await expect(call(client, R.triggerRun, both)).rejects.toThrow('run_key: stands beside idempotency_key');
    const own = TriggerRunRequest.fromPartial({ familySlug: 'intake', idempotencyKey: 'ductor:run/x' });
    await expect(call(client, R.triggerRun, own)).rejects.toThrow('idempotency_key: begins with ductor:');
  });
});

describe('SignalWithStart', () => {
  it('starts a run that has received the signal, then signals it, each id once', async () => {
    const first = await say('carol', 'hello');
    expect(first.started).toBe(true);
    const next = await say('carol', 'again', '7');
    expect([next.started, next.data?.id]).toEqual([false, first.data?.id]);
    await say('carol', 'again', '7');
    await say('carol', 'done');
    expect(await heard(first.data?.id ?? '')).toEqual(['hello', 'again', 'done']);
    expect((await say('carol', 'done')).started).toBe(true);
  });

  it('loses no signal and doubles none while runs begin and end under it', async () => {
    const words = Array.from({ length: 120 }, (_, index) => (index % 6 === 5 ? 'done' : `word ${index}`));
    const runs = new Map<string, number>();
    await Promise.all(
      words.map(async (word) => {
        const { data } = await say('dave', word);
        runs.set(data?.id ?? '', (runs.get(data?.id ?? '') ?? 0) + 1);
      }),
    );
    await say('dave', 'done');
    expect(runs.size).toBeGreaterThan(1);
    const received: string[] = [];
    for (const runId of runs.keys()) {
      const { data } = await call(client, R.getRunHistory, {
        runId,
        pagination: { pageSize: 200, cursor: '', nextCursor: '' },
      });
      for (const { kind, detail } of data) if (kind === 'signal_received') received.push(String(detail?.payload ?? ''));
    }
    const count = (word: string): number => received.filter((one) => one === word).length;
    for (const word of words.filter((one) => one !== 'done')) expect([word, count(word)]).toEqual([word, 1]);
    expect(count('done')).toBeGreaterThanOrEqual(20);
  });

  it('refuses what no run would hear', async () => {
    const ask = (fields: object) => call(client, R.signalWithStart, SignalWithStartRequest.fromPartial(fields));
    const start = { familySlug: 'intake', runKey: 'eve' };
    await expect(ask({ start: { familySlug: 'intake' }, name: 'word' })).rejects.toThrow('start.run_key: is missing');
    await expect(ask({ start, name: 'wrod' })).rejects.toThrow('waits for no signal "wrod"');
    await expect(ask({ start: { ...start, familySlug: 'none' }, name: 'word' })).rejects.toMatchObject({ code: 5 });
  });
});
