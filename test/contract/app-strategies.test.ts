/** Strategies in an app's code, asked over the real wire in all three forms of the bridge, well-behaved or not. */
import type { ServerResponse } from 'node:http';
import { credentials, Metadata, Server, ServerCredentials } from '@grpc/grpc-js';
import { createWorker, defineStrategy, type StrategyChoice, type StrategyPick, registerEndpoint } from '@ductor/sdk';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { startTestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { bearer, httpCall } from '../../engine/src/api/testing/http-call.js';
import { readSettings } from '../../engine/src/config.js';
import { createRecordReader, replay } from '../../engine/src/routing/index.js';
import { createTestDatabase } from '../../engine/src/store/testing/index.js';
import { BridgeServiceClient, WorkRequest, type WorkResponse } from '../../sdk/src/gen/ductor/v1/bridge.js';
import { BridgeCallbackServiceService } from '../../sdk/src/gen/ductor/v1/callback.js';
import { callbackApp, httpApp } from '../support/callback-apps.js';
import { until } from '../support/wait.js';

const { DUCTOR_EGRESS_ALLOW: egress } = readSettings({
  DATABASE_URL: 'postgres://x',
  DUCTOR_EGRESS_ALLOW: '127.0.0.1',
});
const database = await createTestDatabase();
const node = await startTestNode(database.db, { egress });
const { apiKey } = await node.tenant('strategies');
const connection = { engine: node.address, apiKey };
const running: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const app of running.splice(0)) await app.stop();
});
afterAll(async () => {
  await node.stop();
  await database.drop();
});

type Form = 'stream' | 'grpc' | 'http';
const FORMS: readonly Form[] = ['stream', 'grpc', 'http'];
const SOON = { timeout: 60_000 };

async function call(path: string, body?: object, key = apiKey): Promise<{ readonly [name: string]: unknown }> {
  const headers = { ...bearer(key), 'content-type': 'application/json' };
  const request = body === undefined ? { method: 'GET' } : { method: 'POST', body: JSON.stringify(body) };
  const { status, json } = await httpCall(node.address, { path, headers, ...request });
  if (status !== 200) throw new RangeError(JSON.stringify(json));
  return (json as { data: { [name: string]: unknown } }).data;
}

let names = 0;
const fresh = (what: string): string => `${what}-${(names += 1)}`;

/** A pool of three recipients a, b and c that chooses by a strategy in code, or else by waterfall: a, b, c. */
async function poolBy(name: string, params: object = {}): Promise<{ id: string; ids: Record<string, string> }> {
  const strategy_tree = { strategy: 'custom', params: { name, ...params }, of: ['waterfall'] };
  const { id } = await call('/api/pools', { name: fresh('pool'), config: { strategy_tree } });
  const ids: Record<string, string> = {};
  for (const [order, each] of ['a', 'b', 'c'].entries()) {
    const fields = {
      name: each,
      state: 'RECIPIENT_STATE_AVAILABLE',
      order,
      attributes: { km: { int_value: 9 - order } },
    };
    ids[each] = String((await call(`/api/pools/${String(id)}/recipients`, fields))['id']);
  }
  return { id: String(id), ids };
}

interface Routed {
  readonly id: string;
  readonly outcome: string;
  readonly slate: readonly { readonly recipient_id: string }[];
  readonly explanation: { readonly hops: readonly { readonly notes: readonly string[] }[] };
}

async function route(poolId: string, work: object = {}, path = '/api/routing/route'): Promise<Routed> {
  const body = { pool_id: poolId, explain: true, routable: { id: fresh('work'), ...work } };
  return (await call(path, body)) as unknown as Routed;
}

const noteOf = ({ explanation }: Routed): string => explanation.hops[0]?.notes[0] ?? '';
const winnerOf = ({ slate }: Routed): string | undefined => slate[0]?.recipient_id;

/** An app of the form with one strategy. */
async function app(
  form: Form,
  name: string,
  choose: (choice: StrategyChoice) => StrategyPick | Promise<StrategyPick>,
  version = '',
): Promise<void> {
  const strategies = [defineStrategy({ name, version, choose })];
  if (form === 'stream') {
    const worker = createWorker({ ...connection, name: 'app', strategies, handleSignals: false, log: () => undefined });
    running.push(worker);
    await worker.ready;
  } else running.push(await callbackApp(form, { connection, strategies, name: fresh(form), timeout: '5s' }));
}

/** Waits until the node asks the app. */
async function served(poolId: string): Promise<void> {
  await until(
    'the app to be asked',
    async () => !noteOf(await route(poolId, {}, '/api/routing/route:preview')).includes('no app'),
  );
}

