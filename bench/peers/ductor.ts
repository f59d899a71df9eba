/**
 * Ductor: `ductor start` on a fresh database of the run's server, a worker process, a client process, joined by TCP.
 * Each database is a copy of one in which `ductor dev` has made a tenant and its key, once a run of the bench.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { startApp } from './app-process.js';
import { Member } from './member.js';
import type { Arena, Peer, SetUp } from './peer.js';
import { ENGINE_BIN, ENGINE_FLAGS, PROFILE_HOOK, freePorts } from './places.js';
import type { BenchServer } from './server.js';
import { until } from './wait.js';

const readyFile = z.object({ address: z.string(), api_key: z.string().optional() });
type ReadyFile = z.output<typeof readyFile>;

/** What all engines of a run share. */
interface Ground {
  readonly server: BenchServer;
  readonly folder: string;
  readonly secret: string;
  readonly template: string;
  readonly apiKey: string;
}

/** Waits for the file an engine writes when it is ready. */
async function ready(engine: Member, file: string): Promise<ReadyFile> {
  await until('the engine', () => existsSync(file) || !engine.isRunning, { everyMs: 5, detail: () => engine.output });
  if (!engine.isRunning) throw new Error(`the engine ended before it was ready\n${engine.output}`);
  return readyFile.parse(JSON.parse(readFileSync(file, 'utf8')));
}

/** Makes the database that is copied, and the key in it. */
async function prepareGround(server: BenchServer, folder: string): Promise<Ground> {
  const secret = randomBytes(32).toString('hex');
  const template = await server.fresh('template');
  const file = join(folder, 'dev-ready.json');
  const engine = new Member({
    name: 'ductor dev',
    command: process.execPath,
    args: [ENGINE_BIN, 'dev', '--port', '0', '--data-dir', join(folder, 'dev'), '--ready-file', file],
    env: { DATABASE_URL: server.url(template), DUCTOR_SECRET: secret },
    ipc: false,
  });
  const { api_key: apiKey } = await ready(engine, file);
  await engine.stop();
  if (apiKey === undefined) throw new Error('ductor dev made no key');
  return { server, folder, secret, template, apiKey };
}

class DuctorArena implements Arena {
  readonly members = new Map<string, Member>();
  readonly #ground: Ground;
  readonly #setUp: SetUp;
  readonly #database: string;
  readonly #port: number;

  constructor(ground: Ground, setUp: SetUp, place: { readonly database: string; readonly port: number }) {
    this.#ground = ground;
    this.#setUp = setUp;
    this.#database = place.database;
    this.#port = place.port;
  }

  get client(): Member {
    return this.#member('client');
  }

  get worker(): Member | undefined {
    return this.members.get('worker');
  }

  async begin(): Promise<this> {
    const file = join(this.#ground.folder, `${this.#database}-ready.json`);
    this.#startEngine(file);
    await ready(this.#member('engine'), file);
    await this.#startWorker();
    if (this.#setUp.via === 'later') {
      // It has published the workflows; without it their runs start and wait.
      await this.#member('worker').ask({ do: 'close' });
      await this.#member('worker').kill();
      this.members.delete('worker');
    }
    this.members.set('client', await this.#startApp('client'));
    await this.client.ask({ do: 'open', via: this.#setUp.via });
    return this;
  }

  async storedBytes(): Promise<{ plain: number; full: number }> {
    return this.#ground.server.storedBytes(this.#database);
  }

  async crash(): Promise<void> {
    await Promise.all([this.#member('engine').kill(), this.#member('worker').kill()]);
  }

  async revive(): Promise<void> {
    this.#startEngine(join(this.#ground.folder, `${this.#database}-again.json`));
    await this.#startWorker();
  }

  async close(): Promise<void> {
    await Promise.all([...this.members.values()].map((member) => member.kill()));
    await this.#ground.server.drop(this.#database);
  }

  #member(role: string): Member {
    const member = this.members.get(role);
    if (member === undefined) throw new Error(`ductor has no ${role}`);
    return member;
  }

  #startEngine(file: string): void {
    const { server, secret } = this.#ground;
    const isProfiled = this.#setUp.isProfiled === true;
    const engine = new Member({
      name: 'ductor engine',
      command: process.execPath,
      args: [
        ...ENGINE_FLAGS,
        ...(isProfiled ? ['--import', PROFILE_HOOK] : []),
        ...[ENGINE_BIN, 'start', '--ready-file', file],
      ],
      env: {
        DATABASE_URL: server.url(this.#database),
        DUCTOR_SECRET: secret,
        DUCTOR_PORT: String(this.#port),
        DUCTOR_LOG_LEVEL: 'warn',
      },
      ipc: isProfiled,
    });
    this.members.set('engine', engine);
  }

  async #startWorker(): Promise<void> {
    const worker = await this.#startApp('worker');
    this.members.set('worker', worker);
    await worker.ask({ do: 'work', slots: this.#setUp.slots });
  }

  #startApp(role: string): Promise<Member> {
    const env = { DUCTOR_ADDRESS: `127.0.0.1:${this.#port}`, DUCTOR_API_KEY: this.#ground.apiKey };
    return startApp({ peer: 'ductor', role, env, setUp: this.#setUp });
  }
}

/** Ductor on the run's server. Makes its key now. */
export async function ductor(server: BenchServer, folder: string): Promise<Peer> {
  const ground = await prepareGround(server, folder);
  return {
    name: 'ductor',
    title: 'Ductor',
    usesPostgres: true,
    async setUp(setUp) {
      const [port = 0] = await freePorts(1);
      const database = await server.fresh('ductor', ground.template);
      return new DuctorArena(ground, setUp, { database, port }).begin();
    },
  };
}
