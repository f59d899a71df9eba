/** The two forms of the bridge where the engine calls the app, on a whole engine and a real database. */
import { createServer } from 'node:http';
import {
  createWorker,
  defineWorkflow,
  DuctorClient,
  expressCallback,
  type ExpressCallbackOptions,
  NonRetryableError,
  type Workflow,
} from '@ductor/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readSettings } from '../../engine/src/config.js';
import { clusterSecret } from '../../engine/src/kernel/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { createLog } from '../../engine/src/telemetry/index.js';
import { type RunningEngine, startEngine } from '../../engine/src/wire.js';
import { type CallbackForm, type CallbackTestApp, callbackApp, httpApp, listen } from '../support/callback-apps.js';
import { until } from '../support/wait.js';

const test = testDatabase();
const FORMS: readonly CallbackForm[] = ['http', 'grpc'];

let engine: RunningEngine;
let client: DuctorClient;
let connection: { readonly engine: string; readonly apiKey: string };
const apps: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  const settings = readSettings({
    ...{ DATABASE_URL: test.url, DUCTOR_PORT: '0', DUCTOR_ALLOW_UNSAFE_DATABASE: 'true' },
    DUCTOR_EGRESS_ALLOW: '127.0.0.1',
  });
  const secret = clusterSecret('a secret for tests, 32 bytes long');
  engine = await startEngine({ url: test.url, settings, secret, log: createLog({ level: 'silent' }) });
  const { apiKey } = await engine.tenancy.ensureDevelopmentTenant(null);
  connection = { engine: engine.address, apiKey };
  client = new DuctorClient(connection);
});
afterEach(async () => {
  for (const app of apps.splice(0)) await app.stop();
});
afterAll(async () => {
  client.close();
  await engine.stop();
});

function kept<T extends { stop(): Promise<void> }>(app: T): T {
  apps.push(app);
  return app;
}

let names = 0;
const fresh = (what: string): string => `${what}-${(names += 1)}`;
const QUICK = { maxAttempts: 3, initialInterval: '10ms', maxInterval: '10ms' } as const;

/** A workflow of one step that doubles, by what the function does with attempts. */
function doubling(
  slug: string,
  body: (n: number, attempt: number, signal: AbortSignal) => number | Promise<number>,
  timeout = '10s',
): Workflow<{ n: number }, number> {
  return defineWorkflow({
    slug,
    input: z.object({ n: z.number() }),
    build: (w) =>
      w.step('double', {
        retry: QUICK,
        timeout,
        run: ({ n }, { attempt, signal }) => body(n, attempt, signal),
      }).output,
  });
}

const start = async (form: CallbackForm, workflow: Workflow<never, unknown>, name = fresh(form)) =>
  kept(await callbackApp(form, { connection, workflows: [workflow], name }));

describe.each(FORMS)('an app that is called by %s', (form) => {
  it('runs steps, fails and is tried again, as a worker does', async () => {
    const workflow = doubling(fresh('doubles'), (n, attempt) => {
      if (attempt === 1) throw new RangeError('not yet');
      return 2 * n;
    });
    await start(form, workflow);
    const runs = await Promise.all([1, 2, 3].map((n) => client.trigger(workflow, { n })));
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual([2, 4, 6]);
    const [step] = (await client.get(runs[0]?.id ?? '')).steps;
    expect(step).toMatchObject({ attempt: 2 });
  });

  it('says that trying again is useless', async () => {
    const workflow = doubling(fresh('fails'), () => {
      throw new NonRetryableError('never');
    });
    await start(form, workflow);
    const run = await client.trigger(workflow, { n: 1 });
    await expect(run.result()).rejects.toMatchObject({ code: 'NonRetryableError' });
    expect((await client.get(run.id)).steps).toMatchObject([{ attempt: 1 }]);
  });

  it('hears of a cancel', async () => {
    let isRunning = false;
    let reason: unknown;
    const workflow = doubling(fresh('waits'), (n, _, signal) => {
      isRunning = true;
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          reject(new Error('stopped'));
        });
      });
    });
    await start(form, workflow);
    const run = await client.trigger(workflow, { n: 1 });
    await until('the body to run', () => isRunning);
    await run.cancel();
    await until('the body to be told', () => reason !== undefined);
    await expect(run.result()).rejects.toMatchObject({ state: 'CANCELLED' });
  });

  it('costs a retry when it does not answer in time', async () => {
    const workflow = doubling(
      fresh('hangs'),
      (n, attempt) => (attempt === 1 ? new Promise<number>(() => undefined) : n),
      '300ms',
    );
    await start(form, workflow);
    const run = await client.trigger(workflow, { n: 7 });
    expect(await run.result()).toBe(7);
    expect((await client.get(run.id)).steps).toMatchObject([{ attempt: 2 }]);
  });

  it('shares a workflow with workers: each step runs where its queue is served', async () => {
    const slug = fresh('mixed');
    const ran: string[] = [];
    const step = (where: string) => (n: number) => {
      ran.push(where);
      return n + 1;
    };
    const build = (worker: string): Workflow<{ n: number }, number> =>
      defineWorkflow({
        slug,
        input: z.object({ n: z.number() }),
        build(w) {
          const first = w.step('first', { input: w.input.n, run: step(`first by ${worker}`) });
          return w.step('second', { input: first.output, queue: 'called', run: step(`second by ${worker}`) }).output;
        },
      });
    const worker = createWorker({ ...connection, workflows: [build('stream')], handleSignals: false });
    kept(worker);
    await worker.ready;
    kept(await callbackApp(form, { connection, workflows: [build(form)], name: fresh(form), queues: ['called'] }));
    const run = await client.trigger(build('nobody'), { n: 1 });
    expect(await run.result()).toBe(3);
    expect(ran).toEqual(['first by stream', `second by ${form}`]);
  });
});

