/** Connect and gRPC-Web as their own clients and plain requests meet them: errors, streams, deadlines, refusals. */
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import {
  create,
  fromJson,
  toJson,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
} from '@bufbuild/protobuf';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Error as WireError } from '../../gen/ductor/v1/common.js';
import { testDatabase } from '../../store/testing/index.js';
import { startTestNode, type TestNode } from '../grpc/testing/test-node.js';
import { bearer, httpCall, member, type HttpAnswer } from '../testing/http-call.js';
import { CONTRACT, methodNamed } from '../testing/three-doors.js';
import { envelope } from './envelope.js';

const database = testDatabase();
let node: TestNode;
let key: string;
let tenantId: string;

const pause = (duration: string) => [{ ref: 'pause', type: 'STEP_TYPE_WAIT', args: { duration } }];

beforeAll(async () => {
  node = await startTestNode(database.db);
  ({ apiKey: key, tenantId } = await node.tenant('connect'));
  for (const [slug, duration] of [
    ['brief', '300ms'],
    ['long', '1h'],
  ] as const) {
    await node.registry.create(tenantId, { family_slug: slug, steps: pause(duration) });
    await node.registry.publish(tenantId, slug, 0);
  }
});
afterAll(() => node.stop());

const isUnary = (desc: DescMethod): desc is DescMethodUnary => desc.methodKind === 'unary';
const isStream = (desc: DescMethod): desc is DescMethodServerStreaming => desc.methodKind === 'server_streaming';
const headers = (): Record<string, string> => ({ authorization: `Bearer ${key}` });

function transports(): readonly (readonly [string, Transport])[] {
  const options = { baseUrl: `http://${node.address}`, httpVersion: '1.1' } as const;
  return [
    ['Connect, JSON', createConnectTransport({ ...options, useBinaryFormat: false })],
    ['Connect, protobuf', createConnectTransport({ ...options, useBinaryFormat: true })],
    ['gRPC-Web, JSON', createGrpcWebTransport({ ...options, useBinaryFormat: false })],
    ['gRPC-Web, protobuf', createGrpcWebTransport({ ...options, useBinaryFormat: true })],
  ];
}

async function unary(transport: Transport, name: string, json: Record<string, string>): Promise<unknown> {
  const { desc } = methodNamed(name);
  if (!isUnary(desc)) throw new TypeError(name);
  const { message } = await transport.unary(desc, undefined, undefined, headers(), fromJson(desc.input, json));
  return toJson(desc.output, message, { useProtoFieldName: true });
}

async function* watch(transport: Transport, runId: string, signal?: AbortSignal): AsyncGenerator<unknown> {
  const { desc } = methodNamed('WatchRun');
  if (!isStream(desc)) throw new TypeError('WatchRun');
  async function* one() {
    const empty = create(desc.input);
    yield { ...empty, ...fromJson(desc.input, { run_id: runId }) };
  }
  const { message } = await transport.stream(desc, signal, undefined, headers(), one());
  for await (const each of message) yield toJson(desc.output, each, { useProtoFieldName: true });
}

async function triggered(familySlug: string): Promise<string> {
  const body = JSON.stringify({ family_slug: familySlug });
  const { json } = await post('/ductor.v1.RunService/TriggerRun', body);
  return String(member(json, 'data', 'id'));
}

function post(path: string, body: string | Uint8Array, more: Record<string, string> = {}): Promise<HttpAnswer> {
  return httpCall(node.address, { method: 'POST', path, body, headers: { ...bearer(key), ...more } });
}

/** The ductor.v1.Error that a client finds in a ConnectError. */
function toldBy(error: unknown): WireError | undefined {
  if (!(error instanceof ConnectError)) return undefined;
  for (const detail of error.details) {
    if ('type' in detail && detail.type === 'ductor.v1.Error') return WireError.decode(detail.value);
  }
  const bytes = error.metadata.get('ductor-error-bin');
  return bytes === null ? undefined : WireError.decode(Buffer.from(bytes, 'base64'));
}

