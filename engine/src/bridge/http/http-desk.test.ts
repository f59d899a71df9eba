/** The desk with real sockets and the real guard; the coordinator is what the test looks at. */
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { egressClient, egressGuard, egressPolicy } from '../../egress/index.js';
import { systemClock } from '../../kernel/index.js';
import type { AttemptOutcome, AttemptRef, BridgeCoordinator, Invoker, RunKey, Task } from '../ports.js';
import { HttpDesk, PER_TENANT } from './http-desk.js';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Serves on a free port of the loopback; returns its URL. */
async function serve(handle: RequestListener, host = '127.0.0.1'): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://${host}:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

const settled: { readonly ref: AttemptRef; readonly outcome: AttemptOutcome }[] = [];
const sent: string[] = [];
const rechecked: RunKey[] = [];
const handedOn: string[] = [];
const inventories: (readonly AttemptRef[])[] = [];
let desk: HttpDesk;

beforeEach(() => {
  for (const list of [settled, sent, rechecked, handedOn, inventories]) list.length = 0;
  const policy = egressPolicy(['127.0.0.1']);
  if ('invalid' in policy) throw new TypeError('no networks');
  const clock = systemClock();
  const client = egressClient(
    egressGuard(policy, () => Promise.resolve([])),
    clock,
  );
  const others: Required<Invoker> = {
    dispatch: (tasks) => handedOn.push(...tasks.map(({ queue }) => `dispatch ${queue}`)),
    abort: (orders) => (handedOn.push(...orders.map(({ path }) => `abort ${path}`)), []),
    withdraw: (refs) => handedOn.push(...refs.map(({ path }) => `withdraw ${path}`)),
    settled: ({ path }) => handedOn.push(`settled ${path}`),
    dropShards: () => handedOn.push('drop'),
    inventory: () => ['worker'],
  };
  const coordinator: BridgeCoordinator = {
    settle: (ref, outcome, told) => {
      settled.push({ ref, outcome });
      told('recorded');
    },
    keep: () => undefined,
    sent: (_, refs) => sent.push(...refs.map(({ path }) => path)),
    workerConnected: (_, holds) => inventories.push(holds),
    workerGone: () => undefined,
    recheck: (runs) => rechecked.push(...runs),
    liveAddresses: () => [],
  };
  desk = new HttpDesk({ others, client, clock, nodeId: 'n' });
  desk.attach(coordinator);
  closers.push(() => {
    desk.close();
    client.close();
  });
});

let runs = 0;

function task(url: string, call: object = {}, more: Partial<Task> = {}): Task {
  const plain = {
    method: 'GET',
    url,
    headers: {},
    query: {},
    expect: ['2xx'],
    max_response_bytes: 1_000,
    redirects: 0,
  };
  runs += 1;
  return {
    ...{ tenantId: 't', runId: `00000000-0000-7000-8000-${String(runs).padStart(12, '0')}`, path: 'call', attempt: 1 },
    ...{ familySlug: 'f', version: 1, handler: 'http', queue: '#http', idempotencyKey: 'key-1', timeoutMs: 5_000 },
    ...{ heartbeatTimeoutMs: null, lastProgress: null, priority: 3, fairnessKey: '', slots: 1 },
    input: { data: Buffer.from(JSON.stringify({ ...plain, ...call })), encoding: 'json' },
    ...more,
  };
}

async function outcomeOf(one: Task): Promise<AttemptOutcome> {
  desk.dispatch([one]);
  const found = await vi.waitFor(() => {
    const end = settled.find(({ ref }) => ref.runId === one.runId);
    if (end === undefined) throw new RangeError('it is not settled');
    return end;
  });
  return found.outcome;
}

async function outputOf(one: Task): Promise<unknown> {
  const outcome = await outcomeOf(one);
  if (outcome.kind !== 'completed') throw new TypeError(JSON.stringify(outcome));
  return JSON.parse(Buffer.from(outcome.output.data).toString('utf8'));
}

const code = (outcome: AttemptOutcome): unknown =>
  outcome.kind === 'failed' ? [outcome.code, outcome.nonRetryable, outcome.retryAfterMs] : outcome.kind;

