import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createNetServer, type Server as NetServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { DuctorError, systemClock } from '../kernel/index.js';
import { egressGuard } from './guard.js';
import { egressPolicy } from './policy.js';
import { egressClient, type EgressClient, type EgressRequest } from './request.js';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Listens on a free port of the loopback. */
async function listen(server: Server | NetServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function client(networks: string[] = ['127.0.0.1']): EgressClient {
  const policy = egressPolicy(networks);
  if ('invalid' in policy) throw new TypeError('no networks');
  const resolve = (name: string): Promise<string[]> => Promise.resolve(name === 'app.test' ? ['127.0.0.1'] : []);
  const made = egressClient(egressGuard(policy, resolve), systemClock());
  closers.push(() => made.close());
  return made;
}

const serve = (handle: RequestListener): Promise<number> => listen(createServer(handle));

function requestTo(url: string, more: Partial<EgressRequest> = {}): EgressRequest {
  return { method: 'GET', url, headers: {}, timeoutMs: 5_000, maxBytes: 1_000, ...more };
}

const codeOf = (sent: Promise<unknown>): Promise<string> =>
  sent.then(
    () => 'answered',
    (error: unknown) => DuctorError.from(error).code,
  );

describe('egressClient', () => {
  it('sends method, headers and body to the host that the URL names, and gives the answer back', async () => {
    const port = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { host, 'x-a': a } = request.headers;
        response.writeHead(418, { 'x-b': '2', 'set-cookie': ['a=1', 'b=2'] });
        response.end(JSON.stringify([request.method, request.url, host, a, Buffer.concat(chunks).toString()]));
      });
    });
    const headers = { 'x-a': '1', Host: 'other', connection: 'close' };
    const sent = requestTo(`http://app.test:${port}/p?q=1`, { method: 'POST', headers, body: Buffer.from('hello') });
    const answer = await client().send(sent);
    expect(answer.status).toBe(418);
    expect(answer.headers).toMatchObject({ 'x-b': '2', 'set-cookie': 'a=1, b=2' });
    expect(JSON.parse(answer.body.toString())).toEqual(['POST', '/p?q=1', `app.test:${port}`, '1', 'hello']);
  });

  it('calls nothing that the guard refuses', async () => {
    let calls = 0;
    const port = await serve((_, response) => {
      calls += 1;
      response.end();
    });
    expect(await codeOf(client([]).send(requestTo(`http://app.test:${port}/`)))).toBe('egress_refused');
    expect(calls).toBe(0);
  });

  it('follows redirects only when asked, as far as asked, and checks each', async () => {
    const port = await serve(({ url }, response) => {
      const step = Number(url?.slice(1));
      if (step === 9) response.writeHead(302, { location: 'http://127.0.0.2/' });
      else if (step < 3) response.writeHead(307, { location: `/${step + 1}` });
      response.end(url);
    });
    const from = (path: number, maxRedirects?: number): EgressRequest =>
      requestTo(`http://127.0.0.1:${port}/${path}`, maxRedirects === undefined ? {} : { maxRedirects });
    expect(await client().send(from(0))).toMatchObject({ status: 307 });
    expect(await client().send(from(0, 2))).toMatchObject({ status: 307, url: `http://127.0.0.1:${port}/2` });
    expect(await client().send(from(0, 3))).toMatchObject({ status: 200, body: Buffer.from('/3') });
    expect(await codeOf(client().send(from(9, 3)))).toBe('egress_refused');
  });

  it('takes no credentials along to another origin', async () => {
    const seen: (string | undefined)[] = [];
    const second = await serve(({ headers }, response) => {
      seen.push(headers.authorization, headers['x-a']?.toString());
      response.end();
    });
    const first = await serve((_, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${second}/` }).end();
    });
    const headers = { Authorization: 'Bearer x', 'x-a': '1' };
    await client().send(requestTo(`http://127.0.0.1:${first}/`, { headers, maxRedirects: 1 }));
    expect(seen).toEqual([undefined, '1']);
  });

  it('bounds an answer in size and in time', async () => {
    const port = await serve(({ url }, response) => {
      if (url === '/large') response.end(Buffer.alloc(1_001));
      else if (url === '/full') response.end(Buffer.alloc(1_000));
      else if (url === '/slow') response.write('a');
    });
    const at = (path: string, timeoutMs = 5_000): EgressRequest =>
      requestTo(`http://127.0.0.1:${port}${path}`, { timeoutMs });
    expect(await client().send(at('/full'))).toMatchObject({ status: 200 });
    expect(await codeOf(client().send(at('/large')))).toBe('value_too_large');
    expect(await codeOf(client().send(at('/slow', 50)))).toBe('deadline_exceeded');
    expect(await codeOf(client().send(at('/silent', 50)))).toBe('deadline_exceeded');
  });

  it('says that there was no whole answer: reset, cut, garbage, nobody, compressed', async () => {
    const port = await serve(({ url }, response) => {
      if (url === '/reset') response.socket?.resetAndDestroy();
      else if (url === '/gzip') response.writeHead(200, { 'content-encoding': 'gzip' }).end('x');
      else {
        response.writeHead(200, { 'content-length': 100 });
        response.write('half', () => response.destroy());
      }
    });
    const noise = createNetServer((socket) => socket.end('SSH-2.0-noise\r\n\r\n'));
    const noisy = await listen(noise);
    for (const url of [`${port}/reset`, `${port}/cut`, `${port}/gzip`, `${noisy}/`, '1/']) {
      expect([url, await codeOf(client().send(requestTo(`http://127.0.0.1:${url}`)))]).toEqual([
        url,
        'host_unreachable',
      ]);
    }
  });

  it('gives a request up when the signal says so, and closes its connection', async () => {
    let closed: () => void = () => undefined;
    const isClosed = new Promise<void>((resolve) => (closed = resolve));
    const stop = new AbortController();
    const port = await serve((request) => {
      request.on('close', () => closed());
      stop.abort();
    });
    expect(await codeOf(client().send(requestTo(`http://127.0.0.1:${port}/`, { signal: stop.signal })))).toBe(
      'request_cancelled',
    );
    await isClosed;
    const late = requestTo(`http://127.0.0.1:${port}/`, { signal: AbortSignal.abort() });
    expect(await codeOf(client().send(late))).toBe('request_cancelled');
  });

  it('uses a connection again', async () => {
    const ports = new Set<number | undefined>();
    const port = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('x');
    });
    const one = client();
    for (let count = 0; count < 3; count += 1) await one.send(requestTo(`http://127.0.0.1:${port}/`));
    expect(ports.size).toBe(1);
  });
});
