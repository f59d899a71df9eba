import { status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as run from '../../gen/ductor/v1/run.js';
import * as workflow from '../../gen/ductor/v1/workflow.js';
import { WorkRequest } from '../../gen/ductor/v1/bridge.js';
import type { DeepPartial } from '../../gen/google/protobuf/struct.js';
import { testDatabase } from '../../store/testing/index.js';
import { goodBytes, MATRIX_METHODS } from '../testing/matrix/methods.js';
import { call, rawCall, testClient, wireErrorOf, type TestClient } from './testing/test-client.js';
import { startTestNode, type TestNode } from './testing/test-node.js';

const database = testDatabase();
const R = run.RunServiceService;
const W = workflow.WorkflowServiceService;
let node: TestNode;
let client: TestClient;

beforeAll(async () => {
  node = await startTestNode(database.db);
  const { apiKey } = await node.tenant('requests');
  client = testClient(node.address, apiKey);
});
afterAll(async () => {
  client.close();
  await node.stop();
});

const NOBODY = '00000000-0000-7000-8000-000000000000';

/** Code and paths of a refusal. */
async function refusal(promise: Promise<unknown>): Promise<[string | undefined, string[] | undefined]> {
  const error = await promise.then(
    () => undefined,
    (caught: unknown) => wireErrorOf(caught),
  );
  return [error?.code, error?.details.map(({ path }) => path)];
}

const trigger = (request: DeepPartial<run.TriggerRunRequest>): Promise<run.TriggerRunResponse> =>
  call(client, R.triggerRun, run.TriggerRunRequest.fromPartial({ familySlug: 'flow', ...request }));

describe('fields out of bounds', () => {
  it.each<[string, DeepPartial<run.TriggerRunRequest>, string]>([
    ['no slug', { familySlug: '' }, 'family_slug'],
    ['a long slug', { familySlug: 'x'.repeat(129) }, 'family_slug'],
    ['NUL in the slug', { familySlug: 'a\0b' }, 'family_slug'],
    ['a long idempotency key', { idempotencyKey: 'k'.repeat(129) }, 'idempotency_key'],
    ['NUL in the idempotency key', { idempotencyKey: '\0' }, 'idempotency_key'],
    [
      'many attributes',
      { attributes: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`a${at}`, ''])) },
      'attributes',
    ],
    ['a long attribute', { attributes: { a: 'x'.repeat(257) } }, 'attributes.a'],
    ['NUL in an attribute', { attributes: { a: '\0' } }, 'attributes.a'],
    ['an attribute without a name', { attributes: { '': 'x' } }, 'attributes'],
    ['two inputs', { input: 1, inputPayload: { data: Buffer.from('1') } }, 'input_payload'],
    ['an input that is no JSON', { inputPayload: { data: Buffer.from('{') } }, 'input_payload.data'],
    ['an input that is no UTF-8', { inputPayload: { data: Buffer.from([0x22, 0xff, 0x22]) } }, 'input_payload.data'],
    ['NUL in the input', { input: { a: ['x\0y'] } }, 'input.a[0]'],
    [
      'NUL in a typed input',
      { inputPayload: { data: Buffer.from('{"json":["\\u0000"],"types":[]}'), encoding: 'json-typed' } },
      'input[0]',
    ],
    [
      'a typed input that is none',
      { inputPayload: { data: Buffer.from('1'), encoding: 'json-typed' } },
      'input_payload.data',
    ],
    ['a long encoding', { inputPayload: { encoding: 'x'.repeat(129) } }, 'input_payload.encoding'],
  ])('TriggerRun with %s', async (_, request, path) => {
    expect(await refusal(trigger(request))).toEqual(['invalid_argument', [path]]);
  });

  it('TriggerRun with an input that is too large or too deep', async () => {
    const large = { inputPayload: { data: Buffer.alloc(2 * 1024 * 1024 + 1, 0x20), encoding: 'json' } };
    expect((await refusal(trigger(large)))[0]).toBe('value_too_large');
    let deep: unknown = 1;
    for (let depth = 0; depth < 65; depth += 1) deep = [deep];
    const text = { inputPayload: { data: Buffer.from(JSON.stringify(deep)) } };
    expect((await refusal(trigger(text)))[0]).toBe('invalid_argument');
  });

  it('ids, pages, states and cursors', async () => {
    const pageOf = (pageSize: number, cursor = ''): { pageSize: number; cursor: string; nextCursor: string } => ({
      pageSize,
      cursor,
      nextCursor: '',
    });
    const list = run.ListRunsRequest.fromPartial({});
    for (const [promise, path] of [
      [call(client, R.getRun, { runId: 'x' }), 'run_id'],
      [call(client, R.getRun, { runId: NOBODY.toUpperCase().replace('7', 'A') }), 'run_id'],
      [call(client, R.cancelRun, { runId: NOBODY, reason: 'r'.repeat(4_097) }), 'reason'],
      [call(client, R.getRunHistory, { runId: '', pagination: undefined }), 'run_id'],
      [call(client, R.listRuns, { ...list, pagination: pageOf(201) }), 'pagination.page_size'],
      [call(client, R.listRuns, { ...list, pagination: pageOf(1, 'nonsense') }), 'pagination.cursor'],
      [call(client, R.listRuns, { ...list, pagination: pageOf(1, 'c'.repeat(999)) }), 'pagination.cursor'],
      [call(client, R.listRuns, { ...list, state: run.RunState.UNRECOGNIZED }), 'state'],
      [call(client, R.getRunHistory, { runId: NOBODY, pagination: pageOf(1, 'MSwyLDM') }), 'pagination.cursor'],
      [call(client, W.listWorkflows, { pagination: pageOf(201) }), 'pagination.page_size'],
      [call(client, W.getWorkflow, { workflowId: '' }), 'workflow_id'],
      [call(client, W.getWorkflow, { workflowId: 'x\0' }), 'workflow_id'],
      [call(client, W.updateWorkflow, { workflowId: 'flow', definition: undefined }), 'definition'],
      [call(client, R.triggerRuns, { items: [] }), 'items'],
    ] as const) {
      expect(await refusal(promise)).toEqual(['invalid_argument', [path]]);
    }
  });

  it('are all named at once', async () => {
    const request = { familySlug: '', idempotencyKey: 'k'.repeat(129), attributes: { a: '\0' } };
    expect(await refusal(trigger(request))).toEqual([
      'invalid_argument',
      ['family_slug', 'idempotency_key', 'attributes.a'],
    ]);
  });
});

