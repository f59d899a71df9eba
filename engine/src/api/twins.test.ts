/** Every method that is answered once, through every door: the same answer from gRPC, REST, Connect and gRPC-Web. */
import type { Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { fromJson, toJson, type DescMethod, type DescMethodUnary, type JsonValue } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../store/testing/index.js';
import { testClient } from './grpc/testing/test-client.js';
import { startTestNode, type TestNode } from './grpc/testing/test-node.js';
import { member } from './testing/http-call.js';
import type { ContractMethod } from './contract/contract.js';
import { bytesOf, CONTRACT, methodNamed, viaConnect, viaGrpc, viaRest, type Caller } from './testing/three-doors.js';

const database = testDatabase();
let node: TestNode;
let caller: Caller;
let runId: string;

const WAIT = { ref: 'pause', type: 'STEP_TYPE_WAIT', args: { duration: '1h' } };
let count = 0;
const fresh = (): string => `fresh-${(count += 1)}`;

type RequestJson = { readonly [key: string]: JsonValue };

/** A run of `waits`. */
async function freshRun(): Promise<string> {
  const { json } = await viaRest(caller, methodNamed('TriggerRun'), { family_slug: 'waits' });
  return String(member(json, 'data', 'id'));
}

/** Good requests by the methods' names. */
const REQUESTS: Readonly<Record<string, () => RequestJson | Promise<RequestJson>>> = {
  CreateWorkflow: () => ({ family_slug: fresh(), title: 'Ünïcödé', steps: [WAIT] }),
  GetWorkflow: () => ({ workflow_id: 'waits' }),
  ListWorkflows: () => ({ pagination: { page_size: 1 } }),
  UpdateWorkflow: () => ({ workflow_id: 'drafted', definition: { family_slug: 'drafted', steps: [WAIT] } }),
  ValidateWorkflow: () => ({ definition: { family_slug: 'x', steps: [{ ...WAIT, args: { duration: 'soon' } }] } }),
  PublishWorkflow: () => ({ workflow_id: 'waits' }),
  ListWorkflowVersions: () => ({ workflow_id: 'waits' }),
  TriggerRun: () => ({ family_slug: 'waits', input: { amount: 1.5, list: [null] }, attributes: { region: 'CA' } }),
  TriggerAndWait: () => ({ family_slug: 'waits', wait: '20ms' }),
  TriggerRuns: () => ({ items: [{ family_slug: 'waits', idempotency_key: 'one' }, { family_slug: 'nobody-has' }] }),
  GetRun: () => ({ run_id: runId }),
  ListRuns: () => ({ pagination: { page_size: 2 }, state: 'RUN_STATE_WAITING', family_slug: 'waits' }),
  GetRunHistory: () => ({ run_id: runId, pagination: { page_size: 1 } }),
  CancelRun: async () => ({ run_id: await freshRun(), reason: 'enough' }),
};

const MISSING = '00000000-0000-7000-8000-000000000000';

/** A request that names what is not there: every method has one, also those without a good one above. */
function strange({ bindings }: ContractMethod): RequestJson {
  const names = [...(bindings[0]?.template ?? '').matchAll(/\{([a-z_]+)\}/g)].map(([, name = '']) => name);
  return Object.fromEntries(names.map((name) => [name, MISSING]));
}

const UNARY = [...CONTRACT.methods.values()].filter(({ kind }) => kind === 'unary');

/** What differs from call to call, masked. */
function masked(json: unknown): unknown {
  const text = JSON.stringify(json)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/fresh-\d+/g, 'fresh')
    .replaceAll(/"next_cursor":"[^"]+"/g, '"next_cursor":"CURSOR"')
    .replaceAll(/"record_version":\d+/g, '"record_version":0')
    .replaceAll(/"existing":(true|false)/g, '"existing":false')
    .replaceAll(/"waiting_for":"[^"]*"/g, '"waiting_for":""');
  return JSON.parse(text);
}

function transports(address: string): readonly (readonly [string, Transport])[] {
  const options = { baseUrl: `http://${address}`, httpVersion: '1.1' } as const;
  return [
    ['Connect, JSON', createConnectTransport({ ...options, useBinaryFormat: false })],
    ['Connect, protobuf', createConnectTransport({ ...options, useBinaryFormat: true })],
    ['gRPC-Web, JSON', createGrpcWebTransport({ ...options, useBinaryFormat: false })],
    ['gRPC-Web, protobuf', createGrpcWebTransport({ ...options, useBinaryFormat: true })],
  ];
}

const header = (): Record<string, string> => ({ authorization: `Bearer ${caller.apiKey}` });

const isUnary = (desc: DescMethod): desc is DescMethodUnary => desc.methodKind === 'unary';

/** A call by Connect's own client. */
async function viaClient(transport: Transport, name: string, json: JsonValue): Promise<unknown> {
  const { desc } = methodNamed(name);
  if (!isUnary(desc)) throw new TypeError(`${name} is not answered once`);
  const request = fromJson(desc.input, json, { registry: CONTRACT.registry });
  const { message } = await transport.unary(desc, undefined, undefined, header(), request);
  const options = { registry: CONTRACT.registry, alwaysEmitImplicit: true, useProtoFieldName: true };
  return toJson(desc.output, message, options);
}

beforeAll(async () => {
  node = await startTestNode(database.db);
  const { apiKey, tenantId } = await node.tenant('twins');
  caller = { address: node.address, apiKey, grpc: testClient(node.address, apiKey) };
  for (const slug of ['waits', 'drafted']) {
    await node.registry.create(tenantId, { family_slug: slug, steps: [WAIT] });
    await node.registry.publish(tenantId, slug, 0);
  }
  runId = await freshRun();
});
afterAll(async () => {
  caller.grpc.close();
  await node.stop();
});

describe('methods that are answered once', () => {
  it.each(Object.keys(REQUESTS))('%s answers alike at every door', async (name) => {
    const method = methodNamed(name);
    const make = REQUESTS[name] ?? expect.unreachable();
    const byGrpc = await viaGrpc(caller, method, bytesOf(method, await make()));
    const byRest = await viaRest(caller, method, await make());
    const byConnect = await viaConnect(caller, method, JSON.stringify(await make()));
    expect([byGrpc.code, byRest.code, byConnect.code]).toEqual(['ok', 'ok', 'ok']);
    expect(byGrpc.json).not.toEqual({});
    expect(masked(byRest.json)).toEqual(masked(byGrpc.json));
    expect(masked(byConnect.json)).toEqual(masked(byGrpc.json));
    for (const [protocol, transport] of transports(node.address)) {
      expect([protocol, masked(await viaClient(transport, name, await make()))]).toEqual([
        protocol,
        masked(byGrpc.json),
      ]);
    }
  });

  it.each(UNARY.map(({ name }) => name))('%s of what is not there is refused alike, or is empty', async (name) => {
    const method = methodNamed(name);
    const json = strange(method);
    // Workers alone speak to the bridge, and none by REST.
    const hasRest = method.bindings.length > 0;
    expect(hasRest || method.service.endsWith('BridgeService')).toBe(true);
    const answers = [
      await viaGrpc(caller, method, bytesOf(method, json)),
      ...(hasRest ? [await viaRest(caller, method, json)] : []),
      await viaConnect(caller, method, JSON.stringify(json)),
    ];
    const [first] = answers;
    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => first?.code));
    expect(answers.map(({ problems }) => problems)).toEqual(answers.map(() => first?.problems));
    expect(['internal', 'route_not_found']).not.toContain(first?.code);
  });
});
