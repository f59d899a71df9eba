import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ForkRunRequest,
  GetRunHistoryRequest,
  RunServiceService,
  TriggerAndWaitRequest,
  type ForkRunResponse,
} from '../../../gen/ductor/v1/run.js';
import { testDatabase } from '../../../store/testing/index.js';
import { call, testClient, type TestClient } from '../testing/test-client.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';

const database = testDatabase();
let node: TestNode;
let client: TestClient;

beforeAll(async () => {
  node = await startTestNode(database.db);
  const { tenantId, apiKey } = await node.tenant('forks');
  client = testClient(node.address, apiKey);
  const project = (ref: string, value: string) => ({
    ...{ ref, type: 'STEP_TYPE_DATAFLOW' },
    args: { operation: 'project', project: { says: value } },
  });
  const { id } = await node.registry.create(tenantId, {
    family_slug: 'forked',
    steps: [project('a', 'input.name'), project('b', 'steps.a.output.says + "!"')],
    edges: [{ source_ref: 'a', target_ref: 'b', type: 'EDGE_TYPE_SUCCESS' }],
    output: 'steps.b.output.says',
  });
  await node.registry.publish(tenantId, id, 0);
});
afterAll(async () => {
  client.close();
  await node.stop();
});

const fork = (request: Partial<ForkRunRequest>): Promise<ForkRunResponse> =>
  call(client, RunServiceService.forkRun, ForkRunRequest.fromPartial(request));

async function ended(): Promise<string> {
  const request = TriggerAndWaitRequest.fromPartial({ familySlug: 'forked', input: { name: 'Ada' }, wait: '20s' });
  const { data, ended: isEnded } = await call(client, RunServiceService.triggerAndWait, request);
  expect([isEnded, data?.output]).toEqual([true, 'Ada!']);
  return data?.id ?? '';
}

describe('ForkRun', () => {
  it('says in a dry run what would be, and starts nothing', async () => {
    const runId = await ended();
    const { data, steps, changes } = await fork({ runId, from: 'b', dryRun: true });
    expect(data).toBeUndefined();
    expect(steps.map(({ ref, kept }) => [ref, kept])).toEqual([
      ['a', true],
      ['b', false],
    ]);
    expect(changes).toEqual([]);
  });

  it('starts one run for a key, which says whose steps it took over', async () => {
    const runId = await ended();
    const idempotencyKey = randomUUID();
    const first = await fork({ runId, from: 'b', idempotencyKey });
    const second = await fork({ runId, from: 'b', idempotencyKey });
    expect(first.data?.output).toBe('Ada!');
    expect(second.data?.id).toBe(first.data?.id);
    await expect(fork({ runId, from: 'a', idempotencyKey })).rejects.toThrow('idempotency');
    const request = GetRunHistoryRequest.fromPartial({ runId: first.data?.id ?? '' });
    const { data } = await call(client, RunServiceService.getRunHistory, request);
    expect(data[0]?.detail).toMatchObject({ forked_run_id: runId, forked_from: 'b' });
    expect(data.map(({ kind, step, attempt }) => [kind, step, attempt]).slice(0, 2)).toEqual([
      ['run_started', '', 0],
      ['step_completed', 'a', 0],
    ]);
  });

  it('refuses a step or a version that is not there', async () => {
    const runId = await ended();
    await expect(fork({ runId, from: 'nobody' })).rejects.toThrow('is no step of forked version 1');
    await expect(fork({ runId, from: 'a', version: 9 })).rejects.toThrow('has no version 9');
    await expect(fork({ runId: randomUUID(), from: 'a' })).rejects.toThrow('there is no run');
  });
});
