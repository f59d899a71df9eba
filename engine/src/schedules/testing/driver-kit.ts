/** A node's driver on a real database with a clock that the test moves, and runs that end when the test says so. */
import { memoryBus } from '../../bus/index.js';
import { DuctorError, seededRandom, uuidV7, type ErrorCode } from '../../kernel/index.js';
import { manualClock, type ManualClock } from '../../kernel/testing/manual-clock.js';
import type { Database, Queryable } from '../../store/index.js';
import type { ScheduleRuns, SlotStart } from '../driver/ports.js';
import { createScheduleDriver, type ScheduleDriver } from '../driver/schedule-driver.js';
import { createSchedules, type Schedules } from '../schedules.js';
import type { NewSchedule } from '../schedule.js';

/** 2026-03-01T00:00:00Z. */
export const BEGIN_US = Date.parse('2026-03-01T00:00:00Z') * 1_000;

/** A node that drives. */
export interface DriverNode {
  readonly driver: ScheduleDriver;
  readonly nodeId: string;
  /** Shards it believes to own. */
  shards: readonly number[];
  /** Every statement it sent, by name. */
  readonly statements: string[];
  readonly errors: unknown[];
  /** Throws in the place of the next statement of this name: before it is sent, or after it was carried out. */
  crash: { readonly statement: string; readonly when: 'before' | 'after' } | null;
}

const ALL_SHARDS = Array.from({ length: 256 }, (_, shard) => shard);

/** A cluster in one process. */
export class DriverKit {
  readonly clock: ManualClock = manualClock(BEGIN_US);
  readonly bus = memoryBus(this.clock);
  readonly random = seededRandom(5);
  readonly tenantId = uuidV7(BEGIN_US, this.random);
  readonly schedules: Schedules;
  /** Every run, by its key. */
  readonly started = new Map<string, SlotStart & { readonly runId: string }>();
  readonly open = new Set<string>();
  readonly cancelled: string[] = [];
  /** Code with which starts are refused; null: they are not. */
  refuse: ErrorCode | null = null;
  /** Calls of start, repeated ones too. */
  starts = 0;
  #inFlight = 0;
  /** Told of each answer of the database. */
  #answered = (): void => undefined;
  readonly #nodes: DriverNode[] = [];

  constructor(readonly db: Database) {
    const changed = (shard: number): void => {
      for (const { driver } of this.#nodes) driver.changed(shard);
    };
    this.schedules = createSchedules({ db, clock: this.clock, random: this.random, changed });
  }

  /** A node that owns all shards from now on. */
  async node(): Promise<DriverNode> {
    const nodeId = uuidV7(this.clock.nowUs(), this.random);
    await this.own(nodeId, ALL_SHARDS);
    const node: DriverNode = {
      ...{ nodeId, shards: ALL_SHARDS, statements: [], errors: [], crash: null },
      driver: createScheduleDriver({
        ...{ clock: this.clock, bus: this.bus, db: this.#watched(() => node), runs: this.#runs() },
        owner: { nodeId: () => nodeId, ownedShards: () => node.shards },
        onError: (error) => node.errors.push(error),
      }),
    };
    this.#nodes.push(node);
    node.driver.start();
    await this.settle();
    return node;
  }

  /** Gives shards to a node. */
  async own(nodeId: string, shards: readonly number[]): Promise<void> {
    await this.db.query('update ductor.shard_owner set node_id = $1 where shard = any($2::smallint[])', [
      nodeId,
      `{${shards.join(',')}}`,
    ]);
  }

  /** A schedule of every minute, in UTC, that skips and catches up with the latest, unless told otherwise. */
  create(slug: string, change: Partial<NewSchedule> = {}): ReturnType<Schedules['create']> {
    return this.schedules.create(this.tenantId, {
      ...{ slug, familySlug: 'report', title: '', version: 0, attributes: {}, startsAtUs: null, endsAtUs: null },
      spec: { kind: 'cron', expression: '* * * * *', timeZone: 'UTC' },
      input: { data: Buffer.from('{"n":1}'), encoding: '' },
      ...{ overlap: 'skip', catchUp: 'latest', catchUpWindowMs: 86_400_000, jitterMs: 0 },
      ...change,
    });
  }

  /** Lets everything happen that needs no time. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 4;) {
      this.clock.settle();
      // Sleeps while the database works: looking again and again would take the core that it needs.
      if (this.#inFlight > 0) await new Promise<void>((resolve) => (this.#answered = resolve));
      await new Promise((resolve) => setImmediate(resolve));
      quiet = this.#inFlight === 0 ? quiet + 1 : 0;
    }
  }

  /** Lets so much time pass, in steps of a second at most. */
  async pass(ms: number, stepMs = 1_000): Promise<void> {
    await this.settle();
    for (let left = ms; left > 0; left -= stepMs) {
      this.clock.advance(Math.min(stepMs, left));
      await this.settle();
    }
  }

  /** Lets so much time pass at once, as when no engine runs. */
  leap(ms: number): void {
    this.clock.advance(ms);
  }

  /** Ends a run and tells of it. */
  async end(runId: string): Promise<void> {
    this.open.delete(runId);
    this.bus.publish('runs', runId);
    await this.settle();
  }

  /** The slots of a schedule, oldest first, each as "00:05 started". */
  async rows(slug: string): Promise<readonly string[]> {
    const slots = await this.schedules.slots(this.tenantId, slug, { beforeUs: BEGIN_US * 2, limit: 1_000 });
    return slots
      .toReversed()
      .map(({ slotUs, outcome }) => `${new Date(slotUs / 1_000).toISOString().slice(11, 16)} ${outcome}`);
  }

  /** Runs by the slots they were started for. */
  runOf(slot: string): string {
    for (const { runId, attributes } of this.started.values()) {
      if (attributes['ductor.slot']?.slice(11, 16) === slot) return runId;
    }
    throw new TypeError(`no run for ${slot}`);
  }

  #runs(): ScheduleRuns {
    return {
      start: async (start) => {
        await Promise.resolve();
        this.starts += 1;
        if (this.refuse !== null) throw new DuctorError(this.refuse, 'refused by the test');
        const known = this.started.get(start.idempotencyKey);
        if (known !== undefined) return known;
        const run = { ...start, runId: uuidV7(this.clock.nowUs(), this.random) };
        this.started.set(start.idempotencyKey, run);
        this.open.add(run.runId);
        return run;
      },
      openAmong: (runs) => Promise.resolve(runs.filter(({ runId }) => this.open.has(runId))),
      cancel: ({ runId }) => {
        this.cancelled.push(runId);
        return Promise.resolve();
      },
    };
  }

  #watched(node: () => DriverNode): Queryable {
    const die = (statement: string, when: 'before' | 'after'): void => {
      const { crash } = node();
      if (crash?.statement !== statement || crash.when !== when) return;
      node().crash = null;
      throw new DuctorError('database_unavailable', `the node died ${when} ${statement}`);
    };
    return {
      query: async (statement, values) => {
        // Names end with a digest of their texts.
        const name =
          typeof statement === 'string' ? statement.slice(0, 40) : statement.name.replace(/_[0-9a-f]{8}$/, '');
        node().statements.push(name);
        this.#inFlight += 1;
        try {
          die(name, 'before');
          const result = await this.db.query<never>(statement, values ?? []);
          die(name, 'after');
          return result;
        } finally {
          this.#inFlight -= 1;
          this.#answered();
        }
      },
    };
  }
}
