/** Values against a real engine: types that come back, large ones, ones that nobody but the app can read. */
import {
  createWorker,
  defineWorkflow,
  DuctorClient,
  type PayloadCodec,
  RunFailedError,
  type Worker,
} from '@ductor/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { dataFolder } from '../support/scratch.js';

cleanUpProcesses();

const seen: unknown[] = [];

const typed = defineWorkflow({
  slug: 'typed-values',
  input: z.object({ due: z.date(), cents: z.bigint(), tags: z.set(z.string()) }),
  build(w) {
    const first = w.step('first', {
      run: (input) => {
        seen.push(input);
        return {
          ...input,
          by: new Map([[1n, new Date(5)]]),
          bytes: new Uint8Array([1, 2]),
          numbers: [Number.NaN, Number.NEGATIVE_INFINITY, -0, undefined],
          error: new TypeError('kept'),
        };
      },
    });
    const due = w.project('late', { isLate: first.output.due.lt('2030') }, { when: first.output.cents.gt(5) });
    const last = w.step('last', { after: due, input: first.output, run: (output) => output });
    return last.output;
  },
});

const listed = defineWorkflow({
  slug: 'listed-values',
  input: z.object({ count: z.number() }),
  build(w) {
    const made = w.step('make', {
      run: ({ count }) => Array.from({ length: count }, (_, n) => ({ cents: 2n ** 60n + BigInt(n), at: new Date(n) })),
    });
    const each = w.forEach('each', made.output, (item) =>
      w.step('one', {
        input: item,
        run: ({ cents, at }) => ({
          cents: cents + 1n,
          by: new Map([[at, new Set([cents])]]),
          bytes: new Uint8Array([at.getTime()]),
          error: new RangeError(`number ${at.getTime()}`),
        }),
      }),
    );
    const again = w.forEach('again', each.output, (item) => w.step('two', { input: item, run: (one) => one }));
    const last = w.step('last', { input: again.output, run: (list) => list });
    return last.output;
  },
});

const large = defineWorkflow({
  slug: 'large-values',
  input: z.object({ size: z.number(), pad: z.string() }),
  build(w) {
    const made = w.step('make', { run: ({ size, pad }) => ({ text: 'm'.repeat(size), pad }) });
    return w.step('hand-on', { input: made.output, run: (output) => output }).output;
  },
});

const secret = defineWorkflow({
  slug: 'secret-values',
  input: z.object({ name: z.string(), at: z.date() }),
  build: (w) => w.step('greet', { run: ({ name, at }) => ({ text: `hello ${name}`, at }) }).output,
});

const secrets = defineWorkflow({
  slug: 'secret-list',
  input: z.object({ name: z.string() }),
  build(w) {
    const numbers = w.project('numbers', { list: [1, 2] });
    return w.forEach('each', numbers.output.list, (n) =>
      w.step('greet', { input: n, run: (number) => ({ text: `hello ${number}`, big: BigInt(number) }) }),
    ).output;
  },
});

/** Not a cipher, but nothing of what goes in can be seen in what comes out. */
const flip: PayloadCodec = {
  name: 'flip',
  encode: (bytes) => bytes.map((byte) => byte ^ 0xff),
  decode: (bytes) => bytes.map((byte) => byte ^ 0xff),
};

let engine: Engine;
let client: DuctorClient;
let coded: DuctorClient;
const workers: Worker[] = [];
beforeAll(async () => {
  engine = await startEngine({ dataDir: dataFolder('values') });
  const connection = { engine: engine.address, apiKey: engine.apiKey };
  client = new DuctorClient(connection);
  coded = new DuctorClient({ ...connection, payloadCodec: flip });
  const log = (): void => undefined;
  workers.push(createWorker({ ...connection, workflows: [typed, listed, large], handleSignals: false, log }));
  workers.push(
    createWorker({ ...connection, payloadCodec: flip, workflows: [secret, secrets], handleSignals: false, log }),
  );
  await Promise.all(workers.map(({ ready }) => ready));
});
afterAll(async () => {
  client.close();
  coded.close();
  await Promise.all(workers.map((worker) => worker.stop()));
});