describe('errors', () => {
  it('have the code of the catalogue in their detail, through every protocol', async () => {
    for (const [protocol, transport] of transports()) {
      const error: unknown = await unary(transport, 'GetRun', { run_id: 'nope' }).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(ConnectError);
      expect([protocol, error instanceof ConnectError && error.code]).toEqual([protocol, Code.InvalidArgument]);
      expect([protocol, toldBy(error)]).toMatchObject([
        protocol,
        { code: 'invalid_argument', details: [{ path: 'run_id' }] },
      ]);
    }
  });

  it('have the HTTP status of Connect, not of REST', async () => {
    const body = JSON.stringify({ workflow_id: 'long', expected_version: 99 });
    const { status, json } = await post('/ductor.v1.WorkflowService/PublishWorkflow', body);
    expect([status, member(json, 'code')]).toEqual([400, 'failed_precondition']);
    expect(member(json, 'details', 0)).toMatchObject({ type: 'ductor.v1.Error', debug: { code: 'version_conflict' } });
  });
});

describe('streams', () => {
  it('come message by message and end well', async () => {
    for (const [protocol, transport] of transports()) {
      const seen: unknown[] = [];
      for await (const each of watch(transport, await triggered('brief'))) seen.push(member(each, 'data', 'state'));
      expect([protocol, seen[0], seen.at(-1)]).toEqual([protocol, 'RUN_STATE_WAITING', 'RUN_STATE_COMPLETED']);
    }
  });

  it('end with the error when they end badly', async () => {
    for (const [protocol, transport] of transports()) {
      const missing = '00000000-0000-7000-8000-000000000000';
      const error: unknown = await watch(transport, missing)
        .next()
        .catch((caught: unknown) => caught);
      expect([protocol, error instanceof ConnectError && error.code]).toEqual([protocol, Code.NotFound]);
      expect([protocol, toldBy(error)?.code]).toEqual([protocol, 'not_found']);
    }
  });

  it('are let go when the caller goes', async () => {
    const id = await triggered('long');
    const [, transport] = transports()[0] ?? expect.unreachable();
    const stop = new AbortController();
    const stream = watch(transport, id, stop.signal);
    expect(member((await stream.next()).value, 'data', 'state')).toBe('RUN_STATE_WAITING');
    stop.abort();
    await expect(stream.next()).rejects.toMatchObject({ code: Code.Canceled });
  });

  it('end when the key is revoked', async () => {
    const mine = await node.tenancy.createKey({ tenantId, name: 'brief', scopes: ['run:read'] });
    const id = await triggered('long');
    const startMs = performance.now();
    const watching = httpCall(node.address, { path: `/api/runs/${id}:watch`, headers: bearer(mine.apiKey) });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await node.tenancy.revokeKey(tenantId, mine.keyId);
    const lines = (await watching).body.toString().trim().split('\n');
    expect(member(JSON.parse(lines.at(-1) ?? ''), 'error', 'code')).toBe('unauthenticated');
    expect(performance.now() - startMs).toBeLessThan(6_000);
  });

  it('are ended by a node that stops, and tell that another one may be asked', async () => {
    const other = await startTestNode(database.db);
    const id = await triggered('long');
    const asked = { path: `/api/runs/${id}:watch`, headers: bearer(key) };
    const framed = { ...bearer(key), 'content-type': 'application/connect+json' };
    const body = envelope(0, Buffer.from(JSON.stringify({ run_id: id })));
    const path = '/ductor.v1.RunService/WatchRun';
    const watching = [
      httpCall(other.address, asked),
      httpCall(other.address, { method: 'POST', path, headers: framed, body }),
    ];
    await new Promise((resolve) => setTimeout(resolve, 300));
    const startMs = performance.now();
    await other.server.close();
    for (const answer of await Promise.all(watching)) expect(answer.body.toString()).toContain('"node_starting"');
    expect(performance.now() - startMs).toBeLessThan(2_000);
    await other.stop();
  });

  it('show signs of life when there is nothing to say', async () => {
    const other = await startTestNode(database.db, { limits: { keepAliveMs: 50 } });
    const id = await triggered('long');
    const watching = httpCall(other.address, { path: `/api/runs/${id}:watch`, headers: bearer(key) });
    await new Promise((resolve) => setTimeout(resolve, 400));
    await other.stop();
    const lines = (await watching).body.toString().split('\n');
    expect(lines.filter((line) => line === '').length).toBeGreaterThan(3);
    expect(lines.filter((line) => line !== '').every((line) => line.startsWith('{'))).toBe(true);
  });

  it('both ways are told to go to gRPC', async () => {
    for (const type of ['application/connect+json', 'application/grpc-web']) {
      const { status, body } = await post('/ductor.v1.RunService/AwaitRuns', envelope(0, Buffer.alloc(0)), {
        'content-type': type,
      });
      expect(status).toBe(200);
      expect(body.toString('latin1')).toMatch(/"code":"unimplemented"|grpc-status: 12/);
    }
  });
});

