import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as workflow from '../../../gen/ductor/v1/workflow.js';
import type { DeepPartial } from '../../../gen/google/protobuf/struct.js';
import { testDatabase } from '../../../store/testing/index.js';
import { call, testClient, wireErrorOf, type TestClient } from '../testing/test-client.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';

const database = testDatabase();
const W = workflow.WorkflowServiceService;
let node: TestNode;
let client: TestClient;

beforeAll(async () => {
  node = await startTestNode(database.db);
  const { apiKey } = await node.tenant('workflows');
  client = testClient(node.address, apiKey);
});
afterAll(async () => {
  client.close();
  await node.stop();
});

/** The example of the introduction, with everything a definition can say. */
const HELLO: DeepPartial<workflow.WorkflowDefinition> = {
  familySlug: 'hello-world',
  title: 'Hello World',
  steps: [
    {
      ref: 'greet',
      type: workflow.StepType.STEP_TYPE_DATAFLOW,
      title: 'Build greeting',
      args: { operation: 'project', project: { message: '"hello"' } },
    },
    { ref: 'pause', type: workflow.StepType.STEP_TYPE_WAIT, title: 'Short delay', args: { duration: '2s' } },
    {
      ref: 'call',
      type: workflow.StepType.STEP_TYPE_CALLBACK,
      args: { handler: 'call' },
      input: { who: 'input.who', fixed: ['"x"'] },
      retry: {
        maxAttempts: 5,
        initialInterval: '2s',
        backoff: 1.5,
        maxInterval: '1m',
        jitter: 0,
        nonRetryable: ['No'],
      },
      timeout: '10s',
      cancelTimeout: '5s',
      queue: 'calls',
    },
  ],
  edges: [
    { sourceRef: 'greet', targetRef: 'pause', type: workflow.EdgeType.EDGE_TYPE_SUCCESS, condition: '1 < 2' },
    { sourceRef: 'pause', targetRef: 'call', type: workflow.EdgeType.EDGE_TYPE_ALWAYS },
  ],
  output: { done: 'steps.greet.output.message' },
  inputSchema: { type: 'object' },
};

const create = (request: DeepPartial<workflow.CreateWorkflowRequest>): Promise<workflow.CreateWorkflowResponse> =>
  call(client, W.createWorkflow, workflow.CreateWorkflowRequest.fromPartial(request));
const codeOf = (promise: Promise<unknown>): Promise<string | undefined> =>
  promise.then(
    () => 'ok',
    (error: unknown) => wireErrorOf(error)?.code,
  );

describe('a definition', () => {
  it('goes from draft to version, and comes back as it was sent', async () => {
    const { data: created } = await create(HELLO);
    expect(created).toMatchObject({
      familySlug: 'hello-world',
      status: workflow.Status.STATUS_INACTIVE,
      currentVersion: 0,
    });
    expect(created?.draft).toEqual(workflow.WorkflowDefinition.fromPartial(HELLO));
    const byId = await call(client, W.getWorkflow, { workflowId: created?.id ?? '' });
    const bySlug = await call(client, W.getWorkflow, { workflowId: 'hello-world' });
    expect(byId).toEqual(bySlug);
    const checked = await call(client, W.validateWorkflow, { workflowId: 'hello-world', definition: undefined });
    expect(checked.data).toEqual({ valid: true, problems: [] });
    const published = await call(client, W.publishWorkflow, { workflowId: 'hello-world', expectedVersion: 0 });
    expect(published.data).toMatchObject({ status: workflow.Status.STATUS_ACTIVE, currentVersion: 1 });
    const again = await call(client, W.publishWorkflow, { workflowId: 'hello-world', expectedVersion: 0 });
    expect(again.data?.currentVersion).toBe(1);
    const versions = await call(client, W.listWorkflowVersions, { workflowId: 'hello-world', pagination: undefined });
    expect(versions.data.map(({ version, digest }) => [version, digest.length])).toEqual([[1, 64]]);
    expect(versions.data[0]?.definition).toEqual(created?.draft);
    expect(await codeOf(create(HELLO))).toBe('workflow_exists');
  });

  it('that cannot run is refused at publish with every problem, and said to be so by validate', async () => {
    const broken = {
      familySlug: 'broken',
      steps: [{ ref: 'a', type: workflow.StepType.STEP_TYPE_WAIT }, { ref: 'a' }],
    };
    await create(broken);
    const report = await call(client, W.validateWorkflow, {
      workflowId: '',
      definition: workflow.WorkflowDefinition.fromPartial(broken),
    });
    expect(report.data?.valid).toBe(false);
    expect(report.data?.problems.length).toBeGreaterThanOrEqual(2);
    const error = await call(client, W.publishWorkflow, { workflowId: 'broken', expectedVersion: 0 }).catch(
      wireErrorOf,
    );
    expect(error).toMatchObject({ code: 'invalid_definition', details: report.data?.problems });
  });

  it('changes by update; a publish guarded by an older record is refused', async () => {
    const { data } = await create({ familySlug: 'changes', steps: HELLO.steps?.slice(0, 1) ?? [] });
    const request = {
      workflowId: 'changes',
      definition: { familySlug: 'changes', title: 'New', steps: HELLO.steps ?? [] },
    };
    const updated = await call(client, W.updateWorkflow, workflow.UpdateWorkflowRequest.fromPartial(request));
    expect(updated.data).toMatchObject({ title: 'New', draft: { steps: [{}, {}, {}] } });
    const old = { workflowId: 'changes', expectedVersion: data?.recordVersion ?? 0 };
    expect(await codeOf(call(client, W.publishWorkflow, old))).toBe('version_conflict');
  });

  it('with JSON that is too deep, or a type that is unknown, is refused or explained', async () => {
    let deep: unknown = 'x';
    for (let depth = 0; depth < 80; depth += 1) deep = [deep];
    expect(await codeOf(create({ familySlug: 'deep', output: deep }))).toBe('invalid_argument');
    const steps = [{ ref: 'a', type: workflow.StepType.UNRECOGNIZED }];
    const definition = workflow.WorkflowDefinition.fromPartial({ familySlug: 'x', steps });
    const report = await call(client, W.validateWorkflow, { workflowId: '', definition });
    expect(report.data?.problems.map(({ path }) => path)).toContain('steps[0].type');
  });
});

describe('lists', () => {
  it('go on by cursor', async () => {
    for (const slug of ['list-a', 'list-b', 'list-c']) await create({ familySlug: slug });
    const slugs: string[] = [];
    let cursor = '';
    do {
      const pagination = { pageSize: 2, cursor, nextCursor: '' };
      const page = await call(client, W.listWorkflows, { pagination });
      slugs.push(...page.data.map(({ familySlug }) => familySlug));
      cursor = page.pagination?.nextCursor ?? '';
    } while (cursor !== '');
    expect(slugs).toEqual([...new Set(slugs)].sort());
    expect(slugs).toEqual(expect.arrayContaining(['list-a', 'list-b', 'list-c']));
  });
});
