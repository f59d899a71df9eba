/**
 * All of a deployment as processes, under one supervisor: PostgreSQL, Redis where the machine has it, engines and
 * workers. Each can be killed by SIGKILL, or stopped by SIGSTOP, and comes back by itself.
 *
 * States of an engine or worker: UP -> DOWN (killed) or STILL (stopped) -> UP.
 *
 * Invariants
 *   K1 an engine that is not UP is never hit again, and one engine stays UP.
 *   K2 PostgreSQL dies with all its sessions, as when its machine loses power; what is on the disk stays.
 */
import { join } from 'node:path';
import { hasRedis, TestRedis } from '../../engine/src/bus/testing/redis-server.js';
import { migrate, openDatabase, startEmbeddedPostgres } from '../../engine/src/store/index.js';
import type { Database } from '../../engine/src/store/index.js';
import { killTree } from '../../engine/src/store/testing/child-process.js';
import { fastFolder } from '../../engine/src/store/testing/fast-folder.js';
import { seedDataDir } from '../../engine/src/store/testing/seed-data.js';
import { developmentKey } from '../support/api-key.js';
import { type ChainOptions, Marks } from '../support/chain.js';
import { startChainWorker } from '../support/chain-process.js';
import type { Child } from '../support/child.js';
import { type Engine, startEngine } from '../support/engine.js';
import { scratchFolder } from '../support/scratch.js';
import { retrying } from '../support/wait.js';

/** The lease of engines, ms: the least that they take. */
export const LEASE_MS = 2_000;
const ENGINES = 3;
const WORKERS = 4;
const CAPACITY = 40;
const STEPS = 6;

/** A process that may be hit. */
export interface Victim {
  readonly kind: 'engine' | 'worker';
  readonly name: string;
  readonly engine: Engine | undefined;
  child(): Child;
  restart(): Promise<unknown>;
}

/** The deployment. */
export class Cast {
  readonly marks: Marks;
  readonly victims: readonly Victim[];
  /** Victims that are not up. */
  readonly away = new Set<Victim>();

  private constructor(
    readonly db: Database,
    readonly chain: ChainOptions,
    readonly apiKey: string,
    readonly engines: readonly Engine[],
    readonly redis: TestRedis | undefined,
    private readonly workers: Child[],
    private readonly postgres: Awaited<ReturnType<typeof startEmbeddedPostgres>>,
  ) {
    this.marks = new Marks(chain.marks);
    this.victims = [
      ...engines.map((engine): Victim => ({
        ...{ kind: 'engine', name: engine.name, engine },
        child: () => engine.child,
        // An engine whose database dies while it starts ends; it is started again, as by any supervisor.
        restart: () => retrying(() => engine.start(), 60_000),
      })),
      ...workers.map(({ name }, index): Victim => ({
        ...{ kind: 'worker', name, engine: undefined },
        child: () => this.#worker(index),
        restart: async () => {
          workers[index] = await Cast.#startWorker(this.chain, index, this.addresses, this.apiKey);
        },
      })),
    ];
  }

  /** Starts everything. */
  static async start(): Promise<Cast> {
    const dataDir = scratchFolder('kills', fastFolder());
    await seedDataDir(dataDir);
    const postgres = await startEmbeddedPostgres({ dataDir });
    await migrate({ url: postgres.url });
    const db = openDatabase({ url: postgres.url, applicationName: 'ductor test' });
    const { apiKey } = await developmentKey(db);
    const redis = hasRedis ? await TestRedis.start() : undefined;
    const env = { DUCTOR_LEASE_MS: String(LEASE_MS), ...(redis !== undefined && { REDIS_URL: redis.url }) };
    const engines = await Promise.all(
      Array.from({ length: ENGINES }, (_, index) =>
        startEngine({ name: `engine-${index}`, databaseUrl: postgres.url, env }),
      ),
    );
    const chain = { slug: 'kills', steps: STEPS, marks: join(scratchFolder('marks'), 'marks.jsonl') };
    const addresses = engines.map(({ address }) => address);
    const workers = await Promise.all(
      Array.from({ length: WORKERS }, (_, index) => Cast.#startWorker(chain, index, addresses, apiKey)),
    );
    return new Cast(db, chain, apiKey, engines, redis, workers, postgres);
  }

  static #startWorker(
    chain: ChainOptions,
    index: number,
    addresses: readonly string[],
    apiKey: string,
  ): Promise<Child> {
    return retrying(
      () => startChainWorker({ ...chain, name: `worker-${index}`, addresses, apiKey, capacity: CAPACITY }),
      60_000,
    );
  }

  get addresses(): readonly string[] {
    return this.engines.map(({ address }) => address);
  }

  /** Engines or workers that may be hit now (K1). */
  hittable(kind: Victim['kind']): readonly Victim[] {
    const up = this.victims.filter((victim) => victim.kind === kind && !this.away.has(victim));
    return up.length > 1 ? up : [];
  }

  /** Kills the server with all its sessions; it comes back by itself, with crash recovery. */
  killPostgres(): void {
    killTree(this.postgres.pid);
  }

  #worker(index: number): Child {
    const child = this.workers[index];
    if (child === undefined) throw new Error(`there is no worker ${index}`);
    return child;
  }

  /** Ends what is no child of `killChildren` and `discardEngines`; call it after those. */
  async close(): Promise<void> {
    await this.db.close();
    await this.redis?.stop();
    await this.postgres.stop();
  }
}
