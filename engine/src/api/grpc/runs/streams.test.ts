import { randomUUID } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AwaitRunsRequest,
  GetRunHistoryRequest,
  ListRunsRequest,
  RunServiceService,
  RunState,
  TriggerRunRequest,
  TriggerRunsRequest,
  type AwaitRunsResponse,
  type RunResult,
  type StreamTriggersResponse,
} from '../../../gen/ductor/v1/run.js';
import { memoryBus } from '../../../bus/index.js';
import { systemClock } from '../../../kernel/index.js';
import { testDatabase } from '../../../store/testing/index.js';
import { call, testClient, wireErrorOf, type TestClient } from '../testing/test-client.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';
import { firstTask, resultFor, testWorker, type TestWorker } from '../testing/test-worker.js';

const database = testDatabase();
const R = RunServiceService;
/** Two nodes that hear each other, and one that hears nobody. */
let nodes: TestNode[];
let clients: TestClient[];
let worker: TestWorker;

beforeAll(async () => {
  const bus = memoryBus(systemClock());
  nodes = [await startTestNode(database.db, { bus }), await startTestNode(database.db, { bus })];
  nodes.push(await startTestNode(database.db));
  const [first] = nodes;
  if (first === undefined) throw new TypeError('a node');
  const { tenantId, apiKey } = await first.tenant('streams');
  clients = nodes.map(({ address }) => testClient(address, apiKey));
  const callback = { ref: 'do', type: 'STEP_TYPE_CALLBACK', args: { handler: 'do' }, input: 'input' };
  const pass = { ref: 'pass', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'project', project: { x: 'input.x' } } };
  const wait = { ref: 'wait', type: 'STEP_TYPE_WAIT', args: { duration: '1h' } };
  await first.registry.register(tenantId, { family_slug: 'calls', steps: [callback] });
  await first.registry.register(tenantId, { family_slug: 'passes', steps: [pass], output: 'steps.pass.output.x' });
  for (const slug of ['waits', 'starts']) await first.registry.register(tenantId, { family_slug: slug, steps: [wait] });
});
afterAll(async () => {
  for (const client of clients) client.close();
  for (const node of nodes) await node.stop();
});

function at(index: number): TestClient {
  return clients[index] ?? expect.fail(`no client ${index}`);
}

async function trigger(client: TestClient, familySlug: string, input: unknown): Promise<string> {
  const { data } = await call(client, R.triggerRun, TriggerRunRequest.fromPartial({ familySlug, input }));
  return data?.id ?? '';
}

/** Awaits runs on one stream until all are answered. */
function awaitAll(client: TestClient, runIds: readonly string[]): Promise<Map<string, RunResult>> {
  const stream = client.runs.awaitRuns(client.metadata);
  const found = new Map<string, RunResult>();
  return new Promise((resolve, reject) => {
    stream.on('data', ({ results }: AwaitRunsResponse) => {
      for (const result of results) {
        if (found.has(result.runId)) reject(new TypeError(`${result.runId} was answered twice`));
        found.set(result.runId, result);
      }
    });
    stream.on('error', reject);
    stream.on('end', () => resolve(found));
    stream.write(AwaitRunsRequest.fromPartial({ runIds: [...runIds, ...runIds] }));
    stream.end();
  });
}

/** A stream of triggers, and its answers one by one. */
function openTriggers(client: TestClient): {
  readonly stream: ReturnType<typeof client.runs.streamTriggers>;
  readonly answers: { next(): Promise<StreamTriggersResponse>; isOver(): Promise<boolean> };
} {
  const stream = client.runs.streamTriggers(client.metadata);
  const messages = stream[Symbol.asyncIterator]();
  const next = async (): Promise<StreamTriggersResponse> => {
    const { value, done } = await messages.next();
    return done === true ? expect.fail('the stream has ended') : value;
  };
  const isOver = async (): Promise<boolean> => (await messages.next()).done === true;
  return { stream, answers: { next, isOver } };
}

const outputOf = (result: RunResult | undefined): unknown => JSON.parse(String(result?.output?.data));