describe('a call', () => {
  it('sends what the step says, and its idempotency key', async () => {
    const url = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
      request.on('end', () => {
        const { 'idempotency-key': key, 'content-type': type, 'x-a': a } = request.headers;
        response.setHeader('content-type', 'application/json; charset=utf-8');
        response.setHeader('set-cookie', 'secret=1');
        response.end(JSON.stringify([request.method, request.url, key, type, a, body]));
      });
    });
    const call = { method: 'POST', headers: { 'X-A': '1' }, query: { q: 'a b', n: 2 }, body: { x: [1] } };
    const output = await outputOf(task(`${url}/p?z=1`, call));
    expect(output).toMatchObject({
      ...{ status: 200, body_encoding: 'json' },
      body: ['POST', '/p?z=1&q=a+b&n=2', 'key-1', 'application/json', '1', '{"x":[1]}'],
    });
    expect(JSON.stringify(output)).not.toContain('secret');
    expect(
      await outputOf(task(url, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'as it is' })),
    ).toMatchObject({
      body: ['PUT', '/', 'key-1', 'text/plain', null, 'as it is'],
    });
  });

  it.each([
    ['application/json', '{"n":12345678901234567890}', 'json'],
    ['application/problem+json', '{"a":1}', 'json'],
    ['application/json', 'no json', 'text'],
    ['text/plain', 'häuser', 'text'],
    ['image/png', Buffer.from([0xff, 0xfe, 0]), 'base64'],
    ['text/plain', 'a\0b', 'base64'],
    ['text/plain', '', 'none'],
  ])('keeps a body of %s as it came: %s', async (type, body, encoding) => {
    const url = await serve((_, response) => response.writeHead(200, { 'content-type': type }).end(body));
    const outcome = await outcomeOf(task(url));
    const text = outcome.kind === 'completed' ? Buffer.from(outcome.output.data).toString('utf8') : '';
    expect(text).toContain(`"body_encoding":"${encoding}"`);
    if (encoding === 'json') expect(text).toContain(String(body));
    if (encoding === 'base64') expect(text).toContain(Buffer.from(body).toString('base64'));
  });

  it.each<[status: number, headers: Record<string, string>, found: unknown]>([
    [404, {}, ['http_404', true, null]],
    [302, { location: 'http://127.0.0.2/' }, ['http_302', true, null]],
    [429, { 'retry-after': '7' }, ['http_429', false, 7_000]],
    [503, { 'retry-after': '99999999' }, ['http_503', false, 86_400_000]],
    [503, { 'retry-after': 'soon' }, ['http_503', false, null]],
    [500, {}, ['http_500', false, null]],
  ])('that is answered %i %o fails', async (status, headers, found) => {
    const url = await serve((_, response) => response.writeHead(status, headers).end('why'));
    expect(code(await outcomeOf(task(url)))).toEqual(found);
  });

  it('waits until a date, and takes an answer that it expects', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const url = await serve((_, response) => response.writeHead(503, { 'retry-after': date }).end());
    const outcome = await outcomeOf(task(url));
    expect(outcome.kind === 'failed' ? outcome.retryAfterMs : 0).toBeGreaterThan(50_000);
    expect(await outputOf(task(url, { expect: ['2xx', 503] }))).toMatchObject({ status: 503 });
  });

  it.each([
    ['a network that is not allowed', 'http://10.0.0.1/'],
    ['the loopback of IPv6', 'http://[::1]:1/'],
    ['the loopback in IPv6 clothes', 'http://[::ffff:127.0.0.2]/'],
    ['a number for an address', 'http://2130706434/'],
    ['the metadata of a cloud', 'http://169.254.169.254/latest'],
    ['another scheme', 'ftp://127.0.0.1/'],
  ])('to %s is refused for good', async (_, url) => {
    expect(code(await outcomeOf(task(url)))).toEqual(['egress_refused', true, null]);
  });

  it('follows redirects as far as the step says, each through the guard', async () => {
    const url = await serve(({ url: at }, response) => {
      if (at === '/end') return void response.end('here');
      response.writeHead(302, { location: at === '/out' ? 'http://127.0.0.2/' : '/end' }).end();
    });
    expect(await outputOf(task(url, { redirects: 1 }))).toMatchObject({ status: 200, body: 'here' });
    expect(code(await outcomeOf(task(`${url}/out`, { redirects: 1 })))).toEqual(['egress_refused', true, null]);
  });

  it('is bounded in time and size', async () => {
    const slow = await serve((_, response) => {
      response.write('a');
      const timer = setInterval(() => response.write('a'), 20);
      response.on('close', () => clearInterval(timer));
    });
    expect(code(await outcomeOf(task(slow, {}, { timeoutMs: 200 })))).toEqual(['timeout', false, null]);
    const large = await serve((_, response) => response.end('x'.repeat(1_001)));
    expect(code(await outcomeOf(task(large)))).toEqual(['value_too_large', true, null]);
    expect(code(await outcomeOf(task('http://127.0.0.1:1/')))).toEqual(['host_unreachable', false, null]);
  });
});

