/** The SDK against a real engine: typed workflows, retries, failure edges, cancel, keys, results, lists. */
import {
  type AnyWorkflow,
  cel,
  createWorker,
  defineWorkflow,
  DuctorClient,
  NonRetryableError,
  RunFailedError,
  type RunStateName,
  type Worker,
} from '@ductor/sdk';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { dataFolder } from '../support/scratch.js';
import { sleep, until } from '../support/wait.js';

cleanUpProcesses();

const order = z.object({ id: z.string(), amount: z.number() });
const attempts = new Map<string, number[]>();

const shaky = defineWorkflow({
  slug: 'shaky-order',
  input: order,
  build(w) {
    const charged = w.step('charge', {
      retry: { maxAttempts: 4, initialInterval: '50ms', backoff: 1 },
      run: async ({ id, amount }, { attempt, idempotencyKey }) => {
        attempts.set(id, [...(attempts.get(id) ?? []), attempt]);
        if (attempt < 3) throw new Error(`the bank is closed, attempt ${attempt}`);
        return { receipt: `${id} ${idempotencyKey}`, cents: amount * 100 };
      },
    });
    const double = w.project('double', { cents: cel<number>`${charged.output.cents} * 2.0` });
    return { receipt: charged.output.receipt, doubled: double.output.cents };
  },
});

const handled = defineWorkflow({
  slug: 'handled-failure',
  input: order,
  build(w) {
    const risky = w.step('risky', {
      retry: { maxAttempts: 5, initialInterval: '10ms' },
      run: ({ id }): number => {
        throw new NonRetryableError(`order ${id} cannot be shipped`);
      },
    });
    const apology = w.step('apology', {
      onFailure: risky,
      input: { why: risky.error.message, attempt: risky.error.attempt },
      run: async ({ why, attempt }) => `sorry: ${why} (attempt ${attempt})`,
    });
    const audit = w.step('audit', { always: risky, input: { ref: w.input.id }, run: ({ ref }) => `seen ${ref}` });
    return { apology: apology.output, audit: audit.output };
  },
});

const failing = defineWorkflow({
  slug: 'failing',
  input: order,
  build: (w) =>
    w.step('fail', {
      retry: { maxAttempts: 2, initialInterval: '10ms' },
      run: (): number => {
        throw new RangeError('always');
      },
    }).output,
});

const aborted: string[] = [];
const began: string[] = [];
const patient = defineWorkflow({
  slug: 'patient',
  input: order,
  build: (w) =>
    w.step('hang', {
      run: async ({ id }, { signal }) => {
        began.push(id);
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        aborted.push(String(signal.reason));
        throw new Error('stopped as told');
      },
    }).output,
});

const served: string[] = [];
const shared = (name: string): AnyWorkflow =>
  defineWorkflow({
    slug: 'shared',
    input: z.object({ id: z.string() }),
    build: (w) =>
      w.step('serve', {
        run: async () => {
          served.push(name);
          await sleep(60);
          return name;
        },
      }).output,
  });

let engine: Engine;
let client: DuctorClient;
let workers: readonly Worker[] = [];
beforeAll(async () => {
  engine = await startEngine({ dataDir: dataFolder('sdk') });
  const connection = { engine: engine.address, apiKey: engine.apiKey };
  client = new DuctorClient(connection);
  const start = (workflows: NonNullable<Parameters<typeof createWorker>[0]['workflows']>, capacity: number): Worker =>
    createWorker({ ...connection, workflows, capacity, handleSignals: false });
  workers = [start([shaky, handled, failing, patient], 50), start([shared('left')], 5), start([shared('right')], 5)];
  await Promise.all(workers.map(({ ready }) => ready));
});
// While the engine is still there: a worker stops once its last results are taken.
afterAll(async () => {
  client?.close();
  await Promise.all(workers.map((worker) => worker.stop()));
});

describe('a typed workflow', () => {
  it('retries failed attempts and answers a typed output', async () => {
    const run = await client.trigger(shaky, { id: 'o-1', amount: 12.5 });
    const output = await run.result({ timeoutMs: 20_000 });
    expectTypeOf(output).toEqualTypeOf<{ receipt: string; doubled: number }>();
    expect(attempts.get('o-1')).toEqual([1, 2, 3]);
    expect(output.doubled).toBe(2_500);
    expect(output.receipt).toMatch(/^o-1 .+/);
  });

  it('goes on along a failure edge and an always edge', async () => {
    const run = await client.trigger(handled, { id: 'o-2', amount: 1 });
    await expect(run.result({ timeoutMs: 20_000 })).resolves.toEqual({
      apology: 'sorry: order o-2 cannot be shipped (attempt 1)',
      audit: 'seen o-2',
    });
    const { state, steps } = await client.get(run.id);
    expect(state).toBe('COMPLETED');
    expect(steps.find(({ path }) => path === 'risky')).toMatchObject({ state: 'FAILED', attempt: 1 });
  });

  it('says where and why a run failed', async () => {
    const run = await client.trigger(failing, { id: 'o-3', amount: 1 });
    const error: unknown = await run.result({ timeoutMs: 20_000 }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(RunFailedError);
    expect(error).toMatchObject({ state: 'FAILED', step: 'fail', code: 'RangeError' });
  });

  it('refuses an input its schema refuses before anything is sent', async () => {
    // @ts-expect-error an amount is a number
    await expect(client.trigger(shaky, { id: 'o-4', amount: 'much' })).rejects.toThrow(z.ZodError);
  });
});

describe('cancel', () => {
  it("reaches the body's AbortSignal, and the run ends CANCELLED", async () => {
    const run = await client.trigger(patient, { id: 'p-1', amount: 1 });
    await until('the body to run', () => began.includes('p-1'));
    await run.cancel('the customer left');
    const error: unknown = await run.result({ timeoutMs: 20_000 }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ state: 'CANCELLED' });
    expect(aborted).toEqual([expect.stringContaining('cancelled')]);
    const { steps } = await client.get(run.id);
    expect(steps).toEqual([expect.objectContaining({ path: 'hang', state: 'CANCELLED', attempt: 1 })]);
  });
});

