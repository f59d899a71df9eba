/**
 * A TCP proxy before PostgreSQL that knows when an engine's commit goes by, and can then cut or hold its connection.
 *
 * What a commit is: the messages from a Bind of a statement named commit_… to the Sync behind it. The server runs them
 * as one transaction that ends at the Sync, so a Sync that was sent is a COMMIT that was sent.
 *
 * States of a connection: PASSING -> CUT, or PASSING -> HELD -> PASSING. While it is HELD, from the commit on, nothing
 * goes to the server.
 *
 * Invariants
 *   X1 bytes go on in order and unchanged.
 *   X2 a cut "after the answer" happens once the server has answered, so its transaction has ended; the answer is lost.
 */
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { boundStatement, FrontendMessages } from './frontend-messages.js';

/** How a commit is cut: right behind its last byte, or when its answer has come. The client gets neither. */
export type Cut = 'at_once' | 'after_answer';

/** Decides, for each commit that goes by, what happens to it. */
export type CommitPlan = (commitNumber: number) => Cut | 'pass' | 'hold';

/** A running proxy. */
export interface DatabaseProxy {
  /** Connection string through the proxy. */
  readonly url: string;
  /** Commits seen, cut and held so far. */
  readonly counts: { seen: number; cut: number; held: number };
  /** What happens to the commits from now on. Default: all pass. */
  plan: CommitPlan;
  /** Lets go what is held. */
  release(): void;
  close(): Promise<void>;
}

/** Where the server of a connection string listens. */
function upstream(url: URL): { path: string } | { host: string; port: number } {
  const host = url.searchParams.get('host') ?? url.hostname;
  const port = url.port === '' ? 5432 : Number(url.port);
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}

/** Starts a proxy before the server of the connection string. */
export async function startDatabaseProxy(url: string): Promise<DatabaseProxy> {
  const original = new URL(url);
  const sockets = new Set<Socket>();
  const held = new Set<() => void>();
  const counts = { seen: 0, cut: 0, held: 0 };
  const server = createServer({ noDelay: true });
  const proxied = new URL(url);
  const proxy: DatabaseProxy = {
    get url() {
      return proxied.toString();
    },
    counts,
    plan: () => 'pass',
    release() {
      for (const letGo of held) letGo();
      held.clear();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  server.on('connection', (client) => {
    const link = new Link(client, createConnection(upstream(original)), proxy, held);
    for (const socket of link.sockets) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
  });
  proxied.searchParams.delete('host');
  proxied.hostname = '127.0.0.1';
  proxied.port = String(await listening(server));
  return proxy;
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address: AddressInfo | string | null = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

/** One connection of a client, with its own to the server. */
class Link {
  readonly sockets: readonly Socket[];
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #proxy: DatabaseProxy;
  readonly #held: Set<() => void>;
  readonly #messages = new FrontendMessages();
  #commit: ReturnType<CommitPlan> = 'pass';
  #isInCommit = false;
  #isCut = false;
  /** Bytes kept back while held. */
  #kept: Buffer[] | undefined;

  constructor(client: Socket, server: Socket, proxy: DatabaseProxy, held: Set<() => void>) {
    this.#client = client;
    this.#server = server;
    this.#proxy = proxy;
    this.#held = held;
    this.sockets = [client, server];
    for (const socket of this.sockets) socket.on('error', () => undefined);
    client.on('data', (bytes) => this.#fromClient(Buffer.from(bytes)));
    server.on('data', (bytes) => this.#fromServer(bytes));
    client.on('close', () => server.end());
    server.on('close', () => client.destroy());
  }

  #fromClient(bytes: Buffer): void {
    for (const message of this.#messages.push(bytes)) {
      if (boundStatement(message)?.startsWith('commit_') === true) this.#beginCommit();
      this.#toServer(message.bytes);
      if (message.type === 'S' && this.#isInCommit) this.#endCommit();
    }
  }

  #toServer(bytes: Buffer): void {
    if (this.#kept === undefined) this.#server.write(bytes);
    else this.#kept.push(bytes);
  }

  #beginCommit(): void {
    this.#isInCommit = true;
    this.#proxy.counts.seen += 1;
    this.#commit = this.#proxy.plan(this.#proxy.counts.seen);
    if (this.#commit !== 'hold') return;
    this.#proxy.counts.held += 1;
    this.#kept = [];
    this.#held.add(() => {
      for (const bytes of this.#kept ?? []) this.#server.write(bytes);
      this.#kept = undefined;
    });
  }

  #endCommit(): void {
    this.#isInCommit = false;
    if (this.#commit === 'at_once') this.#cut();
  }

  #fromServer(bytes: Buffer): void {
    if (this.#isCut) return;
    // Answers of earlier statements have gone by: the engine waits for each one before it sends the next.
    if (this.#commit === 'after_answer' && !this.#isInCommit) return this.#cut();
    this.#client.write(bytes);
  }

  #cut(): void {
    this.#isCut = true;
    this.#commit = 'pass';
    this.#proxy.counts.cut += 1;
    this.#client.resetAndDestroy();
    // The server still gets every byte, and a FIN behind them.
    this.#server.end();
  }
}
