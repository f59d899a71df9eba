/** Control over runs by the SDK, on a real engine: cancel, joins, ends, pause, park, retry, heartbeats, explain. */
import { createWorker, defineWorkflow, DuctorClient, type StepContext, type Worker } from '@ductor/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { dataFolder } from '../support/scratch.js';
import { sleep, until } from '../support/wait.js';

cleanUpProcesses();

const order = z.object({ id: z.string() });
const began = new Set<string>();
/** When each body was told to stop, ms of this process. */
const told = new Map<string, number>();
const lastProgress: unknown[] = [];
let bankIsOpen = false;

/** Runs until it is told to stop. */
async function hang(name: string, { signal }: StepContext): Promise<never> {
  began.add(name);
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  told.set(name, performance.now());
  throw new Error('stopped as told');
}

const patient = defineWorkflow({
  slug: 'patient',
  input: order,
  build: (w) => w.step('hang', { run: ({ id }, ctx) => hang(id, ctx) }).output,
});

const race = defineWorkflow({
  slug: 'race',
  input: order,
  build(w) {
    const fast = w.step('fast', { run: ({ id }) => ({ by: `fast ${id}` }) });
    const slow = w.step('slow', { run: ({ id }, ctx): Promise<{ by: string }> => hang(`slow ${id}`, ctx) });
    const first = w.firstOf(fast, slow);
    const won = w.step('won', { input: first, join: 'any', cancelLosers: true, run: ({ by }) => by });
    return won.output;
  },
});

const ways = defineWorkflow({
  slug: 'ways',
  input: z.object({ id: z.string(), amount: z.number() }),
  onFailure: 'cancel',
  build(w) {
    const size = w.switch('size', {
      cases: { large: w.input.amount.gt(100), usual: w.input.amount.gt(0) },
      default: 'none',
    });
    w.step('forever', { after: size.on('large'), run: ({ id }, ctx) => hang(`forever ${id}`, ctx) });
    w.complete('enough', { after: size.on('usual'), output: { told: w.input.id } });
    w.fail('refuse', { after: size.on('none'), code: 'no_amount', message: w.input.id.concat(' is nothing') });
    w.fail('too-much', { after: size.on('large'), code: 'too_much' });
  },
});

const bank = defineWorkflow({
  slug: 'bank',
  input: order,
  onExhausted: 'park',
  build: (w) =>
    w.step('charge', {
      retry: { maxAttempts: 2, initialInterval: '10ms' },
      run: ({ id }) => {
        if (!bankIsOpen) throw new Error('the bank is closed');
        return `paid ${id}`;
      },
    }).output,
});

const steps = defineWorkflow({
  slug: 'steps',
  input: order,
  build(w) {
    const first = w.step('first', { run: async ({ id }) => sleep(300).then(() => id) });
    return w.step('second', { input: first.output, run: (id) => `${id} done` }).output;
  },
});

const import_ = defineWorkflow({
  slug: 'import',
  input: order,
  build: (w) =>
    w.step('copy', {
      heartbeatTimeout: '500ms',
      retry: { maxAttempts: 3, initialInterval: '10ms' },
      run: async ({ id }, ctx) => {
        lastProgress.push(ctx.lastProgress);
        if (ctx.attempt === 1) {
          for (let page = 1; page <= 8; page += 1) {
            ctx.heartbeat({ page });
            await sleep(100);
          }
          // Goes silent.
          return hang(`import ${id}`, ctx);
        }
        if (ctx.attempt === 2) {
          ctx.heartbeat({ page: 9 });
          ctx.heartbeat({ page: 10 });
          throw new Error('disk full');
        }
        return { from: ctx.lastProgress };
      },
    }).output,
});

const slow = defineWorkflow({
  slug: 'slow',
  input: order,
  build(w) {
    const late = w.step('late', {
      timeout: '300ms',
      retry: { maxAttempts: 1 },
      run: ({ id }, ctx) => hang(`late ${id}`, ctx),
    });
    const sorry = w.step('sorry', { onTimeout: late, input: late.error, run: ({ code }) => code });
    w.step('never', { onFailure: late, run: () => 'no' });
    return sorry.output;
  },
});

