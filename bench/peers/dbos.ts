/**
 * DBOS Transact on a fresh database of the run's server. A library: with `direct` one process starts and executes runs,
 * which is its fastest way; with `queue` a client process enqueues and a worker process executes.
 */
import { startApp } from './app-process.js';
import type { Member } from './member.js';
import { packageVersion } from './package-version.js';
import type { Arena, Peer, SetUp, Stored } from './peer.js';
import type { BenchServer } from './server.js';

class DbosArena implements Arena {
  readonly members = new Map<string, Member>();
  readonly #server: BenchServer;
  readonly #database: string;
  readonly #setUp: SetUp;
  #client: Member | undefined;

  constructor(server: BenchServer, database: string, setUp: SetUp) {
    this.#server = server;
    this.#database = database;
    this.#setUp = setUp;
  }

  get client(): Member {
    if (this.#client === undefined) throw new Error('DBOS has no client yet');
    return this.#client;
  }

  get worker(): Member | undefined {
    return this.members.get('worker');
  }

  async begin(): Promise<this> {
    const { via } = this.#setUp;
    const first = await this.#startApp(via === 'direct' ? 'worker' : 'client');
    await first.ask({ do: 'prepare' });
    this.#client = first;
    this.members.set(via === 'direct' ? 'worker' : 'client', first);
    if (via === 'direct') await first.ask({ do: 'work', slots: this.#setUp.slots });
    if (via === 'queue') await this.#startWorker();
    await first.ask({ do: 'open', via });
    return this;
  }

  storedBytes(): Promise<Stored> {
    return this.#server.storedBytes(this.#database);
  }

  async crash(): Promise<void> {
    await this.worker?.kill();
  }

  revive(): Promise<void> {
    return this.#startWorker();
  }

  async close(): Promise<void> {
    await Promise.all([...this.members.values()].map((member) => member.kill()));
    await this.#server.drop(this.#database);
  }

  async #startWorker(): Promise<void> {
    const worker = await this.#startApp('worker');
    this.members.set('worker', worker);
    await worker.ask({ do: 'work', slots: this.#setUp.slots });
  }

  #startApp(role: string): Promise<Member> {
    const env = { BENCH_DATABASE: this.#server.url(this.#database) };
    return startApp({ peer: 'dbos', role, env, setUp: this.#setUp });
  }
}

/** DBOS on the run's server. */
export function dbos(server: BenchServer): Peer {
  return {
    name: 'dbos',
    title: `DBOS ${packageVersion('@dbos-inc/dbos-sdk')}`,
    usesPostgres: true,
    setUp: async (setUp) => new DbosArena(server, await server.fresh('dbos'), setUp).begin(),
  };
}
