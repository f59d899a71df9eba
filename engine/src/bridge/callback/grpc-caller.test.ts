import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Server, ServerCredentials, status, type ServerWritableStream, type ServiceDefinition } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { egressGuard, egressPolicy } from '../../egress/index.js';
import { BridgeCallbackServiceService, InvokeResponse } from '../../gen/ductor/v1/callback.js';
import { DuctorError } from '../../kernel/index.js';
import type { CallbackCall, CallbackCaller } from './caller.js';
import { grpcCaller } from './grpc-caller.js';

type Invoke = ServerWritableStream<Buffer, Buffer>;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const asIs = (bytes: Buffer): Buffer => bytes;
const SERVICE: ServiceDefinition = {
  invoke: { ...BridgeCallbackServiceService.invoke, requestDeserialize: asIs, responseSerialize: asIs },
};
const encoded = (event: InvokeResponse['event']): Buffer => Buffer.from(InvokeResponse.encode({ event }).finish());
const RESULT = { resultId: 0n, runId: 'r', path: 'p', attempt: 1, token: Buffer.from('t'), outcome: undefined };
const BEAT = { runId: 'r', path: 'p', attempt: 1, token: Buffer.from('t'), progress: undefined };
const SIGNATURE = { 'webhook-id': 'i', 'webhook-timestamp': '1', 'webhook-signature': 'v1a,x' };

/** An app that does this with a call; returns its port. */
async function app(invoke: (call: Invoke) => void): Promise<number> {
  const server = new Server();
  server.addService(SERVICE, { invoke });
  closers.push(() => server.forceShutdown());
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    );
  });
}

function caller(networks: readonly string[] = ['127.0.0.1']): CallbackCaller {
  const policy = egressPolicy(networks);
  if ('invalid' in policy) throw new TypeError('no networks');
  const made = grpcCaller(egressGuard(policy, (name) => Promise.resolve(name === 'app.test' ? ['127.0.0.1'] : [])));
  closers.push(() => made.close());
  return made;
}

const callTo = (port: number, more: Partial<CallbackCall> = {}): CallbackCall => ({
  ...{ url: `http://app.test:${port}`, body: Buffer.from('body'), signature: SIGNATURE, timeoutMs: 5_000 },
  ...{ signal: new AbortController().signal, beat: () => undefined, ...more },
});

const codeOf = (called: Promise<unknown>): Promise<string> =>
  called.then(
    () => 'answered',
    (error: unknown) => DuctorError.from(error).code,
  );

describe('grpcCaller', () => {
  it('sends the bytes that were signed, and takes heartbeats and the result', async () => {
    let seen: unknown[] = [];
    const port = await app((call) => {
      seen = [call.request.toString(), call.metadata.get('webhook-id'), call.getHost()];
      call.write(encoded({ $case: 'heartbeat', value: BEAT }));
      call.write(encoded({ $case: 'result', value: RESULT }));
      call.write(encoded({ $case: 'result', value: { ...RESULT, attempt: 2 } }));
      call.end();
    });
    const beats: unknown[] = [];
    const result = await caller().call(callTo(port, { beat: (beat) => beats.push(beat) }));
    expect(result).toMatchObject({ $case: 'result', value: { runId: 'r', attempt: 1 } });
    expect(beats).toMatchObject([{ path: 'p' }]);
    expect(seen).toEqual(['body', ['i'], `app.test:${port}`]);
  });

  it('tells what is no result from what is refused, and from nobody', async () => {
    const answers: readonly (readonly [string, (call: Invoke) => void])[] = [
      ['callback_invalid', (call) => void (call.write(Buffer.from([255, 255, 255])), call.end())],
      ['callback_invalid', (call) => void (call.write(Buffer.alloc(0)), call.end())],
      ['callback_invalid', (call) => void call.end()],
      ['callback_refused', (call) => void call.emit('error', { code: status.UNAUTHENTICATED, details: 'no' })],
      ['callback_refused', (call) => void call.emit('error', { code: status.INTERNAL, details: 'broken' })],
      ['callback_refused', (call) => void call.write(Buffer.alloc(3_000_000))],
      ['host_unreachable', (call) => void call.emit('error', { code: status.UNAVAILABLE, details: 'going away' })],
    ];
    for (const [code, invoke] of answers) {
      const port = await app(invoke);
      expect([invoke.toString(), await codeOf(caller().call(callTo(port)))]).toEqual([invoke.toString(), code]);
    }
    expect(await codeOf(caller().call(callTo(1)))).toBe('host_unreachable');
  });

  it('says that the connection was reset, and that something speaks no gRPC', async () => {
    for (const handle of [
      (socket: Socket): void => void socket.resetAndDestroy(),
      (socket: Socket): void => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    ]) {
      const server = createServer(handle);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      closers.push(() => server.close());
      const { port } = server.address() as AddressInfo;
      const stop = new AbortController();
      const code = await codeOf(caller().call(callTo(port, { signal: stop.signal })));
      expect(['host_unreachable', 'callback_refused']).toContain(code);
    }
  });

  it('dials nothing that the guard refuses', async () => {
    let calls = 0;
    const port = await app(() => (calls += 1));
    expect(await codeOf(caller([]).call(callTo(port)))).toBe('egress_refused');
    expect(await codeOf(caller().call(callTo(port, { url: `http://127.0.0.2:${port}` })))).toBe('egress_refused');
    expect(calls).toBe(0);
  });

  it('cancels the call when it is given up, and the app hears of it', async () => {
    const stop = new AbortController();
    let heard: () => void = () => undefined;
    const isHeard = new Promise<void>((resolve) => (heard = resolve));
    const port = await app((call) => {
      call.on('cancelled', () => heard());
      stop.abort();
    });
    expect(await codeOf(caller().call(callTo(port, { signal: stop.signal })))).toBe('request_cancelled');
    await isHeard;
    expect(await codeOf(caller().call(callTo(port, { signal: AbortSignal.abort() })))).toBe('request_cancelled');
  });
});