const lonely = defineWorkflow({
  slug: 'lonely',
  input: order,
  build: (w) => w.step('nobody', { queue: 'gpu', scheduleToStartTimeout: '2s', run: () => 1 }).output,
});

let engine: Engine;
let client: DuctorClient;
let worker: Worker;
beforeAll(async () => {
  engine = await startEngine({ dataDir: dataFolder('control') });
  const connection = { engine: engine.address, apiKey: engine.apiKey };
  client = new DuctorClient(connection);
  const workflows = [patient, race, ways, bank, steps, import_, slow, lonely];
  worker = createWorker({ ...connection, workflows, capacity: 200, handleSignals: false });
  await worker.ready;
  return async () => {
    client.close();
    await worker.stop();
  };
});

const outcome = (run: { result(options: { timeoutMs: number }): Promise<unknown> }): Promise<unknown> =>
  run.result({ timeoutMs: 20_000 }).catch((caught: unknown) => caught);

describe('cancel', () => {
  it('reaches the AbortSignal of a running body within a second: p99 of 100', async () => {
    const runs = await Promise.all(
      Array.from({ length: 100 }, (_, index) => client.trigger(patient, { id: `c-${index}` })),
    );
    await until('all bodies to run', () => runs.every((_, index) => began.has(`c-${index}`)));
    const asked: number[] = [];
    for (const run of runs) {
      asked.push(performance.now());
      await run.cancel('enough');
    }
    await until('all bodies to be told', () => runs.every((_, index) => told.has(`c-${index}`)));
    const tookMs = runs.map((_, index) => (told.get(`c-${index}`) ?? Number.POSITIVE_INFINITY) - (asked[index] ?? 0));
    const sorted = tookMs.toSorted((a, b) => a - b);
    console.log(`cancel to AbortSignal: p50 ${sorted[49]?.toFixed(1)} ms, p99 ${sorted[98]?.toFixed(1)} ms`);
    expect(sorted[98]).toBeLessThan(1000);
    for (const run of runs) expect(await outcome(run)).toMatchObject({ state: 'CANCELLED' });
  });
});

describe('terminate', () => {
  it('ends a run at once, and tells its body', async () => {
    const run = await client.trigger(patient, { id: 't-1' });
    await until('the body to run', () => began.has('t-1'));
    await run.terminate('now');
    expect(await outcome(run)).toMatchObject({ state: 'TERMINATED' });
    await until('the body to be told', () => told.has('t-1'));
    const { steps: seen } = await client.get(run.id);
    expect(seen).toEqual([expect.objectContaining({ path: 'hang', state: 'CANCELLED' })]);
    await expect(run.cancel()).rejects.toMatchObject({ code: 'run_closed' });
  });
});

describe('joins and ends', () => {
  it('take the first of two and stop the loser', async () => {
    const run = await client.trigger(race, { id: 'r-1' });
    await until('the slow body to run', () => began.has('slow r-1'));
    expect(await outcome(run)).toBe('fast r-1');
    expect(told.has('slow r-1')).toBe(true);
    const { steps: seen } = await client.get(run.id);
    expect(seen.map(({ path, state }) => `${path} ${state}`)).toEqual([
      'fast COMPLETED',
      'slow CANCELLED',
      'won COMPLETED',
    ]);
  });

  it('go the way a switch chose, to a completion or a failure', async () => {
    const usual = await client.trigger(ways, { id: 'w-1', amount: 5 });
    expect(await outcome(usual)).toEqual({ told: 'w-1' });
    const none = await client.trigger(ways, { id: 'w-2', amount: -1 });
    expect(await outcome(none)).toMatchObject({
      state: 'FAILED',
      code: 'no_amount',
      message: expect.stringContaining('w-2 is nothing'),
    });
    const large = await client.trigger(ways, { id: 'w-3', amount: 500 });
    expect(await outcome(large)).toMatchObject({ state: 'FAILED', code: 'too_much', step: 'too-much' });
  });

  it('take a timeout along its own edge', async () => {
    const run = await client.trigger(slow, { id: 's-1' });
    expect(await outcome(run)).toBe('timeout');
    const { steps: seen } = await client.get(run.id);
    expect(seen.find(({ path }) => path === 'never')?.state).toBe('SKIPPED');
  });
});