describe('typed values', () => {
  it('come back as they were, from input over steps to output', async () => {
    const input = { due: new Date('2026-05-01T10:00:00Z'), cents: 2n ** 60n, tags: new Set(['a', 'b']) };
    const run = await client.trigger(typed, input);
    const output = await run.result();
    expect(seen).toStrictEqual([input]);
    const { error, ...rest } = output;
    expect(rest).toStrictEqual({
      ...input,
      by: new Map([[1n, new Date(5)]]),
      bytes: new Uint8Array([1, 2]),
      numbers: [Number.NaN, Number.NEGATIVE_INFINITY, -0, undefined],
    });
    expect(error).toBeInstanceOf(TypeError);
    expect(await client.get(run.id)).toMatchObject({ input: { due: '2026-05-01T10:00:00.000Z', tags: ['a', 'b'] } });
  });
});

describe('lists of typed values', () => {
  it('come back item by item as they were, over two scatters and what they gather', async () => {
    const run = await client.trigger(listed, { count: 3 });
    const output = await run.result();
    expect(output.map(({ cents, by, bytes }) => ({ cents, by, bytes }))).toStrictEqual(
      [0, 1, 2].map((n) => ({
        cents: 2n ** 60n + BigInt(n) + 1n,
        by: new Map([[new Date(n), new Set([2n ** 60n + BigInt(n)])]]),
        bytes: new Uint8Array([n]),
      })),
    );
    expect(output.map(({ error }) => [error instanceof RangeError, error.message])).toEqual(
      [0, 1, 2].map((n) => [true, `number ${n}`]),
    );
    expect(await client.get(run.id)).toMatchObject({
      output: [{ cents: (2n ** 60n + 1n).toString(), bytes: 'AA==' }, {}, {}],
    });
  });

  it("are read by the app alone where their items are in the app's own codec", async () => {
    const run = await coded.trigger(secrets, { name: 'ada' });
    expect(await run.result()).toStrictEqual([1, 2].map((n) => ({ text: `hello ${n}`, big: BigInt(n) })));
    const shown = await client.get(run.id);
    expect(shown.output).toMatchObject([{ encoding: 'codec/flip' }, { encoding: 'codec/flip' }]);
    expect(JSON.stringify(shown)).not.toContain('hello');
  });
});

describe('large values', () => {
  it('are handed on and shown whole', async () => {
    const pad = 'p'.repeat(300_000);
    const run = await client.trigger(large, { size: 1_500_000, pad });
    expect(await run.result()).toEqual({ text: 'm'.repeat(1_500_000), pad });
    const shown = await client.get(run.id);
    expect(shown).toMatchObject({ state: 'COMPLETED', input: { size: 1_500_000, pad }, output: { pad } });
  });

  it('beyond the limit fail their step for good, with its name and their size', async () => {
    const run = await client.trigger(large, { size: 3_000_000, pad: '' });
    const failure: unknown = await run.result().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RunFailedError);
    expect(failure).toMatchObject({
      code: 'value_too_large',
      message: expect.stringMatching(/step make has 30000\d\d/),
    });
    expect((await client.get(run.id)).steps[0]).toMatchObject({ attempt: 1, state: 'FAILED' });
    await expect(client.trigger(large, { size: 1, pad: 'p'.repeat(3_000_000) })).rejects.toMatchObject({
      code: 'value_too_large',
    });
  });
});

describe("values in the app's own codec", () => {
  it('come back with their types, and the engine sees nothing of them', async () => {
    const input = { name: 'ada', at: new Date(7) };
    const run = await coded.trigger(secret, input, { idempotencyKey: 'once' });
    expect(await run.result()).toStrictEqual({ text: 'hello ada', at: new Date(7) });
    const shown = await client.get(run.id);
    expect(shown.output).toMatchObject({ encoding: 'codec/flip' });
    expect(JSON.stringify(shown)).not.toContain('ada');
    expect((await coded.trigger(secret, input, { idempotencyKey: 'once' })).existing).toBe(true);
  });
});
