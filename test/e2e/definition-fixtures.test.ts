/**
 * Every fixture in one engine that is killed in their middle: each run ends as its fixture says, and its exported
 * journal replays without a database.
 */
import { createWorker, DuctorClient, DuctorError, type RunView } from '@ductor/sdk';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { commandLine, type CommandLine } from '../../engine/src/cli/testing/command-line.js';
import type { DefinitionFixture, FixturePool } from '../fixtures/definitions/fixture.js';
import { definitionFixtures } from '../support/definition-fixtures.js';
import { startEngine, type Engine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { dataFolder, scratchFolder } from '../support/scratch.js';
import { retrying, until } from '../support/wait.js';

cleanUpProcesses();

const RESTING = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT', 'TERMINATED', 'PARKED']);

/** Says to the run what its fixture says. A decision waits until it is asked for. */
async function say(
  client: DuctorClient,
  runId: string,
  { says = [] }: DefinitionFixture,
  early: boolean,
): Promise<void> {
  const run = client.run(runId);
  for (const [index, { name, payload, decides, updates, answer, early: isEarly = false }] of says.entries()) {
    if (isEarly !== early) continue;
    const id = `${name}-${index}`;
    await retrying(async () => {
      if (updates !== undefined) {
        const answered = run.update(name, updates, answer === undefined ? { id, timeoutMs: 0 } : { id });
        if (answer === undefined) await answered.catch(notYet);
        else expect(await answered).toEqual(answer);
      } else if (decides === undefined) await run.signal(name, payload, { id });
      else await run.decide(name, decides.option, { id, ...decides });
    });
  }
}

/** The run has it; nobody waits for the answer. */
function notYet(error: unknown): void {
  if (!(error instanceof DuctorError) || error.code !== 'deadline_exceeded') throw error;
}

/** A run, or the last one of its chain. */
async function lastOf(client: DuctorClient, runId: string): Promise<RunView> {
  const view = await client.get(runId);
  return view.continuedAs === undefined ? view : lastOf(client, view.continuedAs);
}

/** A run and those that continue it, exported and replayed without the engine: every row is the same. */
async function replay(client: DuctorClient, cli: CommandLine, runId: string, folder: string): Promise<void> {
  const file = join(folder, `${runId}.jsonl`);
  await cli.done('run', 'export', runId, '--out', file);
  expect(await cli.done('run', 'replay', file)).toMatch(/^the same: \d+ rows, [A-Z_]+\n$/);
  const { continuedAs } = await client.get(runId);
  if (continuedAs !== undefined) await replay(client, cli, continuedAs, folder);
}

const made = z.object({ data: z.object({ id: z.string() }) });

/** Makes a pool that a fixture selects from. */
async function makePool({ address, apiKey }: Engine, { name, recipients, claim, config }: FixturePool): Promise<void> {
  const post = async (path: string, body: object): Promise<string> => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const answer = await fetch(`http://${address}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return made.parse(await answer.json()).data.id;
  };
  const queued = claim === undefined ? {} : { routing_mode: 'claim', claim };
  if (claim !== undefined) Object.assign(queued, { claim_queue_id: await post('/api/claim-queues', { name }) });
  const poolId = await post('/api/pools', { name, config: { ...config, ...queued } });
  for (const recipient of recipients) {
    await post(`/api/pools/${poolId}/recipients`, { ...recipient, state: 'RECIPIENT_STATE_AVAILABLE' });
  }
}

it('every run ends as its fixture says, over a kill in its middle', async () => {
  const fixtures = await definitionFixtures();
  const engine = await startEngine({ dataDir: dataFolder('fixtures') });
  const connection = { engine: engine.address, apiKey: engine.apiKey };
  const client = new DuctorClient(connection);
  const worker = createWorker({
    ...{ ...connection, handleSignals: false, log: () => undefined },
    workflows: fixtures.flatMap(({ workflow, children = [] }) => [...children, workflow]),
    queues: ['default', 'fixtures'],
  });
  await worker.ready;
  for (const pool of fixtures.flatMap(({ pools = [] }) => pools)) await makePool(engine, pool);
  const started = await Promise.all(
    fixtures.map(async (fixture) => {
      const prepared = await fixture.prepare?.();
      const input = prepared === undefined ? fixture.input : prepared.input;
      return { fixture, prepared, run: await client.trigger(fixture.workflow.slug, input, fixture.start) };
    }),
  );
  for (const { fixture, run } of started) await say(client, run.id, fixture, true);
  // Each waits at least 2 s before it ends: all of them are open now.
  await engine.kill();
  const killedAt = Date.now();
  await engine.start();
  for (const { fixture, run } of started.filter((each) => each.fixture.start?.runKey !== undefined)) {
    const again = await retrying(() => client.trigger(fixture.workflow.slug, fixture.input, fixture.start));
    expect([again.id, again.existing]).toEqual([run.id, true]);
  }
  for (const { fixture, run } of started) {
    await say(client, run.id, fixture, false);
    const ended: RunView = await until(`${fixture.name} to end`, async () => {
      const view = await lastOf(client, run.id).catch(() => undefined);
      return view !== undefined && RESTING.has(view.state) ? view : undefined;
    });
    const { state, output, code } = fixture.ends;
    expect([fixture.name, ended.state, ended.error?.code]).toEqual([fixture.name, state, code]);
    if (output !== undefined) expect(ended.output).toEqual(output);
    expect(ended.attributes).toEqual(fixture.start?.attributes ?? {});
    if (ended.closedAt !== undefined) expect(ended.closedAt.getTime()).toBeGreaterThan(killedAt);
  }
  for (const { fixture, run } of started.filter((each) => each.fixture.ends.children !== undefined)) {
    const states = await until(`the children of ${fixture.name} to end`, async () => {
      const { runs } = await client.list({ parent: run.id });
      return runs.every(({ state }) => RESTING.has(state)) ? runs.map(({ state }) => state) : undefined;
    });
    expect(states.toSorted()).toEqual(fixture.ends.children);
  }
  const cli = commandLine({ DUCTOR_ADDRESS: engine.address, DUCTOR_API_KEY: engine.apiKey });
  const folder = scratchFolder('bundles');
  for (const { run } of started) await replay(client, cli, run.id, folder);
  for (const { prepared } of started) await prepared?.stop();
  client.close();
  await worker.stop();
});