describe('a call that the engine has signed', () => {
  it('is taken once, by its app alone, as it is and while it is new', async () => {
    const ran: number[] = [];
    const workflow = doubling(fresh('signed'), (n) => {
      ran.push(n);
      return 2 * n;
    });
    const app = kept(await httpApp({ connection, workflows: [workflow], name: fresh('signed') }));
    expect(await (await client.trigger(workflow, { n: 3 })).result()).toBe(6);
    const [call] = app.calls;
    if (call === undefined) return expect.fail('no call');
    const headers = {
      'content-type': String(call.headers['content-type']),
      'webhook-id': String(call.headers['webhook-id']),
      'webhook-timestamp': String(call.headers['webhook-timestamp']),
      'webhook-signature': String(call.headers['webhook-signature']),
    };
    const send = async (url: string, more: Record<string, string> = {}, body = call.body): Promise<string> => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: new Uint8Array(body),
      });
      return `${response.status} ${await response.text()}`;
    };
    expect(await send(app.url)).toMatch(/^401 .*there before/);
    expect(await send(app.url, { 'webhook-id': 'another' })).toMatch(/^401 .*signature/);
    const bent = Buffer.from(call.body);
    bent.writeUInt8(bent.readUInt8(40) ^ 1, 40);
    expect(await send(app.url, {}, bent)).toMatch(/^401 .*signature/);
    const old = String(Number(headers['webhook-timestamp']) - 301);
    expect(await send(app.url, { 'webhook-timestamp': old })).toMatch(/^401 .*5 minutes/);
    // The same key and another audience; another endpoint's key.
    const elsewhere = (signingKey: readonly string[], audience?: string): Promise<string> =>
      handled({ workflows: [workflow], signingKey, ...(audience === undefined ? {} : { audience }) });
    expect(await send(await elsewhere(app.signingKeys, 'https://other.example.com'))).toMatch(/^401 .*audience/);
    const other = kept(await httpApp({ connection, workflows: [workflow], name: fresh('other') }));
    expect(await send(await elsewhere(other.signingKeys))).toMatch(/^401 .*signature/);
    expect(ran).toEqual([3]);
  });
});

/** Serves a handler; returns its URL. */
async function handled(options: ExpressCallbackOptions): Promise<string> {
  const server = createServer(expressCallback({ ...options, log: () => undefined }));
  const port = await listen(server);
  kept({ stop: async () => void server.close() });
  return `http://127.0.0.1:${port}/`;
}

/** What an HTTP app may answer instead of a result. */
const MISBEHAVIOURS: Readonly<Record<string, Parameters<typeof createServer>[1]>> = {
  'resets the connection': (request) => request.socket.resetAndDestroy(),
  'cuts its answer off': (_, response) => {
    response.writeHead(200, { 'content-length': 1_000 });
    response.write('half', () => response.destroy());
  },
  'answers garbage': (_, response) => response.end(Buffer.from('<html>hello</html>')),
  'answers nothing': (_, response) => response.end(),
  'answers 500': (_, response) => response.writeHead(500).end('broken'),
  'answers with a redirect': (_, response) => response.writeHead(302, { location: 'http://127.0.0.1/' }).end(),
  'answers too much': (_, response) => response.end(Buffer.alloc(3_000_000)),
};

describe('an HTTP app that misbehaves', () => {
  it.each(Object.entries(MISBEHAVIOURS))('and %s costs a retry', async (_, misbehave) => {
    const workflow = doubling(fresh('bad'), (n) => 2 * n);
    let calls = 0;
    const app = await httpApp({
      ...{ connection, workflows: [workflow], name: fresh('bad') },
      before(call, response) {
        calls += 1;
        if (calls > 1) return false;
        misbehave?.(response.req, response);
        return true;
      },
    });
    kept(app);
    const run = await client.trigger(workflow, { n: 4 });
    expect(await run.result()).toBe(8);
    expect((await client.get(run.id)).steps).toMatchObject([{ attempt: 2 }]);
  });

  it('and answers with the result of another attempt changes nothing', async () => {
    const workflow = doubling(fresh('mixed-up'), (n) => 2 * n);
    let first: Buffer | undefined;
    const app: CallbackTestApp = await httpApp({
      ...{ connection, workflows: [workflow], name: fresh('mixed-up') },
      before(call, response) {
        if (first === undefined) {
          const { end } = response;
          response.end = ((bytes: Buffer) => {
            first = Buffer.from(bytes);
            return end.call(response, bytes, 'utf8');
          }) as typeof response.end;
          return false;
        }
        if (first.length === 0) return false;
        response.end(first);
        first = Buffer.alloc(0);
        return true;
      },
    });
    kept(app);
    expect(await (await client.trigger(workflow, { n: 1 })).result()).toBe(2);
    const run = await client.trigger(workflow, { n: 50 });
    expect(await run.result()).toBe(100);
    expect((await client.get(run.id)).steps).toMatchObject([{ attempt: 2 }]);
  });
});
