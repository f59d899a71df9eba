/** What every door refuses, said through the SDK: the same code, the same place, and nothing is stored. */
import {
  type AnyWorkflow,
  createWorker,
  defineWorkflow,
  DuctorClient,
  DuctorError,
  type ListOptions,
  type TriggerOptions,
} from '@ductor/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startTestNode, type TestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { BOUNDS } from '../../engine/src/api/testing/bounds.js';
import { BROKEN_FIELDS } from '../../engine/src/api/testing/broken-requests.js';
import { BROKEN_WHOLES } from '../../engine/src/api/testing/broken-wholes.js';
import { DRAFTS } from '../../engine/src/api/testing/drafts.js';
import { trigger } from '../../engine/src/api/testing/request-parts.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { BROKEN_DEFINITIONS } from '../../engine/src/workflow/definition/testing/broken-definitions.js';

const database = testDatabase();
let node: TestNode;
let client: DuctorClient;
let connection: { readonly engine: string; readonly apiKey: string };

beforeAll(async () => {
  node = await startTestNode(database.db);
  const { apiKey, tenantId } = await node.tenant('broken');
  for (const draft of DRAFTS) await node.registry.create(tenantId, draft);
  for (const slug of ['waits', 'strict']) await node.registry.publish(tenantId, slug, 0);
  connection = { engine: node.address, apiKey };
  client = new DuctorClient(connection);
});
afterAll(async () => {
  client.close();
  await node.stop();
});

/** Rows of everything that is stored but the audit trail, which tells of refusals, too. */
async function stored(): Promise<unknown> {
  const tables = await database.db.query(
    `select relname from pg_class
     where relkind in ('r', 'p') and relnamespace = 'ductor'::regnamespace and not relispartition
       and relname <> 'audit'`,
  );
  const counts = tables.rows.map(async ({ relname }) => {
    const { rows } = await database.db.query(`select count(*)::int as count from ductor.${String(relname)}`);
    return [relname, rows[0]];
  });
  return Object.fromEntries(await Promise.all(counts));
}

const workflowOf = z.looseObject({ family_slug: z.unknown() });

/** Registers a definition as it stands, whatever it holds. */
async function register(definition: unknown): Promise<void> {
  const { family_slug: slug } = workflowOf.catch({ family_slug: '' }).parse(definition);
  const workflow: unknown = { slug, definition, handlers: new Map() };
  const worker = createWorker({
    ...{ ...connection, handleSignals: false, log: () => undefined },
    workflows: [workflow as AnyWorkflow],
  });
  await worker.ready.finally(() => void worker.stop());
}

const ofTrigger = z.object({ family_slug: z.string(), input: z.unknown().optional() }).loose();

/** The same through the SDK; undefined: it has no words for it. */
type Call = () => Promise<unknown>;
type Json = Readonly<Record<string, unknown>>;

/** Options with the SDK's names; what it has no name for stays, as it would in plain JavaScript. */
function triggerCall(json: Json): Call | undefined {
  // The SDK writes the bytes of values itself.
  if ('input_payload' in json) return undefined;
  const { family_slug: slug, input, idempotency_key: idempotencyKey, ...more } = ofTrigger.parse(json);
  const options: unknown = { ...(idempotencyKey !== undefined && { idempotencyKey }), ...more };
  return () => client.trigger(slug, input, options as TriggerOptions);
}

function listCall({ pagination, state, family_slug: workflow, ...more }: Json): Call {
  const { page_size: pageSize, cursor, ...others } = z.record(z.string(), z.unknown()).catch({}).parse(pagination);
  const given = {
    ...{ pageSize, cursor, workflow },
    state: typeof state === 'string' ? state.replace('RUN_STATE_', '') : state,
  };
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const options: unknown = { ...known, ...others, ...more };
  return () => client.list(options as ListOptions);
}

function callOf(method: string, json: Json): Call | undefined {
  const runId = String(json['run_id']);
  switch (method) {
    case 'TriggerRun':
      return triggerCall(json);
    case 'ListRuns':
      return listCall(json);
    case 'GetRun':
      return 'verbose' in json ? undefined : () => client.get(runId);
    case 'CancelRun':
      return () => client.run(runId).cancel(String(json['reason']));
    case 'CreateWorkflow':
      // A worker brings the next version of a workflow that is there.
      return json['family_slug'] === 'waits' ? undefined : () => register(json);
    case 'PublishWorkflow': {
      const draft = DRAFTS.find(({ family_slug: slug }) => slug === json['workflow_id']);
      return draft === undefined || 'expected_version' in json ? undefined : () => register(draft);
    }
    default:
      return undefined;
  }
}

