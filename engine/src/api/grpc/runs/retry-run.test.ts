/** RetryRun of runs that have ended: what ended well is kept, the rest runs again in a run of its own. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CancelRunRequest,
  GetRunHistoryRequest,
  GetRunRequest,
  RetryRunRequest,
  RunServiceService as R,
  RunState,
  TriggerAndWaitRequest,
  TriggerRunRequest,
  type RetryRunResponse,
} from '../../../gen/ductor/v1/run.js';
import { testDatabase } from '../../../store/testing/index.js';
import { call, testClient, type TestClient } from '../testing/test-client.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';

const database = testDatabase();
let node: TestNode;
let client: TestClient;

const project = (ref: string, says: string) => ({
  ...{ ref, type: 'STEP_TYPE_DATAFLOW' },
  args: { operation: 'project', project: { says } },
});
const edge = (source: string, target: string) => ({
  ...{ source_ref: source, target_ref: target, type: 'EDGE_TYPE_SUCCESS' },
});

beforeAll(async () => {
  node = await startTestNode(database.db);
  const { tenantId, apiKey } = await node.tenant('retries');
  client = testClient(node.address, apiKey);
  const publish = async (definition: Parameters<TestNode['registry']['create']>[1]): Promise<void> => {
    const { id } = await node.registry.create(tenantId, definition);
    await node.registry.publish(tenantId, id, 0);
  };
  await publish({
    family_slug: 'dividing',
    steps: [project('a', 'input.a'), project('b', '100 / int(input.by)'), project('c', 'steps.b.output.says')],
    edges: [edge('a', 'b'), edge('b', 'c')],
    output: 'steps.c.output.says',
  });
  const wait = { ref: 'wait', type: 'STEP_TYPE_WAIT', args: { duration: '1h' } };
  await publish({ family_slug: 'waiting', steps: [wait] });
});
afterAll(async () => {
  client.close();
  await node.stop();
});

const retry = (request: Partial<RetryRunRequest>): Promise<RetryRunResponse> =>
  call(client, R.retryRun, RetryRunRequest.fromPartial(request));

async function ended(by: number): Promise<string> {
  const request = TriggerAndWaitRequest.fromPartial({ familySlug: 'dividing', input: { a: 1, by }, wait: '20s' });
  const { data, ended: isEnded } = await call(client, R.triggerAndWait, request);
  const state = by === 0 ? RunState.RUN_STATE_FAILED : RunState.RUN_STATE_COMPLETED;
  expect([isEnded, data?.state]).toEqual([true, state]);
  return data?.id ?? '';
}

async function factsOf(runId: string): Promise<readonly (readonly [string, string])[]> {
  const { data } = await call(client, R.getRunHistory, GetRunHistoryRequest.fromPartial({ runId }));
  return data.map(({ kind, step }) => [kind, step]);
}

describe('RetryRun of a run that has ended', () => {
  it('starts one that keeps what ended well, and says where it comes from', async () => {
    const runId = await ended(0);
    const { data, started } = await retry({ runId });
    expect(started).toBe(true);
    expect(data?.id).not.toBe(runId);
    expect(data?.input).toEqual({ a: 1, by: 0 });
    const facts = await factsOf(data?.id ?? '');
    expect(facts.slice(0, 3)).toEqual([
      ['run_started', ''],
      ['step_completed', 'a'],
      ['step_failed', 'b'],
    ]);
    const { data: history } = await call(
      client,
      R.getRunHistory,
      GetRunHistoryRequest.fromPartial({ runId: data?.id ?? '' }),
    );
    expect(history[0]?.detail).toMatchObject({ forked_run_id: runId });
  });

  it('starts one for a key, from a step of one that completed', async () => {
    const runId = await ended(4);
    const idempotencyKey = randomUUID();
    const first = await retry({ runId, from: 'c', idempotencyKey });
    const second = await retry({ runId, from: 'c', idempotencyKey });
    expect([first.data?.output, first.started, second.started]).toEqual([25, true, false]);
    expect(second.data?.id).toBe(first.data?.id);
    await expect(retry({ runId, from: 'b', idempotencyKey })).rejects.toThrow('idempotency');
    await expect(retry({ runId })).rejects.toThrow('is missing, and the run completed');
    await expect(retry({ runId, from: 'nobody' })).rejects.toThrow('is no step of dividing version 1');
  });

  it('keeps the run key: while another one is open with it, it is refused', async () => {
    const start = TriggerRunRequest.fromPartial({ familySlug: 'waiting', runKey: 'customer-1' });
    const { data } = await call(client, R.triggerRun, start);
    const runId = data?.id ?? '';
    await expect(retry({ runId })).rejects.toThrow('not parked');
    await call(client, R.cancelRun, CancelRunRequest.fromPartial({ runId }));
    const stateOf = async (): Promise<RunState | undefined> => {
      return (await call(client, R.getRun, GetRunRequest.fromPartial({ runId }))).data?.state;
    };
    await expect.poll(stateOf, { timeout: 20_000 }).toBe(RunState.RUN_STATE_CANCELLED);
    await expect(retry({ runId, idempotencyKey: 'k' })).rejects.toThrow('stands beside the run key customer-1');
    const again = await retry({ runId });
    expect([again.started, again.data?.runKey]).toEqual([true, 'customer-1']);
    await expect(retry({ runId })).rejects.toThrow('customer-1');
  });

  it('is of a run there is', async () => {
    await expect(retry({ runId: randomUUID() })).rejects.toThrow('there is no run');
  });
});
