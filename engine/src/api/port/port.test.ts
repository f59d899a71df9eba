import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/index.js';
import { HTTP_LIMITS, MAX_HEADER_BYTES, type HttpLimits } from '../http/limits.js';
import { respond } from '../http/respond.js';
import { readBody } from '../http/read-body.js';
import { createPort, type Port } from './port.js';

const QUICK: HttpLimits = { ...HTTP_LIMITS, headersMs: 300, requestMs: 600, idleMs: 500, checkMs: 50, closeMs: 300 };
const HTTP2_ANSWER = 'it speaks HTTP/2';

const ports: Port[] = [];
const sockets: Socket[] = [];
let dropped = 0;
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(ports.splice(0).map((port) => port.close()));
});

/** A port whose HTTP/2 side says so, and whose HTTP/1.1 side tells the length of each body, or why it could not. */
async function open(limits: Partial<HttpLimits> = {}): Promise<{ readonly port: Port; readonly number: number }> {
  dropped = 0;
  const port = createPort({
    clock: systemClock(),
    limits: { ...QUICK, ...limits },
    http2(socket) {
      const bytes: unknown = socket.read();
      socket.end(`${HTTP2_ANSWER} ${Buffer.isBuffer(bytes) ? bytes.length : 0}`);
    },
    onTooMany: () => (dropped += 1),
    handler: (request, response) =>
      void readBody(request).then(
        (body) => respond(response, 200, {}, `${body.length} bytes`),
        () => respond(response, 400, {}, 'cut'),
      ),
  });
  ports.push(port);
  return { port, number: await port.bind('127.0.0.1', 0) };
}

