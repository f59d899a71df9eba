/**
 * Restate, seen from an app: the worker is an HTTP/2 endpoint that the server calls, the client posts to the server's
 * ingress over kept connections (plain node:http: half the client's time of fetch). Settings: BENCH_INGRESS,
 * BENCH_ADMIN (URLs), BENCH_ENDPOINT_PORT.
 */
import './with-resolvers.js';
import { Agent, request } from 'node:http';
import { createServer, type Http2Server } from 'node:http2';
import * as restate from '@restatedev/restate-sdk';
import { z } from 'zod';
import { late, noop, slow } from './bodies.js';
import { type Kind, SEQUENCE } from './kinds.js';
import type { Side } from './side.js';

const SERVICE = 'bench';
const counted = z.object({ rows: z.array(z.object({ n: z.coerce.number() })) });

const service = restate.service({
  name: SERVICE,
  handlers: {
    async seq3(context) {
      for (const name of SEQUENCE) await context.run(name, noop);
      return 1;
    },
    async fan50(context) {
      await restate.RestatePromise.all(Array.from({ length: 50 }, (_, index) => context.run(`s${index}`, noop)));
      return { done: 50 };
    },
    async sleep(context, n) {
      await context.sleep(Math.max(0, n - Date.now()));
      return late(n);
    },
    async slow3(context, n) {
      for (const name of SEQUENCE) await context.run(name, () => slow(n, name));
      return 1;
    },
  },
});

/** Posts a number to the ingress. Throws for any answer that is not 2xx. */
function post(agent: Agent, path: string, n: number): Promise<void> {
  const body = JSON.stringify(n);
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  return new Promise((resolve, reject) => {
    const call = request(
      `${process.env['BENCH_INGRESS'] ?? ''}${path}`,
      { method: 'POST', agent, headers },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => (text += chunk));
        answer.on('end', () => {
          if ((answer.statusCode ?? 500) < 300) resolve();
          else reject(new Error(`the ingress answered ${answer.statusCode}: ${text}`));
        });
      },
    );
    call.on('error', reject);
    call.end(body);
  });
}

/** Invocations that the server has recorded as completed. */
async function completed(): Promise<number> {
  const query = "select count(*) as n from sys_invocation_status where status = 'completed'";
  const answer = await fetch(`${process.env['BENCH_ADMIN'] ?? ''}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query }),
  });
  return counted.parse(await answer.json()).rows[0]?.n ?? 0;
}

/** This process as an app of Restate. */
export function createSide(): Side {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  let endpoint: Http2Server | undefined;
  let delay = '';
  return {
    prepare: () => Promise.resolve(),
    async work() {
      const server = createServer(restate.createEndpointHandler({ services: [service] }));
      endpoint = server;
      const port = Number(process.env['BENCH_ENDPOINT_PORT']);
      await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    },
    open(via) {
      if (via === 'later') delay = '?delay=1h';
      return Promise.resolve();
    },
    run: (kind: Kind, n) => post(agent, `/${SERVICE}/${kind}`, n),
    start: (kind: Kind, n) => post(agent, `/${SERVICE}/${kind}/send${delay}`, n),
    finished: completed,
    close() {
      agent.destroy();
      endpoint?.close();
      return Promise.resolve();
    },
  };
}