describe('bytes that are no message', () => {
  it('are refused by every method as any other bad request', async () => {
    for (const { method, name } of MATRIX_METHODS) {
      const called = { path: name, responseStream: method.kind !== 'unary' };
      const { error } = await rawCall(client, called, Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]));
      expect([name, wireErrorOf(error)?.code]).toEqual([name, 'invalid_argument']);
    }
  });

  it('never bring the node down, whatever they are', async () => {
    const method = fc.constantFrom(...MATRIX_METHODS);
    const ids = {
      ...{ runId: NOBODY, openRunId: NOBODY, workflowId: 'flow', familySlug: 'flow', keyId: NOBODY },
      ...{
        endpointId: NOBODY,
        scheduleId: NOBODY,
        poolId: NOBODY,
        recipientId: NOBODY,
        ruleId: NOBODY,
        decisionId: NOBODY,
        assignmentId: NOBODY,
        ...{ queueId: NOBODY, itemId: NOBODY, claimantId: NOBODY, waitingId: NOBODY },
      },
    };
    const good = method.map((one) => ({ one, bytes: goodBytes(one, ids) }));
    const bent = fc
      .tuple(good, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), fc.uint8Array({ maxLength: 40 }))
      .map(([{ one, bytes }, changes, tail]) => {
        const whole = Buffer.concat([bytes, tail]);
        for (const [at, byte] of changes) if (whole.length > 0) whole[at % whole.length] = byte;
        return { one, bytes: whole };
      });
    const known = new Set([
      undefined,
      'invalid_argument',
      'invalid_definition',
      'not_found',
      'workflow_exists',
      'workflow_not_published',
      'run_closed',
      'key_limit_reached',
      'permission_denied',
      'tenant_exists',
      'egress_refused',
    ]);
    await fc.assert(
      fc.asyncProperty(bent, async ({ one, bytes }) => {
        const { error } = await rawCall(client, { path: one.name, responseStream: one.method.kind !== 'unary' }, bytes);
        expect([undefined, status.INTERNAL, status.UNKNOWN].indexOf(error?.code)).toBeLessThanOrEqual(0);
        expect(known).toContain(error === null ? undefined : (wireErrorOf(error)?.code ?? 'without a code'));
      }),
      { numRuns: 300 },
    );
    expect(node.logged).toEqual([]);
  });

  it('do no harm on a worker stream that has said hello', async () => {
    const message = fc.record({
      results: fc.array(
        fc.record({
          resultId: fc.bigInt({ min: 0n, max: 9n }),
          runId: fc.constantFrom('', 'x', NOBODY),
          path: fc.string({ maxLength: 5 }),
          attempt: fc.nat(3),
          token: fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
        }),
        { maxLength: 3 },
      ),
      credits: fc.nat(3),
      revoke: fc.nat(5),
      draining: fc.boolean(),
      pong: fc.bigInt({ min: 0n, max: 3n }),
      inventory: fc
        .array(fc.constant({ runId: NOBODY, path: 'p', attempt: 1 }), { maxLength: 2 })
        .map((holds) => ({ holds })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 5 }), async (messages) => {
        const stream = client.bridge.work(client.metadata);
        const outcome = new Promise<string>((resolve) => {
          stream.on('data', () => undefined);
          stream.on('error', (error) => resolve(wireErrorOf(error)?.code ?? error.message));
          stream.on('end', () => resolve('ended'));
        });
        stream.write(WorkRequest.fromPartial({ hello: { workerId: NOBODY, slots: 4 } }));
        for (const one of messages) stream.write(WorkRequest.fromPartial(one));
        stream.end();
        expect(['ended', 'invalid_argument']).toContain(await outcome);
      }),
      { numRuns: 50 },
    );
    // Endpoints that the tests above made have sessions of their own, some of them only after a look of the node.
    const { rows } = await database.db.query<{ count: number }>('select count(*)::int as count from ductor.endpoint');
    const left = { sessions: rows[0]?.count, workers: rows[0]?.count };
    await expect.poll(() => node.bridge.stats(), { timeout: 10_000 }).toMatchObject(left);
    expect(node.logged).toEqual([]);
  });
});