describe('StreamTriggers', () => {
  it('answers a batch with one outcome an item, refuses items alone and batches of none or too many', async () => {
    const { stream, answers } = openTriggers(at(0));
    const items = ['starts', 'nothing', 'starts'].map((familySlug) =>
      TriggerRunRequest.fromPartial({ familySlug, idempotencyKey: 'streamed' }),
    );
    stream.write({ batchId: 7n, items });
    const { batchId, outcomes } = await answers.next();
    expect(batchId).toBe(7n);
    expect(outcomes.map(({ error }) => error?.code)).toEqual([undefined, 'not_found', undefined]);
    expect(outcomes[0]?.runId).not.toBe('');
    expect(outcomes[2]?.runId).toBe(outcomes[0]?.runId);
    expect(outcomes.filter(({ existing }) => existing)).toHaveLength(1);
    stream.end();
    for (const count of [0, 1_001]) {
      const refused = openTriggers(at(0));
      refused.stream.write({ batchId: 1n, items: Array.from({ length: count }, () => items[0] ?? expect.fail()) });
      await expect(refused.answers.next()).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
    }
  });

  it('starts what was sent before the caller said that there is no more, and ends then', async () => {
    const { stream, answers } = openTriggers(at(0));
    for (let batchId = 1n; batchId <= 20n; batchId += 1n) {
      stream.write({ batchId, items: [TriggerRunRequest.fromPartial({ familySlug: 'starts' })] });
    }
    stream.end();
    const found: bigint[] = [];
    for (let count = 0; count < 20; count += 1) found.push((await answers.next()).batchId);
    expect(found.toSorted((a, b) => Number(a - b))).toEqual(
      Array.from({ length: 20 }, (_, index) => BigInt(index + 1)),
    );
    expect(await answers.isOver()).toBe(true);
  });
});

