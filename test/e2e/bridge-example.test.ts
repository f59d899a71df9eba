/** The example app, built and packed, in each form of the bridge: the same suite on the same engine. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Child } from '../support/child.js';
import { type Engine, startEngine } from '../support/engine.js';
import { installExample, packSdk } from '../support/packed-app.js';
import { cleanUpProcesses } from '../support/processes.js';
import { dataFolder, scratchFolder } from '../support/scratch.js';
import { until } from '../support/wait.js';
import { startUntilLine } from '../support/worker.js';

const FORMS = ['stream', 'grpc', 'http'] as const;
const LIMIT = { limitMs: 60_000, everyMs: 50 };

const posted = z.object({ run: z.string(), existing: z.boolean() });
const shown = z.looseObject({
  state: z.string(),
  output: z.unknown().optional(),
  steps: z.array(z.object({ path: z.string(), state: z.string(), attempt: z.number() })),
});
const effect = z.object({ effect: z.string(), lead: z.string(), key: z.string() });

cleanUpProcesses();

let folder: string;
let engine: Engine;
beforeAll(async () => {
  folder = installExample(packSdk());
  engine = await startEngine({ dataDir: dataFolder('forms') });
}, 120_000);

/** The app in one form: its web side and its steps are processes of their own. */
class App {
  readonly world = scratchFolder('world');
  readonly form: string;
  web = '';
  #steps: Child | undefined;

  constructor(form: string) {
    this.form = form;
  }

  get #env(): Record<string, string> {
    return {
      ...{ DUCTOR_ADDRESS: engine.address, DUCTOR_API_KEY: engine.apiKey, WORLD_DIR: this.world },
      ...{ BRIDGE: this.form, PORT: '0', PAUSE: '100ms' },
    };
  }

  async start(): Promise<void> {
    const said: string[] = [];
    await startUntilLine(
      { name: 'api', args: ['dist/main.js', 'api'], cwd: folder, env: this.#env, onLine: (line) => said.push(line) },
      'leads at',
    );
    this.web = /http:\S+/.exec(said.join('\n'))?.[0] ?? '';
    await this.startSteps();
  }

  async startSteps(): Promise<void> {
    const args = ['dist/main.js', 'worker'];
    this.#steps = await startUntilLine({ name: this.form, args, cwd: folder, env: this.#env }, 'worker ready');
  }

  async killSteps(): Promise<void> {
    await this.#steps?.kill();
  }

  async stopSteps(): Promise<unknown> {
    return this.#steps?.stop();
  }

  async post(id: string, state = 'CA'): Promise<z.output<typeof posted>> {
    const body = JSON.stringify({ id, name: 'Ada', state, amount: 30_000 });
    const response = await fetch(this.web, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    return posted.parse(await response.json());
  }

  async show(run: string): Promise<z.output<typeof shown>> {
    return shown.parse(await (await fetch(`${this.web}/${run}`)).json());
  }

  /** What the run is once it has ended. */
  async ended(run: string): Promise<z.output<typeof shown>> {
    let last: z.output<typeof shown> | undefined;
    const isOver = async (): Promise<boolean> => {
      // While the engine is away the app says so instead of showing the run.
      last = (await this.show(run).catch(() => undefined)) ?? last;
      return last !== undefined && /COMPLETED|FAILED|CANCELLED/.test(last.state);
    };
    await until(`run ${run} to end`, isOver, { ...LIMIT, detail: () => JSON.stringify(last ?? 'never shown') });
    if (last === undefined) throw new Error(`run ${run} was never shown`);
    return last;
  }

  /** Effects on the world, in the order in which they happened. */
  effects(): readonly z.output<typeof effect>[] {
    const file = join(this.world, 'ledger.jsonl');
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    return lines.map((line) => effect.parse(JSON.parse(line)));
  }
}

describe.each(FORMS)('the example by %s', (form) => {
  const app = new App(form);
  const lead = (name: string): string => `${form}-${name}`;
  beforeAll(() => app.start(), 60_000);

  it('works leads off, each effect once, also where the provider fails at first', async () => {
    const names = Array.from({ length: 12 }, (_, n) => lead(`many-${n}`));
    const runs = await Promise.all(names.map((name) => app.post(name)));
    const ended = await Promise.all(runs.map(({ run }) => app.ended(run)));
    expect(ended.map(({ state }) => state)).toEqual(names.map(() => 'COMPLETED'));
    expect(ended.map(({ output }) => output)).toEqual(
      names.map((name) => ({ lead: name, score: expect.any(Number), notified: true })),
    );
    // The provider is down for every third lead's first attempt, by the lead's name.
    expect(ended.some(({ steps }) => steps.some(({ attempt }) => attempt > 1))).toBe(true);
    const done = app.effects().map(({ effect: what, lead: of }) => `${what} ${of}`);
    expect(done.sort()).toEqual(names.flatMap((name) => [`enrich ${name}`, `notify ${name}`]).sort());
  });

  it('starts one run for a lead that is posted twice', async () => {
    const first = await app.post(lead('twice'));
    expect(await app.post(lead('twice'))).toEqual({ run: first.run, existing: true });
    await app.ended(first.run);
  });

  it('fails at once where trying again is useless', async () => {
    const { run } = await app.post(lead('nowhere'), 'XX');
    const { state, steps } = await app.ended(run);
    expect(state).toBe('FAILED');
    expect(steps.find(({ path }) => path === 'enrich')).toMatchObject({ state: 'FAILED', attempt: 1 });
  });

  it('goes on when the steps’ process is killed and comes back', async () => {
    const runs = await Promise.all(Array.from({ length: 6 }, (_, n) => app.post(lead(`killed-${n}`))));
    await app.killSteps();
    await app.startSteps();
    for (const { run } of runs) expect(await app.ended(run)).toMatchObject({ state: 'COMPLETED' });
    const keys = app.effects().map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('goes on when the engine is killed and comes back', async () => {
    const runs = await Promise.all(Array.from({ length: 6 }, (_, n) => app.post(lead(`engine-${n}`))));
    await engine.kill();
    await engine.start();
    for (const { run } of runs) expect(await app.ended(run)).toMatchObject({ state: 'COMPLETED' });
    const keys = app.effects().map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('ends well on SIGTERM', async () => {
    expect(await app.stopSteps()).toEqual({ code: 0, signal: null });
  });
});
