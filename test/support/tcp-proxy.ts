/**
 * A TCP proxy that misbehaves on request: delays, cuts, falls silent, or is not there. It stands between an engine and
 * its database.
 *
 * A planned cut waits for bytes of a client that contain a text (the name of a statement, say) and then ends that one
 * connection at a chosen instant.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * When a planned cut happens, once the bytes were seen:
 * - before: they are not passed on
 * - sent: they are passed on, then the connection ends; the server may or may not have begun
 * - answered: they are passed on and the server has begun to answer; the answer is not
 */
export type CutAt = 'before' | 'sent' | 'answered';

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

/** The proxy; start it with startTcpProxy. */
export class TcpProxy {
  readonly #pairs = new Set<Pair>();
  readonly #plans: Plan[] = [];
  readonly #listener: Server;
  #port = 0;
  #delayMs = 0;
  #isStalled = false;

  constructor(readonly upstream: Upstream) {
    this.#listener = createServer((client) => this.#accept(client));
  }

  get port(): number {
    return this.#port;
  }

  /** Listens: on a free port the first time, on the same one after stop(). */
  async listen(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#listener.listen(this.#port, '127.0.0.1', resolve);
    });
    const address = this.#listener.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
  }

  /** Ends every connection and refuses new ones until listen(). */
  stop(): void {
    if (this.#listener.listening) this.#listener.close();
    this.cutAll();
  }

  /** Plans one cut. The promise resolves once it has happened. */
  cutNext(text: string, at: CutAt): Promise<void> {
    return new Promise((resolve) => {
      this.#plans.push({ text, at, done: resolve });
    });
  }

  /** Bytes of clients are passed on so many ms late from now on; 0: at once. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Half-open: nothing is passed on any more in either direction, and nothing is closed. */
  stall(): void {
    this.#isStalled = true;
    for (const { client, server } of this.#pairs) [client, server].forEach((socket) => socket.pause());
  }

  /** Passes on again what was held back, and everything after it. */
  resume(): void {
    this.#isStalled = false;
    for (const { client, server } of this.#pairs) [client, server].forEach((socket) => socket.resume());
  }

  /** Ends every connection at once. */
  cutAll(): void {
    for (const pair of this.#pairs) this.#end(pair);
  }

  #accept(client: Socket): void {
    const pair: Pair = { client, server: connect(this.upstream) };
    this.#pairs.add(pair);
    client.on('data', (bytes) => {
      if (this.#delayMs > 0) setTimeout(() => this.#fromClient(pair, bytes), this.#delayMs);
      else this.#fromClient(pair, bytes);
    });
    pair.server.on('data', (bytes) => this.#fromServer(pair, bytes));
    for (const socket of [client, pair.server]) {
      socket.setNoDelay(true);
      socket.on('error', () => this.#end(pair));
      socket.on('close', () => this.#end(pair));
      if (this.#isStalled) socket.pause();
    }
  }

  #fromClient(pair: Pair, bytes: Buffer): void {
    const index = this.#plans.findIndex((plan) => bytes.includes(plan.text));
    const [plan] = index < 0 ? [] : this.#plans.splice(index, 1);
    if (plan?.at !== 'before') pair.server.write(bytes);
    if (plan === undefined) return;
    if (plan.at === 'answered') {
      pair.cutOnAnswer = plan.done;
    } else {
      this.#end(pair);
      plan.done();
    }
  }

  #fromServer(pair: Pair, bytes: Buffer): void {
    if (pair.cutOnAnswer === undefined) {
      pair.client.write(bytes);
    } else {
      this.#end(pair);
      pair.cutOnAnswer();
    }
  }

  #end(pair: Pair): void {
    this.#pairs.delete(pair);
    pair.client.destroy();
    // Not destroy(): what was written to the server has to reach it.
    pair.server.end();
    pair.server.resume();
  }
}

/** Starts a proxy to the server, on a free port of the loopback interface. */
export async function startTcpProxy(upstream: Upstream): Promise<TcpProxy> {
  const proxy = new TcpProxy(upstream);
  await proxy.listen();
  return proxy;
}
