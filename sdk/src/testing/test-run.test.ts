import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createMachine } from '../../../engine/src/workflow/in-process/in-process.js';
import { RunFailedError } from '../errors.js';
import { defineWorkflow } from '../workflow/define-workflow.js';
import { hang, noWorker } from './bodies.js';
import type { Machine } from './machine-port.js';
import { testRun } from './test-run.js';

const order = defineWorkflow({
  slug: 'order',
  input: z.object({ cents: z.number(), by: z.date() }),
  build(w) {
    const charge = w.step('charge', {
      retry: { maxAttempts: 3, initialInterval: '10s', jitter: 0 },
      timeout: '1m',
      run: async ({ cents, by }): Promise<{ id: string; cents: number; by: Date }> => ({ id: 'real', cents, by }),
    });
    const pause = w.wait('pause', { duration: '2h', after: charge });
    const ship = w.step('ship', { after: pause, input: charge.output, run: (paid) => ({ shipped: paid.id }) });
    return { paid: charge.output, shipped: ship.output.shipped };
  },
});
const INPUT = { cents: 5, by: new Date(9) };

describe('a run under test', () => {
  it('goes through in no time, and the clock says how long it would have taken', async () => {
    const run = await testRun(order, INPUT);
    expect(run.view()).toMatchObject({ state: 'WAITING', steps: [{ path: 'charge', state: 'COMPLETED' }, {}] });
    expect(await run.result()).toEqual({
      paid: { id: 'real', cents: 5, by: '1970-01-01T00:00:00.009Z' },
      shipped: 'real',
    });
    expect(run.now).toEqual(new Date('2026-01-01T02:00:00Z'));
    expect(run.history().slice(0, 3)).toEqual(['run_started', 'step_scheduled charge', 'step_completed charge']);
  });

  it('takes fakes for bodies, retries what fails, and stops at the first that may not be tried again', async () => {
    const attempts: number[] = [];
    const run = await testRun(order, INPUT, {
      steps: {
        charge: (_: unknown, { attempt }) => {
          attempts.push(attempt);
          if (attempt < 3) throw new RangeError('no money');
          return { id: 'fake', cents: 1, by: new Date(0) };
        },
      },
    });
    expect(await run.result()).toMatchObject({ shipped: 'fake' });
    expect(run.view().steps[0]).toMatchObject({ path: 'charge', attempt: 3 });
    expect(attempts).toEqual([1, 2, 3]);
    const failing = await testRun(order, INPUT, {
      steps: {
        charge: () => {
          throw new RangeError('no money');
        },
      },
    });
    await expect(failing.result()).rejects.toMatchObject({ code: 'RangeError', step: 'charge', state: 'FAILED' });
    expect(failing.now).toEqual(new Date('2026-01-01T00:00:30Z'));
    await expect(testRun(order, INPUT, { steps: { chrage: () => 1 } })).rejects.toThrow(
      'no step has a body of this name',
    );
  });

  it('lets time pass as it is told', async () => {
    const run = await testRun(order, INPUT);
    await run.advance('119m');
    expect(run.view().state).toBe('WAITING');
    await run.advance(60_000);
    expect(run.view().state).toBe('COMPLETED');
  });

  it('times attempts out that hang', async () => {
    const run = await testRun(order, INPUT, {
      steps: { charge: (_: unknown, context) => (context.attempt === 1 ? hang(context) : { id: 'second' }) },
    });
    expect(run.view().steps[0]).toMatchObject({ state: 'RUNNING', attempt: 1 });
    expect(await run.result()).toMatchObject({ shipped: 'second' });
    expect(run.history()).toContain('attempt_failed charge');
  });

  it('comes to the same end wherever it crashes, and does no recorded sub-step again', async () => {
    const done: string[] = [];
    const steps = {
      charge: async (_: unknown, ctx: { run(name: string, work: () => unknown): Promise<unknown> }) => {
        await ctx.run('reserve', () => done.push('reserve'));
        await ctx.run('pay', () => done.push('pay'));
        return { id: 'paid', cents: 5, by: new Date(0) };
      },
    };
    const undisturbed = await testRun(order, INPUT, { steps });
    const expected = await undisturbed.result();
    expect(done).toEqual(['reserve', 'pay']);
    for (let at = 1; at <= undisturbed.commits; at += 1) {
      done.length = 0;
      const run = await testRun(order, INPUT, { steps, crashAt: at });
      expect([at, await run.result()]).toEqual([at, expected]);
      // What a body did and nobody recorded is done again; what was recorded is not.
      expect(done.filter((each) => each === 'reserve').length).toBeLessThanOrEqual(at === 1 ? 2 : 1);
    }
    const often = await testRun(order, INPUT, { steps, crashAt: [1, 2, 3, 4, 5] });
    expect(await often.result()).toEqual(expected);
  });

  it('says what it waits for when nothing will happen any more, and ends when it is cancelled', async () => {
    const waiting = defineWorkflow({
      slug: 'waiting',
      input: z.object({}),
      build: (w) => w.signal('answer', { schema: z.object({ n: z.number() }) }).output,
    });
    const run = await testRun(waiting, {});
    await expect(run.result()).rejects.toThrow(/nothing will happen any more: the run waits, answer for/);
    await expect(run.signal('other')).rejects.toMatchObject({ code: 'signal_unknown' });
    await run.signal('answer', { n: 3 });
    expect(await run.result()).toEqual({ n: 3 });
    const cancelled = await testRun(waiting, {});
    await cancelled.cancel();
    await expect(cancelled.result()).rejects.toBeInstanceOf(RunFailedError);
  });

  it('lets nobody take a step, so that the time for it runs out', async () => {
    const call = defineWorkflow({
      slug: 'call',
      input: z.object({}),
      build(w) {
        const ring = w.step('ring', { scheduleToStartTimeout: '90s', run: () => 'answered' });
        const mail = w.step('mail', { onTimeout: ring, run: () => 'sent' });
        return { mail: mail.output };
      },
    });
    const steps = { 'call/ring': noWorker };
    for (const crashAt of [[], [1], [2]]) {
      const run = await testRun(call, {}, { steps, crashAt });
      expect(run.view().steps[0]).toMatchObject({ path: 'ring', state: 'SCHEDULED', attempt: 1 });
      expect(await run.result()).toEqual({ mail: 'sent' });
      expect(run.now).toEqual(new Date('2026-01-01T00:01:30Z'));
      expect(run.view().steps[0]).toMatchObject({ state: 'FAILED', attempt: 1 });
    }
    const whole = await testRun(order, INPUT, { steps: { charge: noWorker } });
    await expect(whole.result()).rejects.toMatchObject({ code: 'deadline_exceeded' });
    const typo = testRun(order, INPUT, { steps: { charged: noWorker } });
    await expect(typo).rejects.toThrow('no step has a body of this name');
  });

  it('starts children among its workflows, and runs bodies over lists', async () => {
    const parcel = defineWorkflow({
      slug: 'parcel',
      input: z.object({ n: z.number() }),
      build: (w) => w.step('send', { after: w.wait('pause', { duration: '1h' }), run: ({ n }) => `sent ${n}` }).output,
    });
    const parent = defineWorkflow({
      slug: 'parent',
      input: z.object({ all: z.array(z.number()) }),
      build(w) {
        const each = w.forEach('each', w.input.all, (n) =>
          w.step('twice', { input: { n }, run: (item) => item.n * 2 }),
        );
        return { last: w.child('parcel', parcel, { input: { n: 7 }, after: each }).output };
      },
    });
    const run = await testRun(parent, { all: [1, 2, 3] }, { workflows: [parcel], crashAt: [3, 6, 9] });
    expect(await run.result()).toEqual({ last: 'sent 7' });
    expect(run.now).toEqual(new Date('2026-01-01T01:00:00Z'));
  });

  it('goes on with the run that continues it, which has the signals that were not taken', async () => {
    const poll = defineWorkflow({
      slug: 'poll',
      input: z.object({ turn: z.number() }),
      build(w) {
        const said = w.signal('said', { schema: z.string() });
        const look = w.step('look', { input: { turn: w.input.turn, said: said.output }, run: ({ said: s }) => s });
        w.continueAsNew('again', { when: w.input.turn.lt(3), input: { turn: w.input.turn.plus(1) }, after: look });
        return { last: look.output };
      },
    });
    for (const crashAt of [[], [2, 4, 6, 8]]) {
      const run = await testRun(poll, { turn: 1 }, { crashAt });
      for (const word of ['one', 'two', 'three']) await run.signal('said', word);
      expect(await run.result()).toEqual({ last: 'three' });
      expect(run.history().filter((fact) => fact === 'run_started')).toHaveLength(3);
      await expect(run.signal('said', 'late')).rejects.toMatchObject({ code: 'run_closed' });
    }
  });

  it('answers updates and queries', async () => {
    const cart = defineWorkflow({
      slug: 'cart',
      input: z.object({ price: z.number() }),
      build(w) {
        const pause = w.wait('pause', { duration: '1h' });
        const added = w.update('add', {
          input: z.object({ price: z.number() }),
          run: ({ price }) => ({ total: price + 1 }),
          after: pause,
        });
        w.query('price', w.input.price);
        return added.output;
      },
    });
    const run = await testRun(cart, { price: 5 });
    expect(run.query('price')).toBe(5);
    expect(() => run.query('nothing')).toThrow('has no query');
    await expect(run.update('add', { price: 'x' })).rejects.toMatchObject({ code: 'invalid_argument' });
    expect(await run.update('add', { price: 2 })).toEqual({ total: 3 });
    expect(run.now).toEqual(new Date('2026-01-01T01:00:00Z'));
    expect(await run.result()).toEqual({ total: 3 });
    await expect(run.update('add', { price: 2 })).rejects.toMatchObject({ code: 'run_closed' });
  });

  it('is built on what the engine says of itself', () => {
    const machine: Machine = createMachine(1);
    expect(machine.commits).toBe(0);
    expect(() => machine.publish({ family_slug: 'x', steps: [] })).toThrow(
      expect.objectContaining({ code: 'invalid_definition' }),
    );
  });
});