describe('AwaitRuns', () => {
  it('answers runs that have ended, that end later, and that do not exist, each once', async () => {
    const closed = await trigger(at(0), 'passes', { x: 1 });
    const open = await trigger(at(0), 'waits', null);
    const nobody = randomUUID();
    const answers = awaitAll(at(0), [closed, open, nobody]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await call(at(0), R.cancelRun, { runId: open, reason: 'enough' });
    const found = await answers;
    expect([...found.keys()].sort()).toEqual([closed, open, nobody].sort());
    expect(found.get(closed)?.state).toBe(RunState.RUN_STATE_COMPLETED);
    expect(outputOf(found.get(closed))).toBe(1);
    expect(found.get(open)?.state).toBe(RunState.RUN_STATE_CANCELLED);
    expect(found.get(nobody)).toMatchObject({ state: RunState.RUN_STATE_UNSPECIFIED, error: { code: 'not_found' } });
  });

  it('hears of runs of other nodes: at once by the bus, within a second or so without it', async () => {
    for (const [listener, longestMs] of [
      [1, 900],
      [2, 2_500],
    ] as const) {
      const runId = await trigger(at(0), 'waits', null);
      const answers = awaitAll(at(listener), [runId]);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      const startMs = performance.now();
      await call(at(0), R.cancelRun, { runId, reason: '' });
      expect((await answers).get(runId)?.state).toBe(RunState.RUN_STATE_CANCELLED);
      expect(performance.now() - startMs).toBeLessThan(longestMs);
    }
  });

  it('ends the stream that names what is no id', async () => {
    const error = await awaitAll(at(0), ['x']).catch((caught: unknown) => wireErrorOf(caught)?.code);
    expect(error).toBe('invalid_argument');
  });
});

describe('WatchRun', () => {
  it('shows the run now, at each change, and for the last time when it has ended', async () => {
    worker = testWorker(at(0), {
      workerId: randomUUID(),
      slots: 4,
      workflows: [
        {
          definition: { familySlug: 'calls', steps: [{ ref: 'do', type: 1, args: { handler: 'do' }, input: 'input' }] },
          handlers: ['do'],
        },
      ],
    });
    await worker.next((message) => message.welcome);
    const runId = await trigger(at(0), 'calls', 5);
    const seen: RunState[][] = [];
    const streams = clients.map(
      (client, index) =>
        new Promise<void>((resolve, reject) => {
          seen[index] = [];
          const stream = client.runs.watchRun({ runId }, client.metadata);
          stream.on('data', ({ data }) => seen[index]?.push(data.state));
          stream.on('error', reject);
          stream.on('end', resolve);
        }),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    worker.send({ credits: 1 });
    const task = await worker.next(firstTask);
    worker.send({ results: [resultFor(task, 1n, 'done')] });
    await Promise.all(streams);
    for (const states of seen) {
      expect(states.length).toBeGreaterThanOrEqual(2);
      expect(states[0]).toBe(RunState.RUN_STATE_RUNNING);
      expect(states.at(-1)).toBe(RunState.RUN_STATE_COMPLETED);
    }
    worker.stream.end();
  });

  it('of a run that does not exist ends with not_found', async () => {
    const stream = at(0).runs.watchRun({ runId: randomUUID() }, at(0).metadata);
    const code = await new Promise((resolve) => {
      stream.on('data', () => undefined);
      stream.on('error', (error) => resolve(wireErrorOf(error)?.code));
    });
    expect(code).toBe('not_found');
  });
});

describe('TriggerRuns', () => {
  it('starts what is fine and says of each other item why not', async () => {
    const items = [
      { familySlug: 'passes', input: { x: 1 } },
      { familySlug: 'nobody' },
      { familySlug: '' },
      { familySlug: 'passes', input: { x: 2 }, idempotencyKey: 'one' },
      { familySlug: 'passes', version: 9, input: { x: 2 } },
    ];
    const { data } = await call(at(0), R.triggerRuns, TriggerRunsRequest.fromPartial({ items }));
    expect(data.map(({ error }) => error?.code)).toEqual([
      undefined,
      'not_found',
      'invalid_argument',
      undefined,
      'workflow_not_published',
    ]);
    expect(data[2]?.problems.map(({ path }) => path)).toEqual(['family_slug']);
    const results = await awaitAll(at(0), [data[0]?.runId ?? '', data[3]?.runId ?? '']);
    expect(new Set([...results.values()].map(outputOf))).toEqual(new Set([1, 2]));
  });

  it('knows an idempotency key: the same input answers the first run, another one is refused', async () => {
    const one = { familySlug: 'passes', input: { x: 1, y: 2 }, idempotencyKey: 'twice' };
    const start = async (item: object): Promise<[string | undefined, boolean | undefined]> => {
      const { data } = await call(at(1), R.triggerRuns, TriggerRunsRequest.fromPartial({ items: [item] }));
      return [data[0]?.error?.code ?? data[0]?.runId, data[0]?.existing];
    };
    const [runId, isExisting] = await start(one);
    expect(isExisting).toBe(false);
    const reordered = { data: Buffer.from('{ "y": 2, "x": 1 }'), encoding: 'json' };
    expect(await start({ ...one, input: undefined, inputPayload: reordered })).toEqual([runId, true]);
    expect(await start({ ...one, input: { x: 2 } })).toEqual(['idempotency_conflict', false]);
    expect(outputOf((await awaitAll(at(2), [runId ?? ''])).get(runId ?? ''))).toBe(1);
  });
});

describe('lists', () => {
  it('go on page by page, newest first, without doubles', async () => {
    for (let run = 0; run < 5; run += 1) await trigger(at(0), 'waits', null);
    const pages: string[][] = [];
    let cursor = '';
    do {
      const pagination = { pageSize: 2, cursor };
      const request = ListRunsRequest.fromPartial({
        pagination,
        familySlug: 'waits',
        state: RunState.RUN_STATE_WAITING,
      });
      const page = await call(at(0), R.listRuns, request);
      pages.push(page.data.map(({ id }) => id));
      cursor = page.pagination?.nextCursor ?? '';
    } while (cursor !== '');
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(new Set(pages.flat()).size).toBe(5);
  });

  it('of a history show every fact once, in order, however it is cut', async () => {
    const runId = await trigger(at(0), 'passes', { x: 1 });
    await awaitAll(at(0), [runId]);
    const read = async (pageSize: number): Promise<string[]> => {
      const kinds: string[] = [];
      let cursor = '';
      do {
        const request = GetRunHistoryRequest.fromPartial({ runId, pagination: { pageSize, cursor } });
        const page = await call(at(0), R.getRunHistory, request);
        kinds.push(...page.data.map(({ seq, kind }) => `${seq} ${kind}`));
        cursor = page.pagination?.nextCursor ?? '';
      } while (cursor !== '');
      return kinds;
    };
    const whole = await read(200);
    expect(whole[0]).toBe('1 run_started');
    expect(whole.at(-1)).toMatch(/run_closed/);
    expect(whole.length).toBeGreaterThanOrEqual(3);
    for (const size of [1, 2, 3]) expect(await read(size)).toEqual(whole);
  });
});