/** Whether the stored record of a decision replays without any app. */
async function replays(decisionId: string): Promise<boolean> {
  const { record, documents } = await call(`/api/routing/decisions/${decisionId}:export`);
  const known = new Map(Object.entries(documents as Record<string, unknown>));
  return replay(String(record), known, createRecordReader()).isSame;
}

describe.each(FORMS)('a strategy in code, asked by %s', (form) => {
  it('chooses, is told what it may choose by, and replays without the app', SOON, async () => {
    const name = fresh('nearest');
    const asked: StrategyChoice[] = [];
    const { id, ids } = await poolBy(name);
    await app(form, name, (choice) => {
      asked.push(choice);
      return choice.candidates.toSorted((x, y) => Number(x.attributes['km']) - Number(y.attributes['km']));
    });
    await served(id);
    const routed = await route(id, { type: 'lead', attributes: { zip: '75001' }, priority: 4 });
    expect(winnerOf(routed)).toBe(ids['c']);
    expect(noteOf(routed)).toMatch(new RegExp(`^${name} by (app|endpoint ${form})`));
    const last = asked.at(-1);
    expect(last?.work).toMatchObject({ type: 'lead', attributes: { zip: '75001' }, priority: 4 });
    expect(last?.candidates.map(({ name: each, load, limit }) => [each, load, limit])).toEqual(
      ['a', 'b', 'c'].map((each) => [each, 0, undefined]),
    );
    for (const stopped of running.splice(0)) await stopped.stop();
    expect(await replays(routed.id)).toBe(true);
    expect(await call(`/api/routing/decisions/${routed.id}:replay`)).toMatchObject({ is_same: true });
  });

  it('leaves the choice to the other strategy when it throws, and says so', SOON, async () => {
    const name = fresh('throws');
    const { id, ids } = await poolBy(name);
    await app(form, name, () => {
      throw new RangeError('no map today');
    });
    await served(id);
    const routed = await route(id);
    expect(winnerOf(routed)).toBe(ids['a']);
    expect(noteOf(routed)).toBe(`${name} failed: RangeError: no map today: waterfall instead`);
    expect(await replays(routed.id)).toBe(true);
  });

  it('leaves it when it hangs, within its deadline, and is soon not asked any more', SOON, async () => {
    const name = fresh('hangs');
    let asks = 0;
    const { id, ids } = await poolBy(name, { timeout: '100ms' });
    await app(form, name, () => {
      asks += 1;
      return new Promise(() => undefined);
    });
    await served(id);
    const routed = await route(id);
    expect(winnerOf(routed)).toBe(ids['a']);
    expect(noteOf(routed)).toBe(`${name} did not answer within 100 ms: waterfall instead`);
    await until('it not to be asked', async () => {
      const before = asks;
      const note = noteOf(await route(id));
      return asks === before && /at the moment/.test(note);
    });
  });

  it('leaves it when it names somebody who is no candidate', SOON, async () => {
    const name = fresh('invents');
    const { id, ids } = await poolBy(name);
    await app(form, name, ({ candidates }) => [candidates[2]?.id ?? '', 'nobody-we-know']);
    await served(id);
    const routed = await route(id);
    expect(winnerOf(routed)).toBe(ids['a']);
    expect(noteOf(routed)).toBe(`${name} named "nobody-we-know", which is no candidate: waterfall instead`);
    expect(await replays(routed.id)).toBe(true);
  });

  it('may say that nobody fits', SOON, async () => {
    const name = fresh('nobody');
    const { id } = await poolBy(name);
    await app(form, name, () => []);
    await served(id);
    expect((await route(id)).outcome).toBe('no_eligible_recipient');
  });

  it('answers for its own tenant only, and for the version that is asked for', SOON, async () => {
    const name = fresh('versioned');
    const other = await node.tenant(fresh('other'));
    await app(form, name, ({ candidates }) => candidates[1], '2');
    const [second, third] = [await poolBy(name, { version: '2' }), await poolBy(name, { version: '3' })];
    await served(second.id);
    expect(winnerOf(await route(second.id))).toBe(second.ids['b']);
    expect(noteOf(await route(third.id))).toBe(`${name}@3 is served by no app: waterfall instead`);
    const foreign = await call(
      '/api/pools',
      { name, strategy: 'custom', config: { strategy_params: { name } } },
      other.apiKey,
    );
    const member = { name: 'x', state: 'RECIPIENT_STATE_AVAILABLE' };
    await call(`/api/pools/${String(foreign['id'])}/recipients`, member, other.apiKey);
    const body = { pool_id: foreign['id'], explain: true, routable: { id: 'work' } };
    const routed = (await call('/api/routing/route', body, other.apiKey)) as unknown as Routed;
    expect(noteOf(routed)).toBe(`${name} is served by no app: round_robin instead`);
  });
});

