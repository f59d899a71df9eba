/**
 * A commit lane: takes what is dirty, commits it as one batch, carries out what follows. The plain lane takes every run
 * first; a tick that turns out to touch what runs share goes to the gate lane, and is computed there anew.
 *
 *   idle -> scheduled (something is dirty; the current work gathers more) -> turning (gather, commit, settle) -> ...
 *
 * While all goes well, the next batch is gathered and sent before the last one is settled, so that the database has
 * something to do meanwhile.
 *
 * Invariants:
 * 1. One batch is in flight at a time; everything that comes meanwhile waits for the next one. No time is lingered.
 * 2. A turn suspends only while it commits, or waits for a lost transaction to end. After anything but success, and
 *    when somebody waits for a pause, nothing more is sent before the batch is settled.
 * 3. Cells are served in the order in which they became dirty.
 * 4. No answer, task, abort or news leaves before the commit it belongs to is known to be written.
 */
import { DuctorError } from '../../kernel/index.js';
import { untilDone } from './backoff.js';
import { commitBatch, type CommitEnvironment, type Verdict } from './commit-batch.js';
import { isLookedUp, isPassedOn } from './continuing.js';
import { noEffects, perform, type Effects } from './effects.js';
import { Fifo } from './fifo.js';
import { selectionsOf } from './gate.js';
import type { CommitLane } from './gate-ports.js';
import { laneEnvironments, membersOf } from './lane-environments.js';
import { quarantineTick } from './quarantine-tick.js';
import type { RunCell } from './run-cell.js';
import { isGivenUp } from './run-logic.js';
import { conflicted, goOn, oncemore, putBack, setAside, undo, unread, written } from './settle-tick.js';
import {
  computeTick,
  digestOf,
  dropTick,
  failTick,
  inputsOf,
  parkTick,
  type ParkReason,
  type Tick,
  type TickEnvironment,
} from './tick.js';
import type { World } from './world.js';

/** Runs of a batch of the gate lane: so long its locks are held. */
const GATE_BATCH_RUNS = 64;
/** A run that can be neither advanced nor parked is tried again after this. */
const STUCK_WAIT_MS = 30_000;

/** A batch that was sent. */
interface Batch {
  readonly ticks: readonly Tick[];
  readonly effects: Effects;
  readonly verdicts: Promise<readonly Verdict[]>;
}

/** The lane of one incarnation. */
export class Lane {
  readonly #dirty = new Fifo<RunCell>();
  readonly #tickEnvironment: TickEnvironment;
  readonly #plain: CommitEnvironment;
  readonly #gated: CommitEnvironment;
  readonly #waiters: (() => void)[] = [];
  #isScheduled = false;
  #isTurning = false;
  #computeMs = 0;
  /** Since when the first run of the batch waits. */
  #oldestMs = 0;