describe('an idempotency key', () => {
  it('answers the first run for the same input, also when both come at once', async () => {
    const trigger = (): ReturnType<typeof client.trigger> =>
      client.trigger(shaky.slug, { id: 'k-1', amount: 3 }, { idempotencyKey: 'key-1' });
    const [one, two] = await Promise.all([trigger(), trigger()]);
    const three = await trigger();
    expect(new Set([one.id, two.id, three.id]).size).toBe(1);
    expect([one, two].filter(({ existing }) => existing)).toHaveLength(1);
    expect(three.existing).toBe(true);
    await one.result({ timeoutMs: 20_000 });
    expect(attempts.get('k-1')).toEqual([1, 2, 3]);
  });

  it('is a conflict with another input', async () => {
    await client.trigger(shaky, { id: 'k-2', amount: 3 }, { idempotencyKey: 'key-2' });
    const other = client.trigger(shaky, { id: 'k-2', amount: 4 }, { idempotencyKey: 'key-2' });
    await expect(other).rejects.toMatchObject({ name: 'DuctorError', code: 'idempotency_conflict' });
  });
});

describe('what a client sees of a run', () => {
  it('watches every change until it is closed', async () => {
    const run = await client.trigger(shaky, { id: 'w-1', amount: 1 });
    const states: RunStateName[] = [];
    let steps: readonly string[] = [];
    for await (const view of run.watch()) {
      states.push(view.state);
      steps = view.steps.map(({ path, state }) => `${path} ${state}`);
    }
    expect(states.at(-1)).toBe('COMPLETED');
    expect(states.length).toBeGreaterThanOrEqual(2);
    expect(states.filter((state) => state === 'COMPLETED')).toHaveLength(1);
    expect(steps).toEqual(['charge COMPLETED', 'double COMPLETED']);
  });

  it('stops waiting after its timeout while the run goes on', async () => {
    const run = await client.trigger(patient, { id: 'w-2', amount: 1 });
    await expect(run.result({ timeoutMs: 100 })).rejects.toMatchObject({ name: 'TimeoutError' });
    await until('the body to run', () => began.includes('w-2'));
    await run.cancel();
    await expect(run.result({ timeoutMs: 20_000 })).rejects.toMatchObject({ state: 'CANCELLED' });
  });

  it('answers result() of a run that closed before', async () => {
    const run = await client.trigger(shaky, { id: 'w-3', amount: 2 });
    await run.result({ timeoutMs: 20_000 });
    await expect(client.run(run.id).result({ timeoutMs: 5_000 })).resolves.toMatchObject({ doubled: 400 });
  });

  it('says that there is no such run', async () => {
    const unknown = '01932c07-0000-7000-8000-00000000000a';
    await expect(client.get(unknown)).rejects.toMatchObject({ code: 'not_found' });
    await expect(client.run(unknown).result({ timeoutMs: 5_000 })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('lists runs newest first, page by page, by workflow and state', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const run = await client.trigger(handled, { id: `l-${index}`, amount: index });
      await run.result({ timeoutMs: 20_000 });
      ids.unshift(run.id);
    }
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.list({
        workflow: 'handled-failure',
        state: 'COMPLETED',
        pageSize: 2,
        ...(cursor !== undefined && { cursor }),
      });
      expect(page.runs.length).toBeLessThanOrEqual(2);
      listed.push(...page.runs.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(listed.slice(0, 5)).toEqual(ids);
    expect(new Set(listed).size).toBe(listed.length);
    const failed = await client.list({ workflow: 'failing' });
    expect(failed.runs.map(({ state }) => state)).toEqual(['FAILED']);
    expect((await client.list({ workflow: 'failing', state: 'COMPLETED' })).runs).toEqual([]);
  });
});

describe('two workers', () => {
  it('share the tasks of one workflow', async () => {
    const runs = await Promise.all(
      Array.from({ length: 40 }, (_, index) => client.trigger('shared', { id: `s-${index}` })),
    );
    const names = await Promise.all(runs.map((run) => run.result({ timeoutMs: 20_000 })));
    expect(served).toHaveLength(40);
    const left = names.filter((name) => name === 'left').length;
    expect(left).toBeGreaterThanOrEqual(10);
    expect(left).toBeLessThanOrEqual(30);
  });
});
