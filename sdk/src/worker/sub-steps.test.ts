import { describe, expect, it } from 'vitest';
import { Task } from '../gen/ductor/v1/bridge.js';
import { NonRetryableError } from '../errors.js';
import { PLAIN_CODER, type WirePayload } from '../values/payload-codec.js';
import { SubSteps } from './sub-steps.js';

const payload = (value: unknown): WirePayload => PLAIN_CODER.toPayload(value, 'value');

interface Fixture {
  readonly steps: SubSteps;
  readonly stop: AbortController;
  readonly recorded: { readonly name: string; readonly output: WirePayload; confirm(): void }[];
}

/** Sub-steps of an attempt that got these outputs of earlier ones. */
function subSteps(kept: Readonly<Record<string, unknown>> = {}, isQuick = true): Fixture {
  const stop = new AbortController();
  const recorded: Fixture['recorded'] = [];
  const done = Object.entries(kept).map(([name, value]) => ({ name, output: payload(value) }));
  const task = Task.fromPartial({ path: 'charge', subSteps: done });
  const record = (_task: Task, name: string, output: WirePayload): Promise<void> =>
    new Promise((resolve) => {
      recorded.push({ name, output, confirm: resolve });
      if (isQuick) resolve();
    });
  return { steps: new SubSteps({ task, values: PLAIN_CODER, signal: stop.signal, record }), stop, recorded };
}

describe('ctx.run', () => {
  it('does the work, and goes on only when its output is recorded', async () => {
    const { steps, recorded } = subSteps({}, false);
    let isOver = false;
    const done = steps
      .run('a', async () => new Date(5))
      .then((value) => {
        isOver = true;
        return value;
      });
    await new Promise(setImmediate);
    expect([isOver, recorded.length]).toEqual([false, 1]);
    recorded[0]?.confirm();
    expect(await done).toEqual(new Date(5));
  });

  it('gives back what an earlier attempt has put out and does nothing', async () => {
    const { steps, recorded } = subSteps({ a: new Map([['x', 1n]]) });
    const output = await steps.run('a', () => expect.unreachable('it was done before'));
    expect([output, recorded]).toEqual([new Map([['x', 1n]]), []]);
  });

  it('gives the first time what later times get', async () => {
    const { steps } = subSteps();
    expect(await steps.run('nothing', () => undefined)).toBeNull();
    expect(await steps.run('bytes', () => Buffer.from([1]))).toStrictEqual(new Uint8Array([1]));
  });

  it('keeps nothing of work that throws, and takes each name once', async () => {
    const { steps, recorded } = subSteps({ kept: 1 });
    const boom = new Error('boom');
    await expect(steps.run('a', () => Promise.reject(boom))).rejects.toBe(boom);
    expect(recorded).toEqual([]);
    await expect(steps.run('a', () => 1)).rejects.toThrow('the name "a" is used twice in step charge');
    await steps.run('kept', () => 1);
    await expect(steps.run('kept', () => 1)).rejects.toBeInstanceOf(NonRetryableError);
    for (const name of ['', 'x'.repeat(129)]) {
      await expect(steps.run(name, () => 1)).rejects.toThrow('give a text of 1 to 128 characters');
    }
  });

  it('refuses too many and too much, naming step, sub-step and limit', async () => {
    const many = subSteps(Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`p${n}`, n])));
    await expect(many.steps.run('more', () => 1)).rejects.toMatchObject({ code: 'limit_exceeded' });
    const large = subSteps({ a: 'x'.repeat(600_000) });
    await expect(large.steps.run('b', () => 'x'.repeat(600_000))).rejects.toMatchObject({
      code: 'value_too_large',
      message: 'with sub-step b step charge keeps 1200004 bytes; the limit is 1048576',
    });
    expect(large.recorded).toEqual([]);
    await expect(large.steps.run('c', () => Symbol('no value'))).rejects.toMatchObject({ code: 'value_not_json' });
  });

  it('begins nothing and waits for nothing once the attempt is told to stop', async () => {
    const { steps, stop } = subSteps({ kept: 1 }, false);
    const waiting = steps.run('a', () => 1);
    await new Promise(setImmediate);
    stop.abort(new Error('cancelled'));
    await expect(waiting).rejects.toThrow('cancelled');
    await expect(steps.run('b', () => expect.unreachable('it was told to stop'))).rejects.toThrow('cancelled');
    expect(await steps.run('kept', () => 2)).toBe(1);
  });
});
