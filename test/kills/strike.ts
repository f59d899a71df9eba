/**
 * Carries the plan out. A fault lands only under load: while steps end at more than the floor, and at a victim that is
 * up. What was hit comes back by itself, also while the next one is hit.
 */
import type { Random } from '../../engine/src/kernel/index.js';
import { databaseNowUs, shardsOf } from '../support/cluster.js';
import { retrying, sleep, until } from '../support/wait.js';
import { type Cast, LEASE_MS, type Victim } from './cast.js';
import type { Load } from './load.js';
import type { FaultKind } from './plan.js';

/** Steps that must have ended in the second before a fault, or it proves nothing. */
export const FLOOR_STEPS = 40;
/** How long a victim stands still: past its lease. */
const STILL_MS = LEASE_MS + 700;
const RETURN_LIMIT_MS = 60_000;
const PAUSE_MS = 150;
/** Within so long what a hit engine had goes on, ms. */
export const RESUME_LIMIT_MS = LEASE_MS + 1_000;

/** A fault that landed. */
export interface Landed {
  readonly kind: FaultKind;
  readonly name: string;
  /** Steps in the second before. */
  readonly stepsBefore: number;
  /** Of an engine: database time of the fault, and the shards it had. */
  readonly engine: { readonly atUs: number; readonly shards: readonly number[] } | undefined;
  /** When, by `performance.now()`. */
  readonly atMs: number;
}

/** Hits the cast as planned; resolves with what landed once everything is back. */
export async function strike(
  cast: Cast,
  load: Load,
  plan: readonly FaultKind[],
  random: Random,
): Promise<readonly Landed[]> {
  const striker = new Striker(cast, load, random);
  for (const kind of plan) await striker.land(kind);
  await striker.allBack();
  return striker.landed;
}

class Striker {
  readonly landed: Landed[] = [];
  readonly #returns = new Set<Promise<unknown>>();
  /** When an engine was hit last, by this process's clock. */
  #engineHitMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly cast: Cast,
    private readonly load: Load,
    private readonly random: Random,
  ) {}

  async land(kind: FaultKind): Promise<void> {
    const { load } = this;
    await sleep(PAUSE_MS + (this.random.uint32() % PAUSE_MS));
    if (kind === 'kill redis' && this.cast.redis === undefined) return;
    // How long an engine's shards take to move is measured: so long nothing else happens that they need for it.
    if (!kind.endsWith('redis') && !kind.endsWith('worker'))
      await sleep(this.#engineHitMs + RESUME_LIMIT_MS - performance.now());
    await until('load to hit under', () => load.stepsPerSecond >= FLOOR_STEPS, {
      limitMs: RETURN_LIMIT_MS,
      detail: () => `${this.landed.length} faults landed, ${load.stepsPerSecond} steps in the last second`,
    });
    const stepsBefore = load.stepsPerSecond;
    if (kind === 'kill postgres') {
      this.cast.killPostgres();
      this.#note({ kind, name: 'postgres', stepsBefore, engine: undefined });
    } else if (kind === 'kill redis') {
      await this.#killRedis();
      this.#note({ kind, name: 'redis', stepsBefore, engine: undefined });
    } else {
      await this.#hit(kind, stepsBefore);
    }
  }

  async allBack(): Promise<void> {
    await Promise.all(this.#returns);
  }

  async #killRedis(): Promise<void> {
    const { redis } = this.cast;
    await redis?.stop();
    this.#comesBack(sleep(300 + (this.random.uint32() % 700)).then(() => redis?.restart()));
  }

  async #hit(
    kind: 'kill engine' | 'kill worker' | 'pause engine' | 'pause worker',
    stepsBefore: number,
  ): Promise<void> {
    const { cast } = this;
    const isEngine = kind.endsWith('engine');
    const victims = await until(
      'a victim that is up',
      () => {
        const up = cast.hittable(isEngine ? 'engine' : 'worker');
        return up.length > 0 && up;
      },
      { limitMs: RETURN_LIMIT_MS },
    );
    const victim = victims[this.random.uint32() % victims.length];
    if (victim === undefined) return;
    cast.away.add(victim);
    const engine = victim.engine === undefined ? undefined : await this.#shardsOf(victim.engine.address);
    if (kind.startsWith('kill')) {
      await victim.child().kill();
      this.#comesBack(victim.restart().finally(() => cast.away.delete(victim)));
    } else {
      victim.child().signal('SIGSTOP');
      this.#comesBack(this.#goOn(victim));
    }
    if (isEngine) this.#engineHitMs = performance.now();
    this.#note({ kind, name: victim.name, stepsBefore, engine });
  }

  #note(landed: Omit<Landed, 'atMs'>): void {
    this.landed.push({ ...landed, atMs: performance.now() });
  }

  #shardsOf(address: string): Promise<Landed['engine']> {
    const { db } = this.cast;
    return retrying(async () => ({ shards: await shardsOf(db, address), atUs: await databaseNowUs(db) }), 30_000);
  }

  async #goOn(victim: Victim): Promise<void> {
    await sleep(STILL_MS);
    victim.child().signal('SIGCONT');
    // Up again means: it has shards again, or takes tasks; it gets time for it.
    await sleep(LEASE_MS);
    this.cast.away.delete(victim);
  }

  #comesBack(work: Promise<unknown>): void {
    const done = work.finally(() => this.#returns.delete(done));
    // A return that fails shows in allBack, or in a victim that never is up again.
    done.catch(() => undefined);
    this.#returns.add(done);
  }
}