describe('deadlines', () => {
  it('end a stream that has nothing to say', async () => {
    const id = await triggered('long');
    const request = envelope(0, Buffer.from(JSON.stringify({ run_id: id })));
    const more = { 'content-type': 'application/connect+json', 'connect-timeout-ms': '200' };
    const { body } = await post('/ductor.v1.RunService/WatchRun', request, more);
    expect(body.toString()).toContain('"code":"deadline_exceeded"');
  });

  it.each([
    ['connect-timeout-ms', 'soon'],
    ['connect-timeout-ms', '-1'],
    ['grpc-timeout', '5'],
    ['grpc-timeout', '123456789m'],
  ])('such as %s: %s are refused', async (name, value) => {
    const { status, json } = await post('/ductor.v1.RunService/ListRuns', '{}', { [name]: value });
    expect([status, member(json, 'details', 0, 'debug', 'details', 0, 'path')]).toEqual([400, name]);
  });
});

const LIST = '/ductor.v1.RunService/ListRuns';

describe('requests', () => {
  it('may be compressed', async () => {
    expect((await post(LIST, gzipSync('{}'), { 'content-encoding': 'gzip' })).status).toBe(200);
    const more = { 'content-type': 'application/grpc-web+json', 'grpc-encoding': 'gzip' };
    const { body } = await post(LIST, envelope(1, gzipSync('{}')), more);
    expect(body.toString()).toContain('grpc-status: 0');
  });

  it('may be base64 for gRPC-Web', async () => {
    const text = envelope(0, Buffer.from('{}')).toString('base64');
    const { body, headers: received } = await post(LIST, text, { 'content-type': 'application/grpc-web-text+json' });
    expect(received['content-type']).toBe('application/grpc-web-text+json');
    const frames = Buffer.concat(
      body
        .toString()
        .split(/(?<==)(?=[A-Za-z0-9+/])/)
        .map((part) => Buffer.from(part, 'base64')),
    );
    expect(frames.toString()).toContain('grpc-status: 0');
  });

  it.each([
    ['nothing', Buffer.alloc(0), 'holds no message'],
    ['half a message', Buffer.from([0, 0, 0, 0, 9, 123]), 'ends inside its message'],
    ['two messages', Buffer.concat([envelope(0, Buffer.from('{}')), envelope(0, Buffer.from('{}'))]), 'more than one'],
    ['strange flags', envelope(0x40, Buffer.from('{}')), 'the flags 64'],
    ['an unnamed compression', envelope(1, gzipSync('{}')), 'has the encoding'],
  ])('with %s in envelopes are refused', async (_, body, problem) => {
    for (const type of ['application/connect+json', 'application/grpc-web+json']) {
      const answer = await post(LIST, body, { 'content-type': type });
      expect(answer.status).toBe(200);
      expect(decodeURIComponent(answer.body.toString())).toContain(problem);
    }
  });

  it.each([
    ['text/plain', LIST, 415, 'unsupported_media_type'],
    ['application/grpc', LIST, 415, 'unsupported_media_type'],
    ['application/json', '/ductor.v1.RunService/WatchRun', 400, 'unsupported_media_type'],
    ['application/json', '/ductor.v1.RunService/Nothing', 501, 'unimplemented'],
    ['application/json', '/ductor.v1.Nothing/Nothing', 404, 'route_not_found'],
  ])('of type %s to %s are refused', async (type, path, status, code) => {
    const answer = await post(path, '{}', { 'content-type': type });
    const told = member(answer.json, 'details', 0, 'debug', 'code') ?? member(answer.json, 'error', 'code');
    expect([answer.status, told]).toEqual([status, code]);
  });

  it('of another version of the protocol are refused', async () => {
    const { json } = await post(LIST, '{}', { 'connect-protocol-version': '2' });
    expect(member(json, 'code')).toBe('invalid_argument');
  });

  it('without a key are refused before they are read', async () => {
    const bare = { 'content-type': 'application/json' };
    const { status } = await httpCall(node.address, { method: 'POST', path: LIST, body: '{', headers: bare });
    expect(status).toBe(401);
  });

  it('that take field names in lowerCamelCase are answered by name', async () => {
    const { status, json } = await post(LIST, '{"familySlug": "long", "pagination": {"pageSize": 1}}');
    expect([status, member(json, 'pagination', 'next_cursor')]).not.toContain(undefined);
    expect(CONTRACT.methods.has(LIST)).toBe(true);
  });
});
