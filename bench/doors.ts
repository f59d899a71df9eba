/**
 * Calls a second through each door of one node, and what each costs it in processor time: gRPC, REST, Connect with JSON
 * and with protobuf. The node is a process of its own on the PostgreSQL of DUCTOR_TEST_DATABASE_URL (default: an
 * embedded one). 64 calls are in flight; medians of five rounds, in which the doors take turns.
 *
 * ListWorkflowVersions reads a row or two; ValidateWorkflow of a definition never leaves the process, and so shows what
 * the doors cost.
 *
 * Run: npx tsx bench/doors.ts [seconds for each figure, default 1]
 */
import { Agent, request } from 'node:http';
import { bytesOf, methodNamed } from '../engine/src/api/testing/three-doors.js';
import { restTwin } from '../engine/src/api/testing/rest-twin.js';
import { rawCall, testClient } from '../engine/src/api/grpc/testing/test-client.js';
import { serveNode, startNode, type ServedNode } from './serve-node.js';

const SECONDS = Number(process.argv[2] ?? 1);
const IN_FLIGHT = 64;
const ROUNDS = 5;
const WAIT = { ref: 'pause', type: 'STEP_TYPE_WAIT', args: { duration: '2s' } };
const GREET = {
  ref: 'greet',
  type: 'STEP_TYPE_DATAFLOW',
  args: { operation: 'project', project: { message: '"hello"' } },
};
const EDGE = { source_ref: 'greet', target_ref: 'pause', type: 'EDGE_TYPE_SUCCESS' };
const HELLO = { family_slug: 'hello', title: 'Hello', steps: [GREET, WAIT], edges: [EDGE] };
const CALLS = [
  ['ListWorkflowVersions', { workflow_id: 'hello' }],
  ['ValidateWorkflow', { definition: HELLO }],
] as const;

/** What the node says first. */
interface Hello {
  readonly address: string;
  readonly apiKey: string;
}

function serve(): Promise<void> {
  return serveNode(async (node) => {
    const { tenantId, apiKey } = await node.tenant('bench');
    await node.registry.create(tenantId, HELLO);
    await node.registry.publish(tenantId, 'hello', 0);
    return { apiKey };
  });
}

const median = (values: readonly number[] = []): number =>
  [...values].sort((x, y) => x - y)[Math.floor(values.length / 2)] ?? 0;

/** Calls again and again, so many at once. */
async function rate(call: () => Promise<unknown>): Promise<{ readonly perSecond: number; readonly calls: number }> {
  let calls = 0;
  const startMs = performance.now();
  const endMs = startMs + SECONDS * 1_000;
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (performance.now() < endMs) {
        await call();
        calls += 1;
      }
    }),
  );
  return { perSecond: (calls * 1000) / (performance.now() - startMs), calls };
}

const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });

function http(
  address: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string | Uint8Array,
) {
  const [host, port] = address.split(':');
  return new Promise<void>((resolve, reject) => {
    const all = { ...headers, 'content-length': String(Buffer.byteLength(body)) };
    const sent = request({ host, port, method, path, headers: all, agent }, (response) => {
      response.resume();
      response.on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`))));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function measureAll(node: ServedNode<Hello>): Promise<void> {
  const { address, apiKey } = node.hello;
  const client = testClient(address, apiKey);
  const authorization = `Bearer ${apiKey}`;
  for (const [name, json] of CALLS) {
    const method = methodNamed(name);
    const bytes = bytesOf(method, json);
    const rest = restTwin(method, json);
    const text = JSON.stringify(json);
    const asJson = { authorization, 'content-type': 'application/json' };
    const asProto = { authorization, 'content-type': 'application/proto' };
    const doors = {
      gRPC: async () => {
        const { error } = await rawCall(client, { path: method.path, responseStream: false }, bytes);
        if (error !== null) throw error;
      },
      REST: () => http(address, rest.method, rest.path, asJson, rest.body),
      'Connect, JSON': () => http(address, 'POST', method.path, asJson, text),
      'Connect, protobuf': () => http(address, 'POST', method.path, asProto, bytes),
    };
    // In turns, so that whatever else the machine does falls on all of them.
    const rates = new Map<string, number[]>(Object.keys(doors).map((door) => [door, []]));
    const costs = new Map<string, number[]>(Object.keys(doors).map((door) => [door, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [door, call] of Object.entries(doors)) {
        const before = (await node.usage()).cpuUs;
        const { perSecond, calls } = await rate(call);
        rates.get(door)?.push(perSecond);
        costs.get(door)?.push(((await node.usage()).cpuUs - before) / calls);
      }
    }
    for (const door of Object.keys(doors)) {
      const perSecond = Math.round(median(rates.get(door)));
      const us = Math.round(median(costs.get(door)));
      console.log(
        `${name.padEnd(22)} ${door.padEnd(18)} ${perSecond.toString().padStart(6)}/s ${us.toString().padStart(6)} us`,
      );
    }
  }
  client.close();
  agent.destroy();
}

if (process.argv[2] === 'serve') await serve();
else {
  const node = await startNode<Hello>(import.meta.url);
  await measureAll(node).finally(() => node.end());
}
