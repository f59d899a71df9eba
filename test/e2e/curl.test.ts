/**
 * The introduction's definition, letter by letter, by curl: created, published, triggered, killed in its wait, resumed.
 * Then the same by Connect's JSON.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { curl, type CurlAnswer } from '../support/curl.js';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { dataFolder } from '../support/scratch.js';
import { until } from '../support/wait.js';

const HELLO_WORLD = `{
  "family_slug": "hello-world",
  "title": "Hello World",
  "steps": [
    {"ref": "greet", "type": "STEP_TYPE_DATAFLOW", "title": "Build greeting",
     "args": {"operation": "project", "project": {"message": "\\"hello\\""}}},
    {"ref": "pause", "type": "STEP_TYPE_WAIT", "title": "Short delay",
     "args": {"duration": "2s"}}
  ],
  "edges": [{"source_ref": "greet", "target_ref": "pause", "type": "EDGE_TYPE_SUCCESS"}]
}`;

const WAIT_MS = 2_000;
/** Beyond the wait and the restart. */
const SLACK_MS = 500;

const history = z.object({ data: z.array(z.object({ at: z.string(), kind: z.string(), step: z.string() })) });
const oneRun = z.object({ data: z.object({ id: z.string(), state: z.string() }) });

cleanUpProcesses();

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({ dataDir: dataFolder('curl') });
});

/** How a door is asked. */
interface Door {
  readonly name: string;
  create(definition: string): Promise<CurlAnswer>;
  publish(slug: string): Promise<CurlAnswer>;
  trigger(slug: string): Promise<CurlAnswer>;
  run(id: string): Promise<CurlAnswer>;
}

const key = (): string => `authorization: Bearer ${engine.apiKey}`;
const rest = (path: string, body?: string): Promise<CurlAnswer> =>
  curl(`http://${engine.address}${path}`, [key()], body);
const connect = (method: string, body: string): Promise<CurlAnswer> =>
  curl(`http://${engine.address}/ductor.v1.${method}`, [key(), 'content-type: application/json'], body);

const DOORS: readonly Door[] = [
  {
    name: 'REST',
    create: (definition) => rest('/api/workflows', definition),
    publish: (slug) => rest(`/api/workflows/${slug}:publish`, ''),
    trigger: (slug) => rest(`/api/workflows/${slug}:trigger`, '{}'),
    run: (id) => rest(`/api/runs/${id}`),
  },
  {
    name: 'Connect',
    create: (definition) => connect('WorkflowService/CreateWorkflow', definition),
    publish: (slug) => connect('WorkflowService/PublishWorkflow', JSON.stringify({ workflow_id: slug })),
    trigger: (slug) => connect('RunService/TriggerRun', JSON.stringify({ family_slug: slug })),
    run: (id) => connect('RunService/GetRun', JSON.stringify({ run_id: id })),
  },
];

/** When a fact about a step was recorded, ms since 1970. */
function atMs(facts: z.output<typeof history>, kind: string, step: string): number {
  const found = facts.data.filter((fact) => fact.kind === kind && fact.step === step);
  expect(found, `${kind} of ${step}`).toHaveLength(1);
  return Date.parse(found[0]?.at ?? '');
}

describe.each(DOORS)('hello world by curl through $name', (door) => {
  const slug = `hello-world${door.name === 'REST' ? '' : '-again'}`;

  it('is created, published, triggered, and completes though the engine is killed in its wait', async () => {
    const definition = HELLO_WORLD.replace('"hello-world"', JSON.stringify(slug));
    const created = await door.create(definition);
    expect(created).toMatchObject({ status: 200, json: { data: { family_slug: slug, status: 'STATUS_INACTIVE' } } });
    expect(await door.publish(slug)).toMatchObject({ status: 200, json: { data: { current_version: 1 } } });
    const { id } = oneRun.parse((await door.trigger(slug)).json).data;
    await until(
      'the run to wait',
      async () => oneRun.parse((await door.run(id)).json).data.state === 'RUN_STATE_WAITING',
    );

    await engine.kill();
    const downMs = performance.now();
    await engine.start();
    const restartMs = performance.now() - downMs;

    await until('the run to complete', async () => {
      const answer = await door.run(id).catch(() => undefined);
      const parsed = oneRun.safeParse(answer?.json);
      return parsed.success && parsed.data.data.state === 'RUN_STATE_COMPLETED';
    });
    const facts = history.parse((await rest(`/api/runs/${id}/history`)).json);
    const waitedMs = atMs(facts, 'step_completed', 'pause') - atMs(facts, 'step_waiting', 'pause');
    console.log(`${door.name}: waited ${Math.round(waitedMs)} ms over a restart of ${Math.round(restartMs)} ms`);
    expect(waitedMs).toBeGreaterThanOrEqual(WAIT_MS);
    expect(waitedMs).toBeLessThan(WAIT_MS + restartMs + SLACK_MS);
  });
});

describe('the same port', () => {
  it('shows its pages, health and metrics', async () => {
    const base = `http://${engine.address}`;
    expect(await curl(`${base}/healthz`, [])).toMatchObject({ status: 200, json: { status: 'live' } });
    await until('the node to be ready', async () => (await curl(`${base}/readyz`, [])).status === 200);
    expect(await curl(`${base}/openapi.json`, [])).toMatchObject({ status: 200, json: { openapi: '3.1.0' } });
    expect(engine.child.output).toContain(`curl -s http://${engine.address}/api/workflows`);
  });
});
