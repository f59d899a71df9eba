/** The load: runs are started, each under a key and until it is acknowledged, and how fast steps end is watched. */
import { DuctorClient } from '@ductor/sdk';
import { chainWorkflow } from '../support/chain.js';
import { retrying, sleep } from '../support/wait.js';
import type { Cast } from './cast.js';

const FEEDERS = 16;
/** Open runs that are enough to keep every slot busy. */
const OPEN_MAX = 320;
const BODY_MS = 250;
const SAMPLE_MS = 100;
/** A timer that is later than so much was not the fault of what is tested: nothing ran here. */
const STILL_MS = 250;
const WINDOW_SAMPLES = 10;
/** How long one start is tried: longer than any outage of the plan. */
const START_LIMIT_MS = 90_000;

/** The load on a cast. */
export class Load {
  /** Ids of acknowledged runs, by their names. */
  readonly started = new Map<string, string>();
  readonly #cast: Cast;
  readonly #client: DuctorClient;
  readonly #samples: number[] = [];
  readonly #stillAtMs: number[] = [];
  readonly #feeders: Promise<void>[];
  readonly #sampler: Promise<void>;
  #asked = 0;
  #runsMin: number;
  #isOver = false;
  #isSampling = true;

  /** @param runsMin runs to start at least; more are started until `end` */
  constructor(cast: Cast, runsMin: number) {
    this.#cast = cast;
    this.#runsMin = runsMin;
    this.#client = new DuctorClient({ engine: [...cast.addresses], apiKey: cast.apiKey });
    this.#feeders = Array.from({ length: FEEDERS }, () => {
      const feeding = this.#feed();
      // Shows in `end`; a slice that broke off before tells why itself.
      feeding.catch(() => undefined);
      return feeding;
    });
    this.#sampler = this.#sample();
  }

  /** Steps that ended in the last second. */
  get stepsPerSecond(): number {
    const [first = 0] = this.#samples;
    return (this.#samples.at(-1) ?? 0) - first;
  }

  /** Whether this machine stood still for a moment between these times of `performance.now()`. */
  stoodStill(fromMs: number, toMs: number): boolean {
    return this.#stillAtMs.some((atMs) => atMs > fromMs && atMs < toMs);
  }

  /** Lets a run go on that is parked because of what happened to its workers and engines. False: it is not. */
  async resume(runId: string): Promise<boolean> {
    const run = this.#client.run(runId);
    const { reason, code } = await run.explain();
    const isKilled = reason === 'PARKED' && (code === 'worker_lost' || code === 'engine_crash');
    if (isKilled) await run.resume();
    return isKilled;
  }

  /** Starts no more than asked for at least; resolves when all starts are acknowledged. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#feeders);
  }

  async close(): Promise<void> {
    this.#isSampling = false;
    await this.#sampler;
    this.#client.close();
  }

  async #feed(): Promise<void> {
    const { chain, marks } = this.#cast;
    const workflow = chainWorkflow({ ...chain, marks: '' });
    while (!this.#isOver || this.#asked < this.#runsMin) {
      if (this.#asked - marks.counts.ended / chain.steps > OPEN_MAX) {
        await sleep(20);
        continue;
      }
      const name = `run-${(this.#asked += 1)}`;
      const start = (): Promise<{ readonly id: string }> =>
        this.#client.trigger(workflow, { name, bodyMs: BODY_MS }, { idempotencyKey: name });
      this.started.set(name, (await retrying(start, START_LIMIT_MS)).id);
    }
  }

  async #sample(): Promise<void> {
    while (this.#isSampling) {
      this.#samples.push(this.#cast.marks.read().counts.ended);
      if (this.#samples.length > WINDOW_SAMPLES + 1) this.#samples.shift();
      const askedMs = performance.now();
      await sleep(SAMPLE_MS);
      if (performance.now() - askedMs > SAMPLE_MS + STILL_MS) this.#stillAtMs.push(askedMs);
    }
  }
}