function dial(number: number): Socket {
  const socket = connect(number, '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

/** Sends the parts, each in a packet of its own, and takes what comes until the connection is closed. */
async function say(number: number, parts: readonly (string | Buffer)[], everyMs = 5): Promise<string> {
  const socket = dial(number);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.setNoDelay(true);
  for (const part of parts) {
    if (socket.destroyed) break;
    socket.write(part);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  await closed;
  return Buffer.concat(chunks).toString();
}

const CLOSE = 'connection: close\r\n';

describe('first bytes', () => {
  it.each([
    ['at once', ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']],
    ['byte by byte', ['P', 'R', 'I', ' * HTTP/2.0']],
  ])('that are the preface go to gRPC, sent %s', async (_, parts) => {
    const { number } = await open();
    expect(await say(number, parts)).toContain(HTTP2_ANSWER);
  });

  it('reach gRPC whole', async () => {
    const { number } = await open();
    expect(await say(number, ['PRI * HTTP/2.0'])).toBe(`${HTTP2_ANSWER} 14`);
  });

  it.each([
    ['at once', [`POST / HTTP/1.1\r\nhost: x\r\n${CLOSE}content-length: 3\r\n\r\nabc`]],
    ['byte by byte', ['P', 'O', 'ST / HTTP/1.1\r\nhost: x\r\n', `${CLOSE}content-length: 3\r\n\r\na`, 'b', 'c']],
    ['nearly as the preface', ['PR', `OPFIND / HTTP/1.1\r\nhost: x\r\n${CLOSE}content-length: 3\r\n\r\nabc`]],
  ])('that are not go to HTTP/1.1, sent %s', async (_, parts) => {
    const { number } = await open();
    expect(await say(number, parts)).toMatch(/^HTTP\/1.1 200 OK[^]*3 bytes$/);
  });

  it('that do not come, or say too little, close the connection', async () => {
    const { number } = await open();
    const startMs = performance.now();
    expect(await Promise.all([say(number, []), say(number, ['PR'])])).toEqual(['', '']);
    expect(performance.now() - startMs).toBeLessThan(QUICK.headersMs + 500);
  });
});

describe('times', () => {
  it('cut headers that trickle', async () => {
    const { number } = await open();
    const parts = ['GET / HTTP/1.1\r\n', ...Array.from({ length: 60 }, (_, index) => `x-${index}: 1\r\n`)];
    const startMs = performance.now();
    const answer = await say(number, parts, 20);
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
    expect(answer).toContain('"code":"deadline_exceeded"');
    expect(performance.now() - startMs).toBeLessThan(1_200);
  });

  it('cut a body that trickles', async () => {
    const { number } = await open();
    const head = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n';
    const startMs = performance.now();
    const answer = await say(number, [head, ...Array.from({ length: 100 }, () => 'x')], 20);
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
    expect(performance.now() - startMs).toBeLessThan(1_500);
  });

  it('close a connection that asks for nothing more', async () => {
    const { number } = await open();
    const startMs = performance.now();
    expect(await say(number, ['GET / HTTP/1.1\r\nhost: x\r\n\r\n'])).toContain('0 bytes');
    expect(performance.now() - startMs).toBeGreaterThan(QUICK.idleMs - 50);
    expect(performance.now() - startMs).toBeLessThan(QUICK.idleMs + 1_500);
  });
});

describe('what is no HTTP', () => {
  it('is told so in JSON', async () => {
    const { number } = await open();
    for (const garbage of ['\x16\x03\x01\x02\x00', 'HELO mail\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n']) {
      const answer = await say(number, [garbage]);
      expect(answer).toMatch(/^HTTP\/1.1 400 Bad Request/);
      expect(answer).toContain('"code":"invalid_argument"');
      expect(answer).toContain('"remedy":');
    }
  });

  it.each([
    [MAX_HEADER_BYTES - 512, 200],
    [MAX_HEADER_BYTES + 1, 431],
    [MAX_HEADER_BYTES * 10, 431],
  ])('or has %i bytes of headers: %i', async (bytes, status) => {
    const { number } = await open();
    const answer = await say(number, [`GET / HTTP/1.1\r\nhost: x\r\n${CLOSE}x-large: ${'x'.repeat(bytes)}\r\n\r\n`]);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    if (status === 431) expect(answer).toContain('"code":"invalid_argument"');
  });

  it('such as a body in broken chunks', async () => {
    const { number } = await open();
    const head = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
    expect(await say(number, [head, 'zz\r\n'])).toMatch(/^HTTP\/1.1 400 /);
  });

  it('such as two lengths, or a length beside chunks: no room for smuggling', async () => {
    const { number } = await open();
    for (const lines of [
      'content-length: 3\r\ncontent-length: 4\r\n',
      'content-length: 3\r\ntransfer-encoding: chunked\r\n',
    ]) {
      expect(await say(number, [`POST / HTTP/1.1\r\nhost: x\r\n${lines}\r\nabc`])).toMatch(/^HTTP\/1.1 400 /);
    }
  });
});

describe('connections', () => {
  it('beyond the limit are closed at once, and counted', async () => {
    const { number } = await open({ connections: 2 });
    const kept = [dial(number), dial(number)];
    await Promise.all(kept.map((socket) => new Promise((resolve) => socket.on('connect', resolve))));
    expect(await say(number, ['GET / HTTP/1.1\r\nhost: x\r\n\r\n'])).toBe('');
    expect(dropped).toBe(1);
  });

  it('end after their answer while the port drains', async () => {
    const { port, number } = await open();
    const socket = dial(number);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nab');
    await new Promise((resolve) => setTimeout(resolve, 50));
    const closed = port.close();
    socket.write('c');
    await closed;
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1.1 200 OK[^]*3 bytes$/);
    expect(await say(number, ['GET / HTTP/1.1\r\nhost: x\r\n\r\n'])).toBe('');
  });

  it('that never say anything do not hold up a stop', async () => {
    const { port, number } = await open({ headersMs: 60_000, requestMs: 60_000, closeMs: 30_000 });
    const socket = dial(number);
    await new Promise((resolve) => socket.on('connect', resolve));
    const startMs = performance.now();
    await port.close();
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });

  it('are refused, with a name for it, when the address is taken', async () => {
    const { number } = await open();
    const { port } = await open();
    await port.close();
    await expect(port.bind('127.0.0.1', number)).rejects.toMatchObject({ code: 'address_unavailable' });
  });
});