/** What the call was refused with. */
async function refusalOf(call: Call): Promise<DuctorError> {
  const error = await call().then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(DuctorError);
  return error instanceof DuctorError ? error : new DuctorError('ok', 'it was not refused');
}

function expectTold({ code, message, details }: DuctorError, wanted: string, path: string | undefined): void {
  expect(code).toBe(wanted);
  expect(message).not.toBe('');
  if (path !== undefined) expect(details.map((detail) => detail.path)).toContain(path);
  for (const { problem, remedy } of details) expect([problem, remedy]).not.toContain('');
}

interface Said {
  readonly name: string;
  readonly method: string;
  readonly json: Json;
  readonly code: string;
  readonly path?: string;
}

const LISTED: readonly Said[] = [
  ...BROKEN_FIELDS,
  ...BROKEN_WHOLES,
  ...BOUNDS.flatMap(({ make, n, ...bound }) =>
    [n + 1, 10 * n].map((much) => ({ ...bound, name: `${bound.name} of ${much}`, json: make(much) })),
  ),
];
const SAID = LISTED.filter(({ method, json }) => callOf(method, json) !== undefined);

describe('what every door refuses', () => {
  it('can mostly be said through the SDK', () => {
    // It has no words for lists of workflows and of facts, drafts, bytes of values, batches of the caller's making.
    expect(SAID.length).toBeGreaterThanOrEqual(60);
    expect(SAID.length + BROKEN_DEFINITIONS.length).toBeGreaterThanOrEqual(85);
  });

  it.each(SAID)('$method: $name is $code through the SDK', async ({ method, json, code, path }) => {
    const before = await stored();
    const call = callOf(method, json);
    if (call === undefined) throw new TypeError('no call');
    // What pages have is an option like any other here.
    expectTold(await refusalOf(call), code, path === 'pagination.pagesize' ? 'pagesize' : path);
    expect(await stored()).toEqual(before);
    expect(node.logged).toEqual([]);
  });

  it.each(BROKEN_DEFINITIONS)('a definition with %s', async (name, definition, problems) => {
    const before = await stored();
    const { code, details } = await refusalOf(() => register(definition));
    expect(['invalid_argument', 'invalid_definition']).toContain(code);
    // A message has no missing texts and lists, only empty ones.
    if (name === 'nothing') expect(details.map(({ path }) => path)).toEqual(['family_slug', 'steps']);
    else if (code === 'invalid_definition') {
      const told = details.map(({ path, problem }) => `${path}: ${problem}`);
      expect(told).toEqual(problems.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))));
    }
    for (const { path, problem, remedy } of details) expect([path, problem, remedy]).not.toContain('');
    expect(await stored()).toEqual(before);
    expect(node.logged).toEqual([]);
  });

  it.each([
    ['an option that is misspelt', { idempotency: 'a' }, 'idempotency'],
    ['a key that is a number', { idempotencyKey: 5 }, 'idempotency_key'],
    ['half of a pair in an attribute', { attributes: { region: '\udc00' } }, 'attributes.region'],
  ])('%s is not lost on the way', async (_name, options: unknown, path) => {
    expectTold(await refusalOf(() => client.trigger('waits', {}, options as TriggerOptions)), 'invalid_argument', path);
  });

  it('a time that is none is told before it is sent', async () => {
    const call = (): Promise<unknown> => client.list({ startedAfter: new Date('yesterday') });
    expectTold(await refusalOf(call), 'invalid_argument', 'started_after');
  });

  it('one refused start of many does not touch the others', async () => {
    const bad = triggerCall(trigger({ attributes: { region: '\0' } }));
    const good = triggerCall(trigger({}));
    const started = await Promise.allSettled([good?.(), bad?.(), good?.()]);
    expect(started.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('options that a program computed wrongly are told before a worker starts', async () => {
    const attempts: unknown = 'three';
    const broken = defineWorkflow({
      slug: 'computed',
      input: z.object({}),
      build: (w) => w.step('a', { retry: { maxAttempts: attempts as number }, run: () => 1 }).output,
    });
    const call = async (): Promise<unknown> => createWorker({ ...connection, workflows: [broken] }).ready;
    expectTold(await refusalOf(call), 'invalid_argument', 'steps[0].retry.max_attempts');
  });
});
