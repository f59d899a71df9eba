/**
 * Drives the schedules of the shards that this node owns.
 *
 *   new -> idle (one timer for the next slot of all schedules) -> turning -> idle
 *                                                              -> stopped
 * Invariants:
 * 1. One turn is under way at a time; what asks for another meanwhile gets one more.
 * 2. Everything a turn writes is behind the hold on its shards: a node that lost one decides nothing of it any more.
 * 3. A slot has one row from when it is planned, and `starting` stands in it before its run is started: so there is one
 *    run a slot, over crashes and on any number of nodes, and its row says so in the end.
 * 4. A hint that is lost costs time, never a slot: the driver looks by itself every SWEEP_MS.
 */
import type { Bus } from '../../bus/index.js';
import type { Clock, Timer } from '../../kernel/index.js';
import type { Queryable } from '../../store/index.js';
import { look } from '../sql/driving.js';
import { planDue } from './plan-turn.js';
import type { ScheduleOwner, ScheduleRuns } from './ports.js';
import { settleOpen, type Settled } from './settle-turn.js';

/** Hints that schedules of a shard have changed. */
const SCHEDULES_TOPIC = 'schedules';
/** Hints that runs have changed: their ids, by commas. */
const RUNS_TOPIC = 'runs';

/** How often the driver looks when nothing is to come. */
const SWEEP_MS = 30_000;
/** The same while slots wait for the end of a run: the hint of it may be lost. */
const BUFFERED_SWEEP_MS = 5_000;
/** Wait before what failed is tried again. */
const RETRY_MS = 1_000;
/** Least time between two turns: the error bound of the clock moves, and a zero wait would spin. */
const SHORTEST_MS = 5;

/** What a driver is made of. */
export interface ScheduleDriverParts {
  /** For all tenants. */
  readonly db: Queryable;
  readonly clock: Clock;
  readonly bus: Bus;
  readonly runs: ScheduleRuns;
  readonly owner: ScheduleOwner;
  /** Told of turns that failed; they are tried again. */
  readonly onError: (error: unknown) => void;
}

/** The driver of a node. */
export interface ScheduleDriver {
  /** Begins to drive. */
  start(): void;
  /** Looks soon: shards have changed owner. Never does anything within the call. */
  kick(): void;
  /** A schedule of the shard has changed: looks soon, or tells the node that owns the shard. */
  changed(shard: number): void;
  /** Runs of this node have changed publicly: a slot may wait for the end of one. */
  runsChanged(runIds: readonly string[]): void;
  /** Begins no turn any more; resolves when the one under way has ended. */
  stop(): Promise<void>;
}

/** Makes a driver. */
export function createScheduleDriver(parts: ScheduleDriverParts): ScheduleDriver {
  return new Driver(parts);
}

class Driver implements ScheduleDriver {
  #state: 'new' | 'idle' | 'turning' | 'stopped' = 'new';
  #timer: Timer | null = null;
  #wantsTurn = false;
  #isKicked = false;
  #awaited: ReadonlySet<string> = new Set();
  /** Runs that changed during this turn: what it awaits in the end may be among them. */
  #heard = new Set<string>();
  #unsubscribe: readonly (() => void)[] = [];
  #turn: Promise<void> = Promise.resolve();

  constructor(readonly parts: ScheduleDriverParts) {}

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'idle';
    const { bus } = this.parts;
    this.#unsubscribe = [
      bus.subscribe(SCHEDULES_TOPIC, (body) => {
        if (this.#owns(Number(body))) this.kick();
      }),
      bus.subscribe(RUNS_TOPIC, (body) => this.runsChanged(body.split(','))),
    ];
    this.kick();
  }

  kick(): void {
    if (this.#state === 'new' || this.#state === 'stopped' || this.#isKicked) return;
    this.#isKicked = true;
    this.parts.clock.defer(() => {
      this.#isKicked = false;
      this.#begin();
    });
  }

  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#timer?.cancel();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await this.#turn;
  }

  changed(shard: number): void {
    if (this.#owns(shard)) this.kick();
    else this.parts.bus.publish(SCHEDULES_TOPIC, String(shard));
  }

  runsChanged(runIds: readonly string[]): void {
    if (this.#state === 'turning') for (const runId of runIds) this.#heard.add(runId);
    if (runIds.some((runId) => this.#awaited.has(runId))) this.kick();
  }

  #owns(shard: number): boolean {
    return this.parts.owner.ownedShards().includes(shard);
  }

  #begin(): void {
    if (this.#state === 'turning') this.#wantsTurn = true;
    if (this.#state !== 'idle') return;
    this.#state = 'turning';
    this.#wantsTurn = false;
    this.#timer?.cancel();
    this.#heard = new Set();
    this.#turn = this.#run();
  }

  async #run(): Promise<void> {
    let nextMs = RETRY_MS;
    try {
      nextMs = await this.#once();
    } catch (error) {
      this.parts.onError(error);
    }
    if (this.#state === 'stopped') return;
    this.#state = 'idle';
    const delayMs = this.#wantsTurn ? SHORTEST_MS : Math.max(SHORTEST_MS, Math.min(SWEEP_MS, nextMs));
    this.#timer = this.parts.clock.setTimer(delayMs, () => this.#begin());
  }

  /** One turn. Returns how long the next one can wait, ms. */
  async #once(): Promise<number> {
    const { db, owner, runs } = this.parts;
    const [nodeId, shards] = [owner.nodeId(), owner.ownedShards()];
    if (nodeId === null || shards.length === 0) return SWEEP_MS;
    const holder = { nodeId, shards };
    let seen = await look(db, shards);
    while (seen.nextDueUs !== null && seen.nextDueUs <= this.#surelyUs() && this.#state !== 'stopped') {
      if (!(await planDue(db, holder, this.#surelyUs()))) break;
      seen = await look(db, shards);
    }
    const isOpen = seen.hasOpen && this.#state !== 'stopped';
    const settled = isOpen ? await settleOpen({ db, runs }, holder, this.#surelyUs()) : null;
    this.#awaited = new Set(settled?.awaited);
    if ([...this.#awaited].some((runId) => this.#heard.has(runId))) this.#wantsTurn = true;
    return Math.min(this.#untilMs(seen.nextDueUs), waitOf(settled));
  }

  /** How long it is until something is due, ms. What is due and could not be planned is looked at again later. */
  #untilMs(dueUs: number | null): number {
    if (dueUs === null) return SWEEP_MS;
    const untilMs = Math.ceil((dueUs - this.#surelyUs()) / 1_000);
    return untilMs > 0 ? untilMs : RETRY_MS;
  }

  /** Database time that has passed for sure. */
  #surelyUs(): number {
    const { clock } = this.parts;
    return clock.nowUs() - clock.errorUs();
  }
}

/** How long what a turn left can wait, ms. */
function waitOf(settled: Settled | null): number {
  if (settled === null) return SWEEP_MS;
  if (settled.isMore) return 0;
  if (settled.hasRetries) return RETRY_MS;
  return settled.hasBuffered ? BUFFERED_SWEEP_MS : SWEEP_MS;
}
