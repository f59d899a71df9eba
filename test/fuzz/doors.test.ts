/**
 * Requests from outside against a node on PostgreSQL: JSON bodies, protobuf bytes, HTTP/2 frames, queries with cursors
 * and filters. Each is answered or refused in words: no fault, nothing in the log, and the node serves afterwards.
 */
import { fromJson, toBinary, type JsonValue } from '@bufbuild/protobuf';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawCall, testClient } from '../../engine/src/api/grpc/testing/test-client.js';
import { startTestNode, type TestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { DRAFTS } from '../../engine/src/api/testing/drafts.js';
import { httpCall } from '../../engine/src/api/testing/http-call.js';
import { restTwin } from '../../engine/src/api/testing/rest-twin.js';
import { CONTRACT, restCall, viaGrpc, type Caller } from '../../engine/src/api/testing/three-doors.js';
import { isJsonObject } from '../../engine/src/api/json/check-message.js';
import { seededRandom } from '../../engine/src/kernel/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { RUNS, SEED } from './hunt.js';
import { Mutator } from './mutate.js';
import { sampleMessage } from './sample-message.js';

const database = testDatabase();
let node: TestNode;
let caller: Caller;

beforeAll(async () => {
  node = await startTestNode(database.db);
  const { apiKey, tenantId } = await node.tenant('fuzz');
  caller = { address: node.address, apiKey, grpc: testClient(node.address, apiKey) };
  for (const draft of DRAFTS) await node.registry.create(tenantId, draft);
  await node.registry.publish(tenantId, 'waits', 0);
});
afterAll(async () => {
  caller.grpc.close();
  await node.stop();
});

/** Inputs of the doors cost a call each. */
const TIMEOUT_MS = 600_000;
/** They answer when a run ends or takes an update, which may be never. */
const WAITING: ReadonlySet<string> = new Set(['TriggerAndWait', 'UpdateRun']);
const UNARY = [...CONTRACT.methods.values()].filter(
  ({ kind, bindings, name }) => kind === 'unary' && bindings.length > 0 && !WAITING.has(name),
);
const QUERIES = UNARY.filter(({ bindings }) => bindings[0]?.verb === 'GET');
/** Answers that are a fault of the node. */
const FAULTS: ReadonlySet<unknown> = new Set(['INTERNAL', 'UNKNOWN', 'DATA_LOSS', 500]);

/** Gives the node all inputs, some at once. Returns how often each status came, and what was a fault. */
async function hunt<T>(
  make: (mutate: Mutator) => T,
  take: (input: T) => Promise<number | string>,
): Promise<{ readonly statuses: ReadonlyMap<number | string, number>; readonly faults: readonly string[] }> {
  const mutate = new Mutator(seededRandom(SEED));
  const statuses = new Map<number | string, number>();
  const faults: string[] = [];
  let run = 0;
  const one = async (): Promise<void> => {
    while (run < RUNS && faults.length < 10) {
      run += 1;
      const input = make(mutate);
      const status = await take(input);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (FAULTS.has(status)) faults.push(`${status}: ${JSON.stringify(input)?.slice(0, 800) ?? ''}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, one));
  return { statuses, faults };
}

async function expectSound(faults: readonly string[]): Promise<void> {
  expect(faults, faults.join('\n')).toEqual([]);
  expect(node.logged).toEqual([]);
  expect((await httpCall(node.address, { path: '/readyz' })).status).toBe(200);
}

describe('fuzz of a node', { timeout: TIMEOUT_MS }, () => {
  it('JSON bodies', async () => {
    const { statuses, faults } = await hunt(
      (mutate) => {
        const method = mutate.pick(UNARY);
        const json = mutate.json([sampleMessage(method.input, mutate)]);
        const twin = restTwin(method, isJsonObject(json) ? json : { value: json });
        const isBroken = mutate.below(4) === 0;
        return { ...twin, body: isBroken ? mutate.text([String(twin.body)]) : twin.body };
      },
      async (call) => Number((await restCall(caller, call)).status),
    );
    await expectSound(faults);
    expect(statuses.get(200) ?? 0).toBeGreaterThan(RUNS / 100);
    expect(statuses.get(400) ?? 0).toBeGreaterThan(RUNS / 100);
  });

  it('protobuf bytes', async () => {
    const { statuses, faults } = await hunt(
      (mutate) => {
        const method = mutate.pick(UNARY);
        const json = sampleMessage(method.input, mutate) as JsonValue;
        const bytes = Buffer.from(
          toBinary(method.input, fromJson(method.input, json, { registry: CONTRACT.registry })),
        );
        return { method: method.name, bytes: mutate.bytes([bytes]).toString('base64') };
      },
      async ({ method: name, bytes }) => {
        const method = UNARY.find((other) => other.name === name);
        return method === undefined ? 'UNKNOWN' : (await viaGrpc(caller, method, Buffer.from(bytes, 'base64'))).status;
      },
    );
    await expectSound(faults);
    expect(statuses.get('OK') ?? 0).toBeGreaterThan(RUNS / 100);
    expect(statuses.get('INVALID_ARGUMENT') ?? 0).toBeGreaterThan(RUNS / 100);
  });

  it('HTTP/2 frames', async () => {
    const seed = await recordedCall();
    const [host = '', port = ''] = node.address.split(':');
    const { faults } = await hunt(
      (mutate) => mutate.bytes([seed]).toString('base64'),
      async (bytes) => {
        const socket = connect({ host, port: Number(port) });
        socket.on('error', () => undefined);
        socket.write(Buffer.from(bytes, 'base64'));
        // What it says is of no interest, and a node may wait for the rest of a request.
        socket.resume();
        setTimeout(() => socket.destroy(), 20);
        await once(socket, 'close');
        return 'closed';
      },
    );
    await expectSound(faults);
    const read = UNARY.find(({ name }) => name === 'ListRuns') ?? expect.fail('no ListRuns');
    expect((await viaGrpc(caller, read, Buffer.alloc(0))).status).toBe('OK');
  });

  it('queries with cursors and filters', async () => {
    const { statuses, faults } = await hunt(
      (mutate) => {
        const method = mutate.pick(QUERIES);
        const json = mutate.json([sampleMessage(method.input, mutate)]);
        const twin = restTwin(method, isJsonObject(json) ? json : { value: json });
        const path = mutate.below(2) === 0 ? twin.path : `/${mutate.text([twin.path.slice(1)])}`;
        return { ...twin, path: path.replaceAll(/[^\x21-\xff]/g, '') };
      },
      async (call) => Number((await restCall(caller, call)).status),
    );
    await expectSound(faults);
    expect(statuses.get(200) ?? 0).toBeGreaterThan(RUNS / 100);
  });
});

/** What a gRPC client sends first: preface, settings, a call. */
async function recordedCall(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
    // An empty SETTINGS frame lets the client begin.
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    setTimeout(() => socket.destroy(), 200);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = testClient(`127.0.0.1:${port}`, caller.apiKey);
  const path = '/ductor.v1.RunService/ListRuns';
  await rawCall(client, { path, responseStream: false }, Buffer.from([0x0a, 0x00]));
  client.close();
  server.close();
  return Buffer.concat(chunks);
}
