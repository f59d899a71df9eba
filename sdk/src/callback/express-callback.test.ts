import { createServer, request, type RequestListener } from 'node:http';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { InvokeRequest, InvokeResponse } from '../gen/ductor/v1/callback.js';
import { defineWorkflow } from '../workflow/define-workflow.js';
import { expressCallback } from './express-callback.js';
import { serveCallbacks } from './serve-callbacks.js';

const workflow = defineWorkflow({
  slug: 'double',
  input: z.object({ n: z.number() }),
  build: (w) => w.step('double', { run: ({ n }) => 2 * n }).output,
});
const workflows = [workflow];
const quiet = { workflows, log: () => undefined };
const TYPE = 'application/protobuf';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function listen(handle: RequestListener, host = '127.0.0.1'): Promise<number> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  closers.push(() => server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const task = { runId: 'r', familySlug: 'double', path: 'double', handler: 'double', attempt: 1, timeoutMs: 1_000 };
const call = Buffer.from(
  InvokeRequest.encode(
    InvokeRequest.fromPartial({
      task: { ...task, token: Buffer.from('t'), input: { data: Buffer.from('{"n":4}'), encoding: '' } },
    }),
  ).finish(),
);

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

function send(
  port: number,
  { method = 'POST', body = call, type = TYPE, headers = {}, host = '127.0.0.1' } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, method, headers: { 'content-type': type, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('expressCallback', () => {
  it('is not made without a key', () => {
    expect(() => expressCallback(quiet)).toThrow(/no key to verify/);
    expect(() => expressCallback({ ...quiet, signingKey: '' })).toThrow(/no key to verify/);
    expect(() => expressCallback({ ...quiet, signingKey: [] })).toThrow(/no key to verify/);
  });

  it('takes unsigned calls of this machine when it is told to, and runs them', async () => {
    const port = await listen(expressCallback({ ...quiet, insecureDevelopment: true }));
    const { status, body } = await send(port);
    expect(status).toBe(200);
    const { event } = InvokeResponse.decode(body);
    expect(event).toMatchObject({ $case: 'result', value: { runId: 'r', path: 'double', attempt: 1 } });
    expect(JSON.stringify(event?.$case === 'result' && event.value.outcome)).toContain(
      JSON.stringify(Buffer.from('8')),
    );
  });

  it('takes unsigned calls neither through a proxy nor by another address', async () => {
    const handle = expressCallback({ ...quiet, insecureDevelopment: true });
    const port = await listen(handle, '0.0.0.0');
    expect(await send(port, { headers: { 'x-forwarded-for': '1.2.3.4' } })).toMatchObject({ status: 401 });
    expect(await send(port, { headers: { forwarded: 'for=1.2.3.4' } })).toMatchObject({ status: 401 });
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((one) => one?.family === 'IPv4' && !one.internal);
    if (outside !== undefined) expect(await send(port, { host: outside.address })).toMatchObject({ status: 401 });
    expect(await send(port)).toMatchObject({ status: 200 });
  });

  it('refuses other methods, types and sizes before it reads them', async () => {
    const port = await listen(expressCallback({ ...quiet, insecureDevelopment: true, bodyLimitBytes: call.length }));
    expect(await send(port, { method: 'PUT' })).toMatchObject({ status: 405 });
    expect(await send(port, { type: 'application/json' })).toMatchObject({ status: 415 });
    expect(await send(port, { body: Buffer.concat([call, Buffer.alloc(1)]) })).toMatchObject({ status: 413 });
    expect(await send(port)).toMatchObject({ status: 200 });
  });

  it('refuses an unsigned call when it has a key, also of this machine', async () => {
    const signingKey = `whpk_${Buffer.alloc(32, 1).toString('base64')}`;
    const port = await listen(expressCallback({ ...quiet, signingKey, insecureDevelopment: true }));
    expect(await send(port)).toMatchObject({ status: 401 });
  });

  it('says that something else has read the body', async () => {
    const handle = expressCallback({ ...quiet, insecureDevelopment: true });
    const port = await listen((incoming, response) => {
      incoming.resume();
      incoming.on('end', () => handle(incoming, response));
    });
    const { status, body } = await send(port);
    expect([status, body.toString()]).toEqual([500, expect.stringContaining('before body parsers')]);
  });
});

describe('serveCallbacks', () => {
  it('takes unsigned calls on the loopback only', () => {
    for (const host of ['0.0.0.0', '::', '10.0.0.1', 'app.example.com']) {
      expect(() => serveCallbacks({ ...quiet, port: 0, host, insecureDevelopment: true })).toThrow(/does not work on/);
    }
  });

  it('is not served with an empty key', () => {
    expect(() => serveCallbacks({ ...quiet, port: 0, signingKey: '' })).toThrow(/no key to verify/);
  });
});
