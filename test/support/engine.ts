/** An engine as a process of its own: `ductor dev` on a data folder, or `ductor start` on a database. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Child, type Exit, ROOT, startChild } from './child.js';
import { endEmbeddedPostgres, scratchFolder } from './scratch.js';
import { busSettings } from './test-bus.js';
import { until } from './wait.js';

/** Secret of all engines that tests start on a database: their tokens and key hashes agree. */
export const TEST_SECRET = 'a secret of tests only with more than 32 bytes';

/** Which engine. */
export interface EngineOptions {
  /** For messages; default "engine". */
  readonly name?: string;
  /** `ductor dev` with this data folder; its embedded PostgreSQL is ended with `discard`. */
  readonly dataDir?: string;
  /** `ductor start` on this migrated database. Exactly one of dataDir and databaseUrl. */
  readonly databaseUrl?: string;
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>;
  readonly onLine?: (line: string) => void;
}

const readyFile = z.strictObject({
  address: z.string().regex(/^[^/\s]+:\d+$/),
  api_key: z.string().min(1).optional(),
  tenant: z.string().min(1).optional(),
});

/** The line an engine logs on SIGUSR2. */
const metricsLine = z.looseObject({
  msg: z.literal('metrics'),
  fenced_commits: z.number(),
  commit_conflicts: z.number(),
  commit_unknown: z.number(),
});

/** What an engine has counted since its start. */
export type EngineMetrics = z.output<typeof metricsLine>;

/** What the ready file says. */
export type ReadyFile = z.output<typeof readyFile>;

const BIN = join(ROOT, 'engine/bin/ductor.js');
const READY_LIMIT_MS = 60_000;
const ENGINES: Engine[] = [];

/** One engine; keeps its port from its first start on. */
export class Engine {
  readonly name: string;
  readonly #options: EngineOptions;
  readonly #folder = scratchFolder('engine');
  #child: Child | undefined;
  #ready: ReadyFile | undefined;
  #port = 0;
  #metrics: EngineMetrics[] = [];
  /** From spawn to the ready file, at the last start, ms. */
  readyMs = 0;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.name = options.name ?? 'engine';
    ENGINES.push(this);
  }

  /** host:port. */
  get address(): string {
    return this.#known().address;
  }

  /** Key of the development tenant; engines on a database have none of their own. */
  get apiKey(): string {
    return this.#known().api_key ?? '';
  }

  /** What the ready file said at the last start. */
  get ready(): ReadyFile {
    return this.#known();
  }

  get child(): Child {
    if (this.#child === undefined) throw new Error(`${this.name} was never started`);
    return this.#child;
  }

  /** Starts it, again on the port it had. Resolves when its ready file is there; throws with its output if it ends. */
  async start(): Promise<this> {
    const file = join(this.#folder, 'ready.json');
    rmSync(file, { force: true });
    const beganMs = performance.now();
    const child = startChild({
      name: this.name,
      args: [BIN, ...this.#arguments(file)],
      env: { ...(await this.#settings()), ...this.#options.env },
      onLine: (line) => this.#heard(line),
    });
    this.#metrics = [];
    this.#child = child;
    await until(
      `${this.name} to be ready`,
      () => {
        if (!child.isRunning) throw new Error(`${this.name} ended before it was ready\n${child.output}`);
        return existsSync(file);
      },
      { limitMs: READY_LIMIT_MS, everyMs: 5, detail: () => child.output },
    );
    this.readyMs = performance.now() - beganMs;
    this.#ready = readyFile.parse(JSON.parse(readFileSync(file, 'utf8')));
    this.#port = Number(this.#ready.address.split(':').at(-1));
    return this;
  }

  /** SIGKILL; resolves when it is gone. An embedded PostgreSQL stays, as it does for users. */
  kill(): Promise<void> {
    return this.child.kill();
  }

  /** SIGTERM; resolves when it has ended. */
  stop(limitMs?: number): Promise<Exit> {
    return this.child.stop(limitMs);
  }

  /** Kills it if it runs, and its embedded PostgreSQL. */
  async discard(): Promise<void> {
    if (this.#child?.isRunning === true) await this.kill();
    if (this.#options.dataDir !== undefined) await endEmbeddedPostgres(this.#options.dataDir);
  }

  /** Asks it, by SIGUSR2, what it has counted. */
  async metrics(): Promise<EngineMetrics> {
    const before = this.#metrics.length;
    this.child.signal('SIGUSR2');
    return until(`${this.name} to tell its metrics`, () => this.#metrics[before], {
      detail: () => this.child.output.slice(-4_000),
    });
  }

  #heard(line: string): void {
    this.#options.onLine?.(line);
    if (!line.includes('"metrics"')) return;
    const parsed = metricsLine.safeParse(JSON.parse(line));
    if (parsed.success) this.#metrics.push(parsed.data);
  }

  #known(): ReadyFile {
    if (this.#ready === undefined) throw new Error(`${this.name} was never ready`);
    return this.#ready;
  }

  #arguments(file: string): readonly string[] {
    const { dataDir } = this.#options;
    if (dataDir === undefined) return ['start', '--ready-file', file];
    return ['dev', '--port', String(this.#port), '--data-dir', dataDir, '--ready-file', file];
  }

  async #settings(): Promise<Readonly<Record<string, string>>> {
    const { databaseUrl } = this.#options;
    if (databaseUrl === undefined) return {};
    const bus = await busSettings();
    return { DATABASE_URL: databaseUrl, DUCTOR_SECRET: TEST_SECRET, DUCTOR_PORT: String(this.#port), ...bus };
  }
}

/** Starts an engine; resolves when it is ready. */
export function startEngine(options: EngineOptions): Promise<Engine> {
  return new Engine(options).start();
}

/** Kills every engine made here that still runs, and ends their embedded servers. */
export async function discardEngines(): Promise<void> {
  for (const engine of ENGINES.splice(0)) await engine.discard();
}