describe('the desk', () => {
  /** Answers when the test says so. */
  async function held(): Promise<{ readonly url: string; readonly open: ServerResponse[]; readonly closed: string[] }> {
    const open: ServerResponse[] = [];
    const closed: string[] = [];
    const url = await serve((request, response) => {
      open.push(response);
      response.on('close', () => response.writableFinished || closed.push(request.url ?? ''));
    });
    return { url, open, closed };
  }

  it('hands on what is not its own', () => {
    desk.dispatch([task('', {}, { queue: 'default' })]);
    const order = { ...task('', {}, { path: 'other' }), reason: 'cancelled' } as const;
    expect(desk.abort([order])).toEqual([]);
    desk.withdraw([order]);
    desk.settled(order);
    desk.dropShards([1]);
    expect(handedOn).toEqual(['dispatch default', 'abort other', 'withdraw other', 'settled other', 'drop']);
    expect(desk.inventory()).toEqual(['worker', 'http/n']);
  });

  it('ends the connection of a call that is told to stop', async () => {
    const { url, open, closed } = await held();
    const one = task(`${url}/mine`);
    desk.dispatch([one]);
    await vi.waitFor(() => expect(open).toHaveLength(1));
    expect(desk.abort([{ ...one, reason: 'cancelled' }])).toEqual([]);
    await vi.waitFor(() => expect(settled.map(({ outcome }) => outcome)).toEqual([{ kind: 'cancelled' }]));
    await vi.waitFor(() => expect(closed).toEqual(['/mine']));
  });

  it('makes so many calls of a tenant at a time; another one has its turn meanwhile', async () => {
    const { url, open } = await held();
    const many = Array.from({ length: PER_TENANT + 2 }, () => task(url, {}, { path: 'many' }));
    desk.dispatch(many);
    desk.dispatch([task(url, {}, { tenantId: 'u', path: 'other' })]);
    await vi.waitFor(() => expect(open).toHaveLength(PER_TENANT + 1));
    expect(sent.filter((path) => path === 'many')).toHaveLength(PER_TENANT);
    expect(sent).toContain('other');
    desk.inventory();
    await vi.waitFor(() => expect(inventories.at(-1)).toHaveLength(PER_TENANT + 1));
    const last = many.at(-1) ?? expect.fail('none');
    // The same again is no second call, and what waits is taken back before anybody has it.
    desk.dispatch(many);
    expect(desk.abort([{ ...last, reason: 'cancelled' }])).toEqual([
      { tenantId: 't', runId: last.runId, path: 'many', attempt: 1 },
    ]);
    for (const response of open) response.end();
    await vi.waitFor(() => expect(open).toHaveLength(PER_TENANT + 2));
    open.at(-1)?.end();
    await vi.waitFor(() => expect(settled).toHaveLength(PER_TENANT + 2));
  });

  it('calls the most urgent first, and names what found no room once there is some', async () => {
    const { url, open } = await held();
    desk.dispatch(Array.from({ length: PER_TENANT }, () => task(url)));
    await vi.waitFor(() => expect(open).toHaveLength(PER_TENANT));
    const waiting = Array.from({ length: 1_000 }, () => task(url, {}, { path: 'usual' }));
    desk.dispatch(waiting);
    const tooMany = task(url, {}, { path: 'late' });
    desk.dispatch([tooMany]);
    desk.withdraw(waiting.slice(1));
    desk.dispatch([task(url, {}, { path: 'urgent', priority: 1 })]);
    open[0]?.end();
    await vi.waitFor(() => expect(sent).toContain('urgent'));
    expect(sent).not.toContain('usual');
    expect(rechecked).toEqual([{ tenantId: 't', runId: tooMany.runId }]);
  });

  it('lets calls end when the node stops, and begins no more', async () => {
    const { url, open } = await held();
    desk.dispatch([task(url)]);
    await vi.waitFor(() => expect(open).toHaveLength(1));
    const drained = desk.drain(5_000);
    desk.dispatch([task(url)]);
    open[0]?.end('done');
    await drained;
    expect([settled.length, sent.length]).toEqual([1, 1]);
  });
});
