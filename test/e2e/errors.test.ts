/** An error of a compiled app, from its body to history, run, SDK and command line, as its sources have it. */
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DuctorClient, RunFailedError } from '@ductor/sdk';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from '../support/api.js';
import { ROOT, startChild } from '../support/child.js';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { scratchFolder } from '../support/scratch.js';
import { startUntilLine } from '../support/worker.js';

cleanUpProcesses();

const SOURCE = join(ROOT, 'test/e2e/errors/worker.ts');
let engine: Engine;
let client: DuctorClient;
let failed: RunFailedError;

/** Where in the source a text stands: "worker.ts:15". */
function lineOf(text: string): string {
  const lines = readFileSync(SOURCE, 'utf8').split('\n');
  return `worker.ts:${lines.findIndex((line) => line.includes(text)) + 1}`;
}

beforeAll(async () => {
  const app = scratchFolder('errors');
  engine = await startEngine({ dataDir: join(app, 'ductor') });
  symlinkSync(join(ROOT, 'node_modules'), join(app, 'node_modules'));
  await build({
    ...{ entryPoints: [SOURCE], outfile: join(app, 'worker.mjs'), format: 'esm', minify: true, sourcemap: true },
    ...{ keepNames: true, logLevel: 'error' },
  });
  const env = { DUCTOR_ADDRESS: engine.address, DUCTOR_API_KEY: engine.apiKey };
  const args = ['--enable-source-maps', 'worker.mjs'];
  await startUntilLine({ name: 'compiled app', args, cwd: app, env }, 'worker ready');
  client = new DuctorClient({ engine: engine.address, apiKey: engine.apiKey });
  const run = await client.trigger('pays', { number: '4000' });
  const caught: unknown = await run.result().catch((error: unknown) => error);
  if (!(caught instanceof RunFailedError)) throw new TypeError(`the run did not fail: ${String(caught)}`);
  failed = caught;
});
afterAll(() => client.close());

describe('an error that others caused', () => {
  it('reaches the caller of the SDK as it was thrown, with lines of the source', () => {
    expect(failed).toMatchObject({ code: 'CardDeclined', step: 'charge' });
    const { cause: thrown } = failed;
    expect(thrown?.message).toBe('the order is not paid');
    expect(thrown?.stack).toContain(lineOf("new NonRetryableError('the order"));
    const declined = thrown?.cause;
    expect(declined).toMatchObject({ name: 'CardDeclined', message: 'card 4000 was declined' });
    expect(declined instanceof Error && declined.stack).toContain(lineOf('new CardDeclined('));
    const banks = declined instanceof Error ? declined.cause : undefined;
    expect(banks).toBeInstanceOf(AggregateError);
    expect(banks instanceof AggregateError && banks.errors.map((error: Error) => [error.name, error.message])).toEqual([
      ['RangeError', 'first bank'],
      ['TypeError', 'second bank'],
    ]);
  });

  it('stands in the run and in its history', async () => {
    const behind = [
      { name: 'CardDeclined', message: 'card 4000 was declined', of: 0, isMember: false },
      { name: 'AggregateError', message: 'no bank paid', of: 1, isMember: false },
      { name: 'RangeError', message: 'first bank', of: 2, isMember: true },
      { name: 'TypeError', message: 'second bank', of: 2, isMember: true },
    ];
    const { error, steps } = await client.get(failed.runId);
    expect(error?.causes).toMatchObject(behind);
    expect(steps[0]?.error?.causes).toMatchObject(behind);
    const api = new Api({ address: engine.address, apiKey: engine.apiKey });
    const history = await api.history(failed.runId);
    api.close();
    const [item] = history.filter(({ kind }) => kind === 'step_failed');
    expect(JSON.stringify(item?.detail)).toContain('"second bank"');
  });

  it('is shown by the command line, each cause under what it caused', async () => {
    const env = { DUCTOR_ADDRESS: engine.address, DUCTOR_API_KEY: engine.apiKey };
    const args = [join(ROOT, 'engine/bin/ductor.js'), 'run', 'show', failed.runId];
    const child = startChild({ name: 'ductor', args, env });
    await child.exited;
    const place = (text: string): number => child.output.indexOf(text);
    const lines = ['error ', 'caused by CardDeclined: card 4000', 'caused by AggregateError', 'with RangeError: first'];
    expect(lines.map(place).filter((at) => at >= 0)).toHaveLength(lines.length);
    expect(lines.map(place)).toEqual(lines.map(place).toSorted((a, b) => a - b));
    expect(child.output).toContain(lineOf('new CardDeclined('));
  });
});