describe('an app that answers garbage', () => {
  it('by HTTP leaves the choice to the other strategy', SOON, async () => {
    const name = fresh('garbage');
    const { id, ids } = await poolBy(name);
    const strategies = [defineStrategy({ name, choose: () => undefined })];
    const before = (_: unknown, response: ServerResponse): boolean => {
      response.writeHead(200, { 'content-type': 'application/protobuf' }).end('garbage');
      return true;
    };
    running.push(await httpApp({ connection, strategies, name: fresh('http'), before }));
    await served(id);
    const routed = await route(id);
    expect(winnerOf(routed)).toBe(ids['a']);
    expect(noteOf(routed)).toContain(`${name} failed: callback_invalid: `);
  });

  it('by gRPC leaves the choice to the other strategy', SOON, async () => {
    const name = fresh('garbage');
    const { id, ids } = await poolBy(name);
    const server = new Server();
    const asIs = (bytes: Buffer): Buffer => bytes;
    const invoke = { ...BridgeCallbackServiceService.invoke, requestDeserialize: asIs, responseSerialize: asIs };
    server.addService(
      { invoke } as never,
      {
        invoke: (stream: { write(bytes: Buffer): void; end(): void }) => {
          stream.write(Buffer.from('garbage'));
          stream.end();
        },
      } as never,
    );
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    running.push({ stop: async () => server.forceShutdown() });
    const strategies = [defineStrategy({ name, choose: () => undefined })];
    const url = `http://127.0.0.1:${port}`;
    await registerEndpoint({ ...connection, strategies, form: 'grpc', url, name: fresh('grpc') });
    await served(id);
    const routed = await route(id);
    expect(winnerOf(routed)).toBe(ids['a']);
    expect(noteOf(routed)).toContain(`${name} failed: callback_invalid: `);
  });

  it('over its stream leaves the choice to the other strategy', SOON, async () => {
    const name = fresh('garbage');
    const { id, ids } = await poolBy(name, { timeout: '200ms' });
    const client = new BridgeServiceClient(node.address, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${apiKey}`);
    const stream = client.work(metadata);
    stream.on('error', () => undefined);
    running.push({ stop: async () => client.close() });
    const hello = { workerId: '0198c1d0-0000-7000-8000-000000000001', slots: 1, strategies: [{ name }] };
    stream.write(WorkRequest.fromPartial({ hello }));
    let isEmpty = true;
    stream.on('data', ({ strategyQuestions }: WorkResponse) => {
      for (const { questionId } of strategyQuestions) {
        const other = {
          questionId: questionId + 7n,
          outcome: { $case: 'ranking' as const, value: { recipientIds: [] } },
        };
        const nothing = { questionId, outcome: undefined };
        stream.write(WorkRequest.fromPartial({ strategyAnswers: isEmpty ? [other, nothing] : [other] }));
      }
    });
    await served(id);
    const routed = await route(id);
    expect(winnerOf(routed)).toBe(ids['a']);
    expect(noteOf(routed)).toBe(`${name} answered nothing: waterfall instead`);
    isEmpty = false;
    expect(noteOf(await route(id))).toBe(`${name} did not answer within 200 ms: waterfall instead`);
  });

  it('cannot register a name that pools cannot say', async () => {
    const body = { name: 'bad', form: 'ENDPOINT_FORM_HTTP', url: 'http://127.0.0.1:9/x', strategies: [{ name: '7' }] };
    await expect(call('/api/endpoints', body)).rejects.toThrow(/strategies\[0\]\.name.*is no name of a strategy/);
  });
});

describe('a pool that falls over to one with a strategy in code', () => {
  it('asks when the decision comes to it, also when the first had room a moment ago', SOON, async () => {
    const name = fresh('overflow');
    const second = await poolBy(name);
    const config = { fallback: { kind: 'overflow' }, overflow_pool_id: second.id };
    const { id } = await call('/api/pools', { name: fresh('pool'), config });
    await app('stream', name, ({ candidates }) => candidates[1]);
    await served(second.id);
    const capacity = { max_concurrent: 1 };
    await call(`/api/pools/${String(id)}/recipients`, { name: 'one', state: 'RECIPIENT_STATE_AVAILABLE', capacity });
    const routed = await Promise.all(Array.from({ length: 8 }, () => route(String(id))));
    expect(routed.filter((each) => winnerOf(each) === second.ids['b'])).toHaveLength(7);
    for (const each of routed) expect(await replays(each.id)).toBe(true);
  });
});
