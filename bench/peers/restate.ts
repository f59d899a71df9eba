/**
 * Restate: its server with a fresh data folder, a worker process (an HTTP/2 endpoint), a client process (its ingress).
 * The server keeps its defaults but for names, ports and telemetry.
 */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { startApp } from './app-process.js';
import { Member } from './member.js';
import { packageVersion } from './package-version.js';
import type { Arena, Peer, SetUp, Stored } from './peer.js';
import { BENCH, freePorts } from './places.js';
import { until } from './wait.js';

/** Where an arena is. */
interface Place {
  readonly folder: string;
  readonly ingress: number;
  readonly admin: number;
  readonly node: number;
  readonly endpoint: number;
}

const BIN = join(
  BENCH,
  `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
);

/** Bytes of the files in a folder and below. */
function folderBytes(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sum + folderBytes(path);
    return sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  }, 0);
}

/** Whether an address answers with 2xx. */
async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

class RestateArena implements Arena {
  readonly members = new Map<string, Member>();
  readonly #place: Place;
  readonly #setUp: SetUp;

  constructor(place: Place, setUp: SetUp) {
    this.#place = place;
    this.#setUp = setUp;
  }

  get client(): Member {
    const client = this.members.get('client');
    if (client === undefined) throw new Error('Restate has no client yet');
    return client;
  }

  get worker(): Member | undefined {
    return this.members.get('worker');
  }

  async begin(): Promise<this> {
    const { ingress, admin } = this.#place;
    this.#startServer();
    const isUp = async (): Promise<boolean> =>
      (await answers(`http://127.0.0.1:${admin}/health`)) &&
      (await answers(`http://127.0.0.1:${ingress}/restate/health`));
    await until('the Restate server', isUp, { everyMs: 50, detail: () => this.members.get('engine')?.output ?? '' });
    await this.#startWorker();
    await this.#register();
    this.members.set('client', await this.#startApp('client'));
    await this.client.ask({ do: 'open', via: this.#setUp.via });
    return this;
  }

  storedBytes(): Promise<Stored> {
    return Promise.resolve({ plain: folderBytes(join(this.#place.folder, 'data')), full: undefined });
  }

  async crash(): Promise<void> {
    await Promise.all([this.members.get('engine')?.kill(), this.worker?.kill()]);
  }

  async revive(): Promise<void> {
    this.#startServer();
    await this.#startWorker();
  }

  async close(): Promise<void> {
    await Promise.all([...this.members.values()].map((member) => member.kill()));
    rmSync(this.#place.folder, { recursive: true, force: true });
  }

  #startServer(): void {
    const { folder, ingress, admin, node } = this.#place;
    mkdirSync(folder, { recursive: true });
    const data = ['--base-dir', join(folder, 'data'), '--node-name', 'n1'];
    const server = new Member({
      name: 'restate server',
      command: BIN,
      args: [...data, '--no-logo', '--bind-ip', '127.0.0.1', '--listen-mode', 'tcp', '--bind-port', String(node)],
      env: {
        DO_NOT_TRACK: '1',
        RESTATE_DISABLE_TELEMETRY: 'true',
        RESTATE_LOG_FILTER: 'warn',
        RESTATE_ADVERTISED_HOST: '127.0.0.1',
        RESTATE_INGRESS__BIND_PORT: String(ingress),
        RESTATE_ADMIN__BIND_PORT: String(admin),
      },
      ipc: false,
    });
    this.members.set('engine', server);
  }

  async #startWorker(): Promise<void> {
    const worker = await this.#startApp('worker');
    this.members.set('worker', worker);
    await worker.ask({ do: 'work', slots: this.#setUp.slots });
  }

  /** Tells the server where the endpoint is; it remembers that over restarts. */
  async #register(): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${this.#place.admin}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri: `http://127.0.0.1:${this.#place.endpoint}`, force: true }),
    });
    if (!answer.ok) throw new Error(`Restate refused the endpoint: ${await answer.text()}`);
  }

  #startApp(role: string): Promise<Member> {
    const { ingress, admin, endpoint } = this.#place;
    const env = {
      RESTATE_LOGGING: 'ERROR',
      BENCH_INGRESS: `http://127.0.0.1:${ingress}`,
      BENCH_ADMIN: `http://127.0.0.1:${admin}`,
      BENCH_ENDPOINT_PORT: String(endpoint),
    };
    return startApp({ peer: 'restate', role, env, setUp: this.#setUp });
  }
}

/** Restate with its data in the folder. */
export function restate(folder: string): Peer {
  let made = 0;
  return {
    name: 'restate',
    title: `Restate ${packageVersion('@restatedev/restate-server')}`,
    usesPostgres: false,
    async setUp(setUp) {
      const [ingress = 0, admin = 0, node = 0, endpoint = 0] = await freePorts(4);
      made += 1;
      const place = { folder: join(folder, `restate-${made}`), ingress, admin, node, endpoint };
      return new RestateArena(place, setUp).begin();
    },
  };
}
