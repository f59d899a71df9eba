/** Sub-steps of bodies in each form of the bridge, on a whole engine and a real database. */
import { createWorker, defineWorkflow, DuctorClient, type StepContext, type Workflow } from '@ductor/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readSettings } from '../../engine/src/config.js';
import { clusterSecret } from '../../engine/src/kernel/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { createLog } from '../../engine/src/telemetry/index.js';
import { type RunningEngine, startEngine } from '../../engine/src/wire.js';
import { callbackApp } from '../support/callback-apps.js';

const test = testDatabase();
const FORMS = ['stream', 'http', 'grpc'] as const;

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

let names = 0;
const fresh = (what: string): string => `${what}-${(names += 1)}`;

/** A workflow of one step. */
function single<Out>(body: (n: number, ctx: StepContext) => Promise<Out>): Workflow<{ n: number }, unknown> {
  return defineWorkflow({
    slug: fresh('parts'),
    input: z.object({ n: z.number() }),
    build: (w) =>
      w.step('work', {
        retry: { maxAttempts: 3, initialInterval: '10ms', maxInterval: '10ms' },
        run: ({ n }, ctx) => body(n, ctx),
      }).output,
  });
}

async function serve(form: (typeof FORMS)[number], workflow: Workflow<never, unknown>): Promise<void> {
  if (form !== 'stream') {
    apps.push(await callbackApp(form, { connection, workflows: [workflow], name: fresh(form) }));
    return;
  }
  const worker = createWorker({ ...connection, workflows: [workflow], handleSignals: false, log: () => undefined });
  await worker.ready;
  apps.push(worker);
}

describe.each(FORMS)('sub-steps over %s', (form) => {
  it('are done once over all attempts, one after another and side by side, in one body each attempt', async () => {
    const done: string[] = [];
    let bodies = 0;
    const workflow = single(async (n, ctx) => {
      bodies += 1;
      const part = <T>(name: string, value: T) =>
        ctx.run(name, () => {
          done.push(name);
          return value;
        });
      const first = await part('first', { n, at: new Date(3), big: 1n });
      const both = await Promise.all([part('left', first.n + 1), part('right', first.n + 2)]);
      if (ctx.attempt === 1) throw new RangeError('not yet');
      return { first, both, last: await part('last', undefined) };
    });
    await serve(form, workflow);
    const run = await client.trigger(workflow, { n: 1 });
    expect(await run.result()).toEqual({ first: { n: 1, at: new Date(3), big: 1n }, both: [2, 3], last: null });
    expect([done.toSorted(), bodies]).toEqual([['first', 'last', 'left', 'right'], 2]);
  });

  it('that are too large fail the step at once, and say why', async () => {
    const workflow = single(async (_, ctx) => {
      await ctx.run('small', () => 'x');
      await ctx.run('large', () => 'x'.repeat(1024 * 1024));
    });
    await serve(form, workflow);
    const run = await client.trigger(workflow, { n: 1 });
    await expect(run.result()).rejects.toMatchObject({
      code: 'value_too_large',
      message: expect.stringContaining('sub-step large'),
    });
    expect((await client.get(run.id)).steps[0]).toMatchObject({ attempt: 1 });
  });

  it('stop with the run: what is under way ends, nothing else begins', async () => {
    const done: string[] = [];
    let isUnderWay = (): void => undefined;
    const underWay = new Promise<void>((resolve) => (isUnderWay = resolve));
    const workflow = single(async (_, ctx) => {
      await ctx.run('one', () => done.push('one'));
      isUnderWay();
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
      await ctx.run('two', () => done.push('two'));
    });
    await serve(form, workflow);
    const run = await client.trigger(workflow, { n: 1 });
    await underWay;
    await run.cancel();
    await expect(run.result()).rejects.toMatchObject({ state: 'CANCELLED' });
    expect(done).toEqual(['one']);
  });
});
