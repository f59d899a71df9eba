/**
 * A TCP proxy that misbehaves on request: delays, cuts, or falls silent. It stands between an engine and its database.
 *
 * A planned cut waits for bytes of a client that contain a text (the name of a statement, say) and then ends that one
 * connection at a chosen instant.
 */
import { connect, createServer, type Socket } from 'node:net';

/**
 * When a planned cut happens, once the bytes were seen:
 * - before: they are not passed on
 * - sent: they are passed on, then the connection ends; the server may or may not have begun
 * - answered: they are passed on and the server has begun to answer; the answer is not
 */
export type CutAt = 'before' | 'sent' | 'answered';

/** The proxy. */
export interface TcpProxy {
  readonly port: number;
  /** Plans one cut. Returns a promise that resolves once it has happened. */
  cutNext(text: string, at: CutAt): Promise<void>;
  /** Bytes of clients are passed on so many ms late from now on; 0: at once. */
  delay(ms: number): void;
  /** Half-open: nothing is passed on any more in either direction, and nothing is closed. */
  stall(): void;
  /** Passes on again what was held back, and everything after it. */
  resume(): void;
  /** Ends every connection at once. */
  cutAll(): void;
  /** Ends every connection and refuses new ones. */
  stop(): void;
  /** Accepts again, on the same port. */
  restart(): Promise<void>;
  /** Connections that are open. */
  readonly connections: number;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}

/** A cut that was planned and has not happened. */
interface Plan {
  readonly text: string;
  readonly at: CutAt;
  readonly done: () => void;
}

/** Both ends of a connection through the proxy. */
interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  cutOnAnswer?: () => void;
}

/** Where a server listens: a port of a host, or a socket in the file system. */
export type Upstream = { readonly host: string; readonly port: number } | { readonly path: string };

/** Where the PostgreSQL server of a connection string listens; a host that is a folder holds its socket. */
export function upstreamOf(url: string): Upstream {
  const parsed = new URL(url);
  const host = parsed.searchParams.get('host') ?? parsed.hostname;
  const port = parsed.port === '' ? 5432 : Number(parsed.port);
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}

/** The same connection string, by way of a port of the loopback interface. */
export function throughPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.searchParams.delete('host');
  changed.hostname = '127.0.0.1';
  changed.port = String(port);
  return changed.toString();
}

/** Starts a proxy to the server, on a free port of the loopback interface. */
export async function startTcpProxy(upstream: Upstream): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  const plans: Plan[] = [];
  let delayMs = 0;
  let isStalled = false;

  const end = (pair: Pair): void => {
    pairs.delete(pair);
    pair.client.destroy();
    // Not destroy(): what was written to the server has to reach it.
    pair.server.end();
    pair.server.resume();
  };
  const fromClient = (pair: Pair, bytes: Buffer): void => {
    const index = plans.findIndex((plan) => bytes.includes(plan.text));
    const [plan] = index < 0 ? [] : plans.splice(index, 1);
    if (plan?.at !== 'before') pair.server.write(bytes);
    if (plan === undefined) return;
    if (plan.at === 'answered') {
      pair.cutOnAnswer = plan.done;
    } else {
      end(pair);
      plan.done();
    }
  };
  const fromServer = (pair: Pair, bytes: Buffer): void => {
    if (pair.cutOnAnswer === undefined) {
      pair.client.write(bytes);
    } else {
      end(pair);
      pair.cutOnAnswer();
    }
  };
  const accept = (client: Socket): void => {
    const pair: Pair = { client, server: connect(upstream) };
    pairs.add(pair);
    client.on('data', (bytes) => {
      if (delayMs > 0) setTimeout(() => fromClient(pair, bytes), delayMs);
      else fromClient(pair, bytes);
    });
    pair.server.on('data', (bytes) => fromServer(pair, bytes));
    for (const socket of [client, pair.server]) {
      socket.setNoDelay(true);
      socket.on('error', () => end(pair));
      socket.on('close', () => end(pair));
      if (isStalled) socket.pause();
    }
  };
  const listener = createServer(accept);
  const listen = (at: number): Promise<void> =>
    new Promise((resolve) => {
      listener.listen(at, '127.0.0.1', resolve);
    });
  await listen(0);
  const address = listener.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const endAll = (): void => [...pairs].forEach(end);
  const each = (act: (socket: Socket) => void): void => {
    for (const { client, server } of pairs) [client, server].forEach(act);
  };
  return {
    port,
    cutNext: (text, at) =>
      new Promise((resolve) => {
        plans.push({ text, at, done: resolve });
      }),
    delay(ms) {
      delayMs = ms;
    },
    stall() {
      isStalled = true;
      each((socket) => socket.pause());
    },
    resume() {
      isStalled = false;
      each((socket) => socket.resume());
    },
    cutAll: endAll,
    stop() {
      listener.close();
      endAll();
    },
    restart: () => listen(port),
    get connections() {
      return pairs.size;
    },
    async close() {
      endAll();
      if (!listener.listening) return;
      await new Promise((resolve) => {
        listener.close(resolve);
      });
    },
  };
}
