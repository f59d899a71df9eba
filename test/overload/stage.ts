/**
 * An engine that is asked for more than it can do, as processes: the engine, workers, and askers of two tenants, one of
 * which asks for little all the time.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clusterSecret, systemClock, systemRandom } from '../../engine/src/kernel/index.js';
import type { Database } from '../../engine/src/store/index.js';
import { createTenancy, SCOPES } from '../../engine/src/tenancy/index.js';
import { type ChainOptions, Marks } from '../support/chain.js';
import { startChainWorker } from '../support/chain-process.js';
import { type Engine, startEngine, TEST_SECRET } from '../support/engine.js';
import { scratchFolder } from '../support/scratch.js';
import { until } from '../support/wait.js';
import { Asker } from './askers.js';
import { ofFate, type Sample } from './samples.js';

const WORKER_CAPACITY = 200;
/** Starts that are open at once while it is measured how many the engine can do. */
const AT_ONCE = 400;
/** The part of a phase in which compilers and caches get warm. */
const WARM_PART = 0.5;
const DRAIN_LIMIT_MS = 180_000;

/** A tenant on the stage. */
interface Player {
  readonly asker: Asker;
  readonly marks: Marks;
}

/** What both tenants were told, by phase. */
export interface Heard {
  /** Of the tenant that asks for much. */
  readonly many: readonly Sample[];
  /** Of the one that asks for little. */
  readonly few: readonly Sample[];
}

/** A phase for both. */
export interface Act {
  readonly name: string;
  readonly forMs: number;
  readonly perSecond: number;
  readonly fewPerSecond: number;
}

async function player(db: Database, engine: Engine, slug: string): Promise<Player> {
  const options = { clock: systemClock(), random: systemRandom(), secret: clusterSecret(TEST_SECRET) };
  const tenancy = createTenancy({ db, ...options });
  const tenantId = await tenancy.ensureTenant(slug);
  const { apiKey } = await tenancy.createKey({ tenantId, name: slug, scopes: SCOPES });
  const chain: ChainOptions = { slug, steps: 1, marks: join(scratchFolder('marks'), 'marks.jsonl') };
  const { address } = engine;
  const capacity = WORKER_CAPACITY;
  await startChainWorker({ ...chain, name: `worker of ${slug}`, addresses: [address], apiKey, capacity });
  const asker = await Asker.start({ name: `asker of ${slug}`, address, apiKey, slug });
  return { asker, marks: new Marks(chain.marks) };
}

/** The stage. */
export class Stage {
  private constructor(
    readonly engine: Engine,
    private readonly much: Player,
    private readonly little: Player,
  ) {}

  /** Starts everything on a migrated database; ended by `killChildren` and `discardEngines`. */
  static async start(db: Database, url: string, env: Readonly<Record<string, string>> = {}): Promise<Stage> {
    const engine = await startEngine({ databaseUrl: url, env });
    const [much, little] = await Promise.all([player(db, engine, 'much'), player(db, engine, 'little')]);
    return new Stage(engine, much, little);
  }

  /** Bodies that came to their end, of both tenants. */
  get ended(): number {
    return this.much.marks.read().counts.ended + this.little.marks.read().counts.ended;
  }

  /** Keys that bodies came to their end with, of both tenants. */
  get effects(): number {
    return this.much.marks.read().effects.size + this.little.marks.read().effects.size;
  }

  /** Starts that the engine takes and carries out in a second, when it is always asked for the next one. */
  async capacity(forMs: number): Promise<{ readonly perSecond: number; readonly samples: readonly Sample[] }> {
    const [samples = []] = await Promise.all(
      this.much.asker.ask([{ name: 'capacity', kind: 'closed', forMs, atOnce: AT_ONCE }]),
    );
    const answeredMs = ofFate(samples, 'accepted').map(({ dueMs, tookMs }) => dueMs + tookMs);
    const warm = answeredMs.filter((atMs) => atMs >= forMs * WARM_PART && atMs < forMs);
    return { perSecond: (warm.length * 1_000) / (forMs * (1 - WARM_PART)), samples };
  }

  /** Goes through the acts, one right after the other; resolves with each once all of it is answered. */
  play(acts: readonly Act[]): Promise<Heard>[] {
    const many = this.much.asker.ask(
      acts.map(({ name, forMs, perSecond }) => ({ name, kind: 'open', forMs, perSecond })),
    );
    const few = this.little.asker.ask(
      acts.map(({ name, forMs, fewPerSecond: perSecond }) => ({ name, kind: 'open', forMs, perSecond })),
    );
    return acts.map(async (_, index) => ({ many: (await many[index]) ?? [], few: (await few[index]) ?? [] }));
  }

  /** Waits until so many runs were carried out; answers how long that took, ms. */
  async drained(runs: number): Promise<number> {
    const beganMs = performance.now();
    await until(`${runs} runs to end`, () => this.ended >= runs, {
      limitMs: DRAIN_LIMIT_MS,
      detail: () => `${this.ended} bodies ended\n${this.engine.child.output.slice(-4_000)}`,
    });
    return performance.now() - beganMs;
  }

  /** Memory of the engine's process, bytes. */
  memoryBytes(): number {
    const status = readFileSync(`/proc/${this.engine.child.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  }
}

/** Ids of the runs that were acknowledged. */
export function acceptedIds(heard: readonly (readonly Sample[])[]): readonly string[] {
  return heard.flatMap((samples) => ofFate(samples, 'accepted').map(({ runId }) => runId));
}