  constructor(
    readonly world: World,
    readonly kind: CommitLane = 'plain',
  ) {
    const environments = laneEnvironments(world, (ticks, commitMs, { kind: outcome }) => {
      const bytes = ticks.reduce((sum, tick) => sum + tick.bytes, 0);
      const latencyMs = world.clock.monotonicMs() - this.#oldestMs;
      const times = { computeMs: this.#computeMs, commitMs, latencyMs };
      const sizes = { runs: ticks.length, bytes, waiting: this.#dirty.size };
      world.hooks.batch({ ...sizes, ...times, outcome, members: () => membersOf(ticks) });
      this.#computeMs = 0;
    });
    this.#tickEnvironment = environments.tick;
    this.#plain = environments.plain;
    this.#gated = environments.gated;
  }

  /** Runs that wait for a batch. */
  get waiting(): number {
    return this.#dirty.size;
  }

  /** Queues a ready cell with inputs. */
  add(cell: RunCell): void {
    if (cell.isDirty || cell.phase !== 'ready') return;
    cell.isDirty = true;
    cell.dirtySinceMs = this.world.clock.monotonicMs();
    this.#dirty.push(cell);
    this.kick();
  }

  /** Schedules a turn when there is work and none is scheduled. */
  kick(): void {
    if (this.#isScheduled || this.#isTurning || this.#dirty.size === 0) return;
    if (this.world.isEnded() || !this.world.hasLease()) return;
    this.#isScheduled = true;
    this.world.clock.defer(() => void this.#turn());
  }

  /** Whether something waits or is in flight. */
  get isBusy(): boolean {
    return this.#isTurning || this.#dirty.size > 0;
  }

  /** Resolves when no batch is in flight. */
  async quiet(): Promise<void> {
    if (this.#isTurning) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Resolves when nothing is dirty and no batch is in flight, or when `isOver`. */
  async drained(isOver: () => boolean): Promise<void> {
    while ((this.#isTurning || this.#dirty.size > 0) && !isOver()) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** Lets go whoever waits, to look again. */
  release(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  async #turn(): Promise<void> {
    this.#isScheduled = false;
    if (this.world.isEnded() || !this.world.hasLease()) return;
    this.#isTurning = true;
    for (let batch = this.#begin(); batch !== undefined;) batch = await this.#finish(batch);
    this.#isTurning = false;
    this.release();
    this.kick();
  }

  /** Gathers a batch and sends it; undefined when there is nothing to send. */
  #begin(): Batch | undefined {
    const effects = noEffects();
    const ticks = this.#gather(effects);
    if (ticks.length > 0) {
      const verdicts = commitBatch(this.kind === 'gate' ? this.#gated : this.#plain, ticks);
      return { ticks, effects, verdicts };
    }
    this.#perform(effects);
    return undefined;
  }

  /** Waits for a batch, and carries out what follows; the next one is under way by then, if there is one. */
  async #finish({ ticks, effects, verdicts }: Batch): Promise<Batch | undefined> {
    const known = await verdicts;
    const next = this.#mayGoOn(known) ? this.#begin() : undefined;
    try {
      await this.#settleAll(ticks, known, effects);
    } catch (error) {
      // Only a fault of this code comes here; what is committed of these runs is not known.
      this.world.hooks.log('error', 'a batch failed inside the engine', { error });
      for (const tick of ticks) if (tick.cell.phase === 'in_flight') this.#again(tick);
    }
    this.#perform(effects);
    return next;
  }

  /** Whether the next batch may be sent before this one is settled: nothing is amiss, and nobody waits for a pause. */
  #mayGoOn(verdicts: readonly Verdict[]): boolean {
    if (this.#waiters.length > 0 || this.world.isEnded() || !this.world.hasLease()) return false;
    return this.kind === 'plain' && verdicts.every(({ kind }) => kind === 'written');
  }

  #perform(effects: Effects): void {
    const { cache, hooks } = this.world;
    perform(this.world, effects);
    cache.shrink();
    this.world.suspects().look();
    hooks.cache(cache.bytes, cache.size);
  }

  #gather(effects: Effects): readonly Tick[] {
    const { world } = this;
    const { maxBatchBytes } = world.options;
    const maxBatchRuns = this.kind === 'gate' ? GATE_BATCH_RUNS : world.options.maxBatchRuns;
    const startMs = world.clock.monotonicMs();
    const ticks: Tick[] = [];
    let bytes = 0;
    for (let looked = this.#dirty.size; looked > 0 && ticks.length < maxBatchRuns; looked -= 1) {
      const cell = this.#dirty.shift();
      if (cell === undefined) break;
      cell.isDirty = false;
      const isWanted = world.cache.holds(cell) && cell.phase === 'ready' && cell.inputs.length > 0;
      // A shard that is being given away: its inputs are handed on when its cells are dropped.
      if (!isWanted || !world.shards.ticks(cell.shard)) continue;
      if (isPassedOn(world, cell)) {
        goOn(world, cell, effects);
        continue;
      }
      if (isLookedUp(world, cell) || !world.suspects().mayTick(cell, this.kind)) continue;
      const { current } = cell;
      const tick = this.#compute(cell, effects);
      cell.current = null;
      if (tick === undefined) continue;
      if (tick.gated !== null && this.kind === 'plain') {
        // Looked up for this tick, which the gate lane computes: it would look it up, and come back here, for ever.
        cell.current = current;
        putBack(cell, inputsOf(tick));
        world.toGate(cell);
        continue;
      }
      if (ticks.length > 0 && bytes + tick.bytes > maxBatchBytes) {
        putBack(cell, inputsOf(tick));
        cell.isDirty = true;
        this.#dirty.unshift(cell);
        break;
      }
      cell.phase = 'in_flight';
      bytes += tick.bytes;
      // Cells are served in the order in which they became dirty.
      if (ticks.length === 0) this.#oldestMs = cell.dirtySinceMs;
      ticks.push(tick);
    }
    this.#computeMs = world.clock.monotonicMs() - startMs;
    return ticks;
  }

  #compute(cell: RunCell, effects: Effects): Tick | undefined {
    const doom = this.world.suspects().verdict(cell);
    const parking = doom && this.#instead(cell, () => quarantineTick(cell, doom, this.#tickEnvironment));
    if (parking) return parking;
    const result = computeTick(cell, this.#tickEnvironment);
    if (result.kind === 'tick') return result.tick;
    if (result.kind === 'nothing') {
      putBack(cell, result.others);
      goOn(this.world, cell, effects);
      return undefined;
    }
    this.world.hooks.log('error', 'a run can neither go on nor be parked', { run: cell.key, error: result.error });
    if (cell.start !== null) {
      this.#refuseStart(cell, DuctorError.from(result.error), effects);
    } else {
      putBack(cell, result.inputs);
      setAside(this.world, cell, STUCK_WAIT_MS);
    }
    return undefined;
  }

  async #settleAll(ticks: readonly Tick[], verdicts: readonly Verdict[], effects: Effects): Promise<void> {
    for (const [index, tick] of ticks.entries()) {
      const verdict = verdicts[index] ?? { kind: 'unknown' };
      this.#settle(tick, verdict, effects);
    }
    const isUnknown = verdicts.some((verdict) => verdict.kind === 'unknown');
    const conflicts = verdicts.filter((verdict) => verdict.kind === 'conflict').length;
    if (conflicts > 0) this.world.hooks.conflicts(conflicts);
    if (verdicts.some((verdict) => verdict.kind === 'fenced')) return this.world.fenced();
    if (isUnknown)
      await this.#afterUnknown(
        ticks.filter((tick) => tick.cell.phase === 'unsettled'),
        this.kind,
      );
    for (const [index, tick] of ticks.entries()) {
      const verdict = verdicts[index];
      if (verdict?.kind === 'refused') await this.#refused(tick, verdict, effects);
    }
  }

  #settle(tick: Tick, verdict: Verdict, effects: Effects): void {
    switch (verdict.kind) {
      case 'written':
        return written(this.world, verdict.tick ?? tick, effects);
      case 'again':
        tick.cell.isLockedOut = verdict.isLockedOut === true && selectionsOf(tick).length > 0;
        return oncemore(this.world, tick);
      case 'conflict':
        return conflicted(this.world, tick);
      case 'key_taken':
        return this.#keyTaken(tick);
      case 'unread':
        return unread(this.world, tick);
      case 'unknown':
        undo(tick);
        tick.cell.phase = 'unsettled';
        return;
      case 'fenced':
        return undo(tick);
      case 'refused':
        return undefined;
    }
  }

  #keyTaken(tick: Tick): void {
    const { cell } = tick;
    const { start } = cell;
    if (start === null) return conflicted(this.world, tick);
    cell.phase = 'ready';
    cell.start = null;
    this.world.cache.drop(cell);
    this.world.keyTaken(start);
  }

  /** Waits until the lost transaction has ended; then the runs are loaded, and their inputs applied, again. */
  async #afterUnknown(ticks: readonly Tick[], lane: CommitLane): Promise<void> {
    const { world } = this;
    world.hooks.unknownOutcome(ticks.length);
    const isOurs = await untilDone(
      world.clock,
      () => !world.isEnded(),
      () => world.runs.settle(world.nodeId, lane),
      (error) => world.hooks.log('warn', 'the database does not answer, trying again', { error }),
    );
    if (isOurs === false) return world.fenced();
    for (const { cell } of ticks) {
      if (!world.cache.holds(cell)) continue;
      cell.phase = 'cold';
      world.enqueue(cell);
    }
  }

  #again(tick: Tick): void {
    undo(tick);
    setAside(this.world, tick.cell, STUCK_WAIT_MS);
  }

  #refuseStart(cell: RunCell, error: Error, effects: Effects): void {
    const { start } = cell;
    cell.phase = 'ready';
    [cell.start, cell.inputs] = [null, []];
    this.world.cache.drop(cell);
    if (start === null) return;
    this.world.startEnded(start);
    effects.answers.push(() => start.reject(error));
  }

