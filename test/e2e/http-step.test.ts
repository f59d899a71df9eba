/** HTTP steps over the real wire, without any worker: a kill in the middle of a call, a cancel, what is refused. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createWorker, defineWorkflow, DuctorClient } from '@ductor/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { startEngine, type Engine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { dataFolder } from '../support/scratch.js';
import { retrying, until } from '../support/wait.js';

cleanUpProcesses();

/** A call that came, and what becomes of it. */
interface Came {
  readonly path: string;
  readonly key: string;
  readonly response: ServerResponse;
  isCut: boolean;
}

const came: Came[] = [];
const server = createServer((request: IncomingMessage, response) => {
  const { url: path = '', headers } = request;
  const call: Came = { path, key: String(headers['idempotency-key']), response, isCut: false };
  came.push(call);
  response.on('close', () => (call.isCut = !response.writableFinished));
});
const calls = (path: string): readonly Came[] => came.filter((call) => call.path === path);

const workflow = defineWorkflow({
  slug: 'http-step',
  input: z.object({ url: z.string() }),
  build(w) {
    const call = w.http<{ readonly ok: boolean }>('call', { method: 'POST', url: w.input.url, body: w.input });
    return { ok: call.output.body.ok, status: call.output.status };
  },
});

let engine: Engine;
let client: DuctorClient;
let base = '';

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  base = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  engine = await startEngine({ dataDir: dataFolder('http') });
  const connection = { engine: engine.address, apiKey: engine.apiKey };
  client = new DuctorClient(connection);
  // It publishes the definition; nobody serves it afterwards.
  const worker = createWorker({ ...connection, workflows: [workflow], handleSignals: false, log: () => undefined });
  await worker.ready;
  await worker.stop();
});
afterAll(async () => {
  client.close();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

it('is made again under the same key when the engine is killed in its middle', async () => {
  const run = await client.trigger(workflow, { url: `${base}/killed` });
  await until('the call to come', () => calls('/killed').length > 0);
  await engine.kill();
  await engine.start();
  const [first, second] = await until('it to come again', () => calls('/killed').length > 1 && calls('/killed'), {
    limitMs: 60_000,
  });
  expect(second?.key).toBe(first?.key);
  expect(first?.key).toContain(run.id);
  second?.response.writeHead(201, { 'content-type': 'application/json' }).end('{"ok":true}');
  expect(await retrying(() => client.run(run.id).result())).toEqual({ ok: true, status: 201 });
  expect(calls('/killed')).toHaveLength(2);
});

it('ends with its run', async () => {
  const run = await client.trigger(workflow, { url: `${base}/cancelled` });
  await until('the call to come', () => calls('/cancelled').length > 0);
  await client.run(run.id).cancel('not wanted any more');
  await until('the connection to be cut', () => calls('/cancelled')[0]?.isCut === true);
  await expect(run.result()).rejects.toMatchObject({ state: 'CANCELLED' });
});

it('is tried again when the service asks for it, and refused where the engine may not call', async () => {
  const run = await client.trigger(workflow, { url: `${base}/busy` });
  await until('the call to come', () => calls('/busy').length > 0);
  const answeredAt = Date.now();
  calls('/busy')[0]?.response.writeHead(429, { 'retry-after': '2' }).end();
  await until('it to come again', () => calls('/busy').length > 1);
  expect(Date.now() - answeredAt).toBeGreaterThanOrEqual(2_000);
  calls('/busy')[1]?.response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":false}');
  expect(await run.result()).toEqual({ ok: false, status: 200 });

  const refused = await client.trigger(workflow, { url: 'http://169.254.169.254/latest' });
  await expect(refused.result()).rejects.toMatchObject({ code: 'egress_refused' });
});