describe('pause and resume', () => {
  it('let what runs end, and begin nothing until the resume', async () => {
    const run = await client.trigger(steps, { id: 'p-1' });
    await until('the first step to run', async () => (await client.get(run.id)).steps[0]?.state !== 'PENDING');
    await run.pause('look first');
    await until('the pause', async () => (await client.get(run.id)).state === 'PAUSED');
    expect(await run.explain()).toMatchObject({ reason: 'PAUSED', state: 'PAUSED' });
    await until('the first step to end', async () => (await client.get(run.id)).steps[0]?.state === 'COMPLETED');
    await sleep(200);
    const held = await client.get(run.id);
    expect([held.state, held.steps[1]?.state]).toEqual(['PAUSED', 'PENDING']);
    await run.resume();
    expect(await outcome(run)).toBe('p-1 done');
  });
});

describe('park and retry', () => {
  it('hold a run without attempts, say why, and try it again in place', async () => {
    const run = await client.trigger(bank, { id: 'b-1' }, { attributes: { branch: 'north' } });
    await until('the run to be parked', async () => (await client.get(run.id)).state === 'PARKED');
    const why = await run.explain();
    expect(why).toMatchObject({ reason: 'PARKED', step: 'charge', code: 'attempts_exhausted', attempt: 2 });
    expect(why.message).toContain('the bank is closed');
    const parked = await client.list({ state: 'PARKED', attributes: { branch: 'north' }, startedAfter: new Date(0) });
    expect(parked.runs.map(({ id }) => id)).toEqual([run.id]);
    expect((await client.list({ attributes: { branch: 'south' } })).runs).toEqual([]);
    bankIsOpen = true;
    await run.retry();
    expect(await outcome(run)).toBe('paid b-1');
    expect((await client.get(run.id)).steps[0]?.attempt).toBe(3);
    await expect(run.retry()).rejects.toMatchObject({ code: 'invalid_argument' });
    const preview = await run.previewFork('charge');
    expect(preview).toEqual({ steps: [{ ref: 'charge', isKept: false }], changes: [] });
    await expect(run.previewFork('nobody')).rejects.toMatchObject({ code: 'invalid_argument' });
    const again = await run.retry({ from: 'charge', idempotencyKey: 'again' });
    expect(again.id).not.toBe(run.id);
    expect((await run.retry({ from: 'charge', idempotencyKey: 'again' })).id).toBe(again.id);
    expect(await outcome(client.run(again.id))).toBe('paid b-1');
    const open = await client.trigger(patient, { id: 'b-2' });
    await expect(open.retry()).rejects.toMatchObject({ code: 'run_not_parked' });
    await until('the body to run', () => began.has('b-2'));
    await open.terminate();
    await until('the body to be told', () => told.has('b-2'));
  });
});

describe('heartbeats', () => {
  it('fail an attempt that goes silent, and hand its progress to the next', async () => {
    const run = await client.trigger(import_, { id: 'i-1' });
    expect(await outcome(run)).toEqual({ from: { page: 10 } });
    expect(lastProgress).toEqual([undefined, { page: 8 }, { page: 10 }]);
    expect(told.has('import i-1')).toBe(true);
  });
});

describe('explain', () => {
  it('names a handler that nobody serves, until the time to wait for one is over', async () => {
    const run = await client.trigger(lonely, { id: 'l-1' });
    const why = await run.explain();
    expect(why).toMatchObject({ reason: 'NO_HANDLER', step: 'nobody', queue: 'gpu', handler: 'nobody', attempt: 1 });
    expect(why.until?.getTime()).toBeGreaterThan(why.since?.getTime() ?? Number.POSITIVE_INFINITY);
    expect(await outcome(run)).toMatchObject({ state: 'FAILED', code: 'schedule_to_start_timeout' });
    expect(await run.explain()).toMatchObject({ reason: 'CLOSED', state: 'FAILED' });
  });

  it('names the worker that has a step', async () => {
    const run = await client.trigger(patient, { id: 'e-1' });
    await until('the body to run', () => began.has('e-1'));
    const why = await run.explain();
    expect(why).toMatchObject({ reason: 'RUNNING', step: 'hang', handler: 'hang', queue: 'default' });
    expect(why.worker).toMatch(/^[0-9a-f-]{36}$/);
    await run.terminate();
    await until('the body to be told', () => told.has('e-1'));
  });
});