  /** The database refuses what this run alone wants to write. */
  async #refused(tick: Tick, why: Verdict & { readonly kind: 'refused' }, effects: Effects): Promise<void> {
    const { cell } = tick;
    const digest = digestOf(tick.write.entries);
    if (cell.start !== null) {
      const message = `the database refuses this start (SQLSTATE ${why.sqlState}; entries with SHA-256 ${digest})`;
      return this.#refuseStart(cell, new DuctorError('invalid_argument', message), effects);
    }
    cell.phase = 'ready';
    const inputs = inputsOf(tick);
    if (inputs.length > 1) {
      putBack(cell, inputs);
      cell.isOneByOne = true;
      return this.add(cell);
    }
    const message = `SQLSTATE ${why.sqlState} for entries with SHA-256 ${digest}`;
    await this.#park(tick, { code: 'poison_commit', message }, effects);
  }

  /**
   * A run that nobody looks after any more is not parked, for no cancel could end that: a result counts as failed, or
   * is dropped when even its failure is refused.
   */
  async #park(tick: Tick, reason: ParkReason, effects: Effects): Promise<void> {
    const { cell } = tick;
    const env = this.#tickEnvironment;
    const bad = inputsOf(tick)[0] ?? null;
    const ways =
      cell.state !== null && isGivenUp(cell.state)
        ? [() => failTick(cell, reason, bad, env), () => dropTick(cell, bad)]
        : [() => parkTick(cell, reason, bad, [], env)];
    for (const [index, way] of ways.entries()) {
      const instead = this.#instead(cell, way);
      if (instead === undefined) return goOn(this.world, cell, effects);
      cell.phase = 'in_flight';
      const lane = instead.gated === null ? this.kind : 'gate';
      const env2 = lane === 'gate' ? this.#gated : this.#plain;
      const [verdict = { kind: 'unknown' as const }] = await commitBatch(env2, [instead]);
      this.#settle(instead, verdict, effects);
      if (verdict.kind === 'unknown') return this.#afterUnknown([instead], lane);
      if (verdict.kind === 'fenced') return this.world.fenced();
      if (verdict.kind !== 'refused') return;
      if (index === ways.length - 1) this.#again(instead);
    }
  }

  #instead(cell: RunCell, way: () => Tick | undefined): Tick | undefined {
    try {
      return way();
    } catch (error) {
      this.world.hooks.log('error', 'a run cannot be parked', { run: cell.key, error });
      return undefined;
    }
  }
}
