import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectClear } from 'node:net';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, type ConnectionOptions } from 'node:tls';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manualClock } from '../../kernel/testing/manual-clock.js';
import { systemClock, type Clock } from '../../kernel/index.js';
import { HTTP_LIMITS } from '../http/limits.js';
import { respond } from '../http/respond.js';
import { createPort, type Port } from './port.js';
import { tlsGate, type TlsFiles } from './tls.js';

const FIXTURES = fileURLToPath(new URL('../../../../test/fixtures/tls/', import.meta.url));
const fixture = (name: string): string => join(FIXTURES, name);
const pem = (name: string): string => readFileSync(fixture(name), 'utf8');
const FILES: TlsFiles = { cert: fixture('server.pem'), key: fixture('server-key.pem'), clientCa: null };
const CA = pem('ca.pem');

let folder: string;
const ports: Port[] = [];
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'ductor-tls-'))));
afterEach(async () => {
  await Promise.all(ports.splice(0).map((port) => port.close()));
  rmSync(folder, { recursive: true });
});

/** A port with TLS; both its sides say how they were spoken to. */
async function open(tls: TlsFiles, clock: Clock = systemClock()): Promise<number> {
  const http2 = createServer((_request, response) => response.end('HTTP/2'));
  const port = createPort({
    ...{ clock, limits: { ...HTTP_LIMITS, headersMs: 500, closeMs: 200 }, tls },
    http2: (socket) => void http2.emit('connection', socket),
    handler: (_request, response) => respond(response, 200, {}, 'HTTP/1.1'),
    onTooMany: () => undefined,
  });
  ports.push(port);
  return port.bind('127.0.0.1', 0);
}

function overHttp1(port: number, options: ConnectionOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: 'localhost', port, ca: CA, agent: false, ...options }, (response) => {
      response.setEncoding('utf8').on('data', resolve);
    }).on('error', reject);
  });
}

async function overHttp2(port: number): Promise<string> {
  const session = connectHttp2(`https://localhost:${port}`, { ca: CA });
  try {
    const stream = session.request({ ':path': '/' });
    const [text] = (await once(stream.setEncoding('utf8'), 'data')) as [string];
    return text;
  } finally {
    session.destroy();
  }
}

/** Name on the certificate that a new connection is shown. */
async function shown(port: number): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, ca: CA, ALPNProtocols: ['h2'] });
  await once(socket, 'secureConnect');
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}

describe('a port with TLS', () => {
  it('serves HTTP/2 and HTTP/1.1', async () => {
    const port = await open(FILES);
    expect([await overHttp1(port), await overHttp2(port)]).toEqual(['HTTP/1.1', 'HTTP/2']);
  });

  it.each(['GET / HTTP/1.1\r\nhost: x\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', ''])(
    'answers nothing in clear: %j',
    async (text) => {
      const socket = connectClear(await open(FILES), '127.0.0.1');
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
      if (text !== '') socket.write(text);
      await once(socket, 'close');
      expect(Buffer.concat(chunks).toString()).not.toContain('HTTP');
    },
  );

  it('lets only callers in whose certificate its authorities signed, where it names some', async () => {
    const port = await open({ ...FILES, clientCa: fixture('ca.pem') });
    await expect(overHttp1(port)).rejects.toThrow(/socket hang up|ECONNRESET|certificate required|alert/);
    const own = { cert: pem('client.pem'), key: pem('client-key.pem') };
    expect(await overHttp1(port, own)).toBe('HTTP/1.1');
  });

  it('shows a renewed certificate within a minute, and the old one while the new files cannot be used', async () => {
    const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem'), clientCa: null };
    const put = (name: string): void => {
      copyFileSync(fixture(`${name}.pem`), files.cert);
      copyFileSync(fixture(`${name}-key.pem`), files.key);
    };
    put('server');
    const clock = manualClock();
    const port = await open(files, clock);
    expect(await shown(port)).toBe('server');
    writeFileSync(files.cert, 'half a certif');
    clock.advance(60_000);
    expect(await shown(port)).toBe('server');
    put('renewed');
    clock.advance(60_000);
    expect(await shown(port)).toBe('renewed');
  });

  it.each([
    [{ ...FILES, cert: fixture('nowhere.pem') }, 'DUCTOR_TLS_CERT: '],
    [{ ...FILES, clientCa: fixture('nowhere.pem') }, 'DUCTOR_TLS_CLIENT_CA: '],
    [{ ...FILES, key: fixture('renewed-key.pem') }, 'cannot be used together'],
  ])('refuses files that cannot be used', (files, message) => {
    const options = { clock: manualClock(), handshakeMs: 1 };
    expect(() =>
      tlsGate(
        files,
        options,
        () => undefined,
        () => undefined,
      ),
    ).toThrow(message);
  });
});
