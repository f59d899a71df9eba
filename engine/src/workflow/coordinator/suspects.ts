/**
 * Runs that may end their engine. When a node ended without leaving, the runs of its shards are suspects for a while:
 * each is loaded and ticked only while the database names it as tried by this node. Should this node end, too, whoever
 * takes over knows who was being tried. Runs without crashes are tried together, runs with crashes alone, and a run
 * with PARKED_AT_CRASHES is parked instead of tried.
 *
 *   shard:  calm -> asking (its crashes are read; nothing of it goes on) -> suspected -> calm
 *   run:    free -> held (waits for its turn) -> named (may be loaded, may tick once) -> free
 *           held -> withheld (even parking it ended an engine: nothing is done with it while it is a suspect)
 * Invariants:
 * 1. While no shard is suspected, nothing here costs anything.
 * 2. A suspect is loaded and ticked only while it stands in `#named`, which the database has confirmed.
 * 3. One group is named at a time. It ends when each of its runs has ticked, or has nothing to do.
 * 4. A run with crashes waits before it is tried again, the longer the more it has, so that engines are back; then
 *    groups without crashes take turns with single runs, fewest crashes first. Nobody waits to be parked.
 * 5. A run that began on this node is no suspect: no other can have ended of it.
 */
import { sleep, type Timer } from '../../kernel/index.js';
import { backoffMs, untilDone } from './backoff.js';
import type { CommitLane } from './gate-ports.js';
import type { RunKey } from './ports.js';
import { CRASHES_LEFT, PARKED_AT_CRASHES, SUSPECT_MS } from './probe-ports.js';
import { keyOf, type PendingInput, type RunCell } from './run-cell.js';
import type { SuspectGate } from './suspect-gate.js';
import type { ParkReason } from './tick.js';
import type { World } from './world.js';

/** Runs without crashes that are tried at once: so many have to be tried alone when their node ends. */
const GROUP_RUNS = 32;
/** Leases that a run waits after its last crash before it is tried again, by its crashes: 0, 1, and what is more. */
const WAIT_LEASES = [0, 1, 6];
/** With so many crashes each tick of a run is tried alone; with fewer, those after a first that went well are not. */
const ALWAYS_ALONE = 2;
/** How often it is looked whether a group is over, when nothing says so. */
const LOOK_MS = 20;

/** A run that may go on. */
interface Named {
  readonly cell: RunCell;
  /** It was taken into a batch. */
  hasBegun: boolean;
}

/** The suspects of one incarnation. */
export class Suspects implements SuspectGate {
  /** Since when the runs of a shard are suspects, monotonic ms. */
  readonly #sinceMs = new Map<number, number>();
  readonly #asking = new Set<number>();
  /** Of runs that have some, and when the last one was, monotonic ms. */
  readonly #crashes = new Map<string, { readonly crashes: number; readonly atMs: number }>();
  readonly #held = new Map<string, RunCell>();
  /** Runs with a crash that ticked alone since. */
  readonly #passed = new Set<string>();
  readonly #withheld = new Set<string>();
  readonly #named = new Map<string, Named>();
  #over: (() => void) | null = null;
  #isBusy = false;
  #later: Timer | null = null;
  #isAlonesTurn = false;

  constructor(readonly world: World) {}

  /** The runs of these shards, which this node just gained, are suspects from now on. Never rejects. */
  async begin(shards: readonly number[]): Promise<void> {
    const { world } = this;
    const sinceMs = world.clock.monotonicMs();
    for (const shard of shards) {
      this.#sinceMs.set(shard, sinceMs);
      this.#asking.add(shard);
    }
    const known = await untilDone(
      world.clock,
      () => !world.isEnded(),
      () => world.cluster.crashes(shards),
      (error) => world.hooks.log('warn', 'reading what crashed failed, trying again', { error }),
    );
    const nowMs = world.clock.monotonicMs();
    for (const run of known ?? []) {
      this.#crashes.set(keyOf(run), { crashes: run.crashes, atMs: nowMs - run.agoMs });
    }
    for (const shard of shards) this.#asking.delete(shard);
    this.#schedule();
  }

  /** Whether the run may be loaded; held until its turn where not. */
  mayLoad(cell: RunCell): boolean {
    if (this.#sinceMs.size === 0 || !this.#isSuspect(cell)) return true;
    if (this.#named.get(cell.key)?.cell === cell) return true;
    this.#hold(cell);
    return false;
  }

  /** Whether the run may tick now; held until its turn where not. */
  mayTick(cell: RunCell, lane: CommitLane): boolean {
    if (this.#sinceMs.size === 0 || !this.#isSuspect(cell)) return true;
    const named = this.#named.get(cell.key);
    if (named?.cell !== cell || (named.hasBegun && lane === 'plain')) {
      this.#hold(cell);
      return false;
    }
    named.hasBegun = true;
    return true;
  }

  /** Why this run is to be parked instead of ticked; null: it is not. */
  verdict(cell: RunCell): ParkReason | null {
    if (this.#sinceMs.size === 0) return null;
    const crashes = this.#count(cell);
    if (crashes < PARKED_AT_CRASHES || !this.#named.has(cell.key)) return null;
    const message =
      `${crashes} engines ended without a word while they tried this run alone: it was taken out of work so that ` +
      'others go on. Look in the logs of the engines for how they ended (memory, a signal, a loop without an end), ' +
      'mend that, then retry the run, or terminate it';
    return { code: 'engine_crash', message };
  }

  /** Something happened to cells: the group may be over. */
  look(): void {
    if (this.#over === null) return;
    for (const { cell } of this.#named.values()) if (this.#isUnderWay(cell)) return;
    this.#over();
  }

  /** Lets go whoever waits. */
  end(): void {
    this.#held.clear();
    this.#sinceMs.clear();
    this.#later?.cancel();
    this.#over?.();
  }

  #isSuspect(cell: RunCell): boolean {
    if (this.#withheld.has(cell.key)) return true;
    const sinceMs = this.#sinceMs.get(cell.shard);
    if (sinceMs === undefined || cell.isNew) return false;
    if (this.#asking.has(cell.shard) || this.#held.has(cell.key)) return true;
    const ageMs = this.world.clock.monotonicMs() - sinceMs;
    if (ageMs < SUSPECT_MS + this.#waitMs(cell)) return true;
    if (ageMs > SUSPECT_MS + this.#longestWaitMs) this.#sinceMs.delete(cell.shard);
    return false;
  }

  get #longestWaitMs(): number {
    return Math.max(...WAIT_LEASES) * this.world.options.leaseMs;
  }

  /** Time between its last crash and the next try. */
  #waitMs(cell: RunCell): number {
    const crashes = this.#count(cell);
    if (crashes >= PARKED_AT_CRASHES) return 0;
    return (WAIT_LEASES[crashes] ?? 0) * this.world.options.leaseMs;
  }

  #isUnderWay(cell: RunCell): boolean {
    if (!this.world.cache.holds(cell) || cell.phase === 'cold') return false;
    return cell.phase !== 'ready' || cell.isDirty;
  }

  #hold(cell: RunCell): void {
    if (this.#withheld.has(cell.key)) return;
    this.#held.set(cell.key, cell);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isBusy || this.#held.size === 0 || this.world.isEnded()) return;
    this.#isBusy = true;
    this.world.clock.defer(() => void this.#try());
  }

  /** Tries one group after the other until none is held. The only place where suspects wait. */
  async #try(): Promise<void> {
    const { world } = this;
    let tries = 0;
    let hasNamed = false;
    for (let group = this.#take(); group.length > 0 && !world.isEnded(); group = this.#take()) {
      hasNamed = true;
      const isNamed = await this.#name(group);
      if (world.isEnded()) return;
      if (isNamed) await this.#letGo(group);
      else for (const cell of group) if (world.cache.holds(cell)) this.#held.set(cell.key, cell);
      tries = isNamed ? 0 : tries + 1;
      if (!isNamed) await sleep(world.clock, backoffMs(tries));
    }
    if (hasNamed && !world.isEnded()) await this.#name([]);
    this.#isBusy = false;
    // What came meanwhile. Who waits for the answer about its shard, or for its time, is scheduled by that.
    if (hasNamed) this.#schedule();
  }

  /** The next group; empty when nobody may be tried now. */
  #take(): readonly RunCell[] {
    const nowMs = this.world.clock.monotonicMs();
    const group: RunCell[] = [];
    let alone: RunCell | undefined;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const cell of this.#held.values()) {
      const readyMs = (this.#crashes.get(cell.key)?.atMs ?? nowMs) + this.#waitMs(cell);
      if (!this.world.cache.holds(cell)) this.#held.delete(cell.key);
      else if (this.#asking.has(cell.shard)) continue;
      else if (readyMs > nowMs) nextMs = Math.min(nextMs, readyMs);
      else if (!this.#crashes.has(cell.key) || this.#passed.has(cell.key)) group.push(cell);
      else if (alone === undefined || this.#count(cell) < this.#count(alone)) alone = cell;
      if (group.length >= GROUP_RUNS) break;
    }
    const isAlone = alone !== undefined && (group.length === 0 || this.#isAlonesTurn);
    this.#isAlonesTurn = !isAlone;
    const taken = isAlone && alone !== undefined ? [alone] : group;
    for (const cell of taken) this.#held.delete(cell.key);
    if (taken.length === 0 && nextMs < Number.POSITIVE_INFINITY) this.#wakeIn(nextMs - nowMs);
    return taken;
  }

  #wakeIn(waitMs: number): void {
    this.#later?.cancel();
    this.#later = this.world.clock.setTimer(waitMs, () => this.#schedule());
  }

  #count({ key }: RunCell): number {
    return this.#crashes.get(key)?.crashes ?? 0;
  }

  /** Has the database name them; false: it does not answer. Ends the incarnation when it is fenced. */
  async #name(group: readonly RunCell[]): Promise<boolean> {
    const { world } = this;
    try {
      const isOurs = await world.cluster.probe(
        world.nodeId,
        group.map(({ tenantId, runId }) => ({ tenantId, runId })),
      );
      if (!isOurs && !world.isEnded()) world.fenced();
      return isOurs;
    } catch (error) {
      world.hooks.log('warn', 'naming runs before they are tried failed', { error });
      return false;
    }
  }

  /** Lets the named ones go on; resolves when the group is over. */
  async #letGo(group: readonly RunCell[]): Promise<void> {
    const { world } = this;
    for (const cell of group) {
      if (this.#count(cell) > PARKED_AT_CRASHES) this.#withhold(cell);
      else if (world.cache.holds(cell)) this.#named.set(cell.key, { cell, hasBegun: false });
    }
    const over = new Promise<void>((resolve) => {
      this.#over = resolve;
    });
    const doomed = group.filter((cell) => this.#named.has(cell.key) && this.#count(cell) >= PARKED_AT_CRASHES);
    // A tick needs an input; that of a run that is parked is none of them.
    const wake: PendingInput = { input: { kind: 'wake' }, inboxId: null, settled: null };
    for (const { inputs } of doomed) if (inputs.length === 0) inputs.push(wake);
    for (const { cell } of [...this.#named.values()]) world.enqueue(cell);
    while (this.#named.size > 0 && this.#over !== null && !world.isEnded()) {
      this.look();
      await Promise.race([over.then(() => (this.#over = null)), sleep(world.clock, LOOK_MS)]);
    }
    this.#over = null;
    for (const { cell, hasBegun } of this.#named.values()) {
      if (hasBegun && this.#count(cell) < ALWAYS_ALONE) this.#passed.add(cell.key);
    }
    this.#named.clear();
    for (const cell of doomed) await this.#quarantined(cell);
  }

  /** Notes that a run was parked, where it was. */
  async #quarantined(cell: RunCell): Promise<void> {
    const { world } = this;
    if (cell.state === null || (cell.state.parked === null && cell.state.closedAtUs === null)) return;
    const atMs = this.#crashes.get(cell.key)?.atMs ?? world.clock.monotonicMs();
    this.#crashes.set(cell.key, { crashes: CRASHES_LEFT, atMs });
    const run: RunKey = { tenantId: cell.tenantId, runId: cell.runId };
    try {
      await world.cluster.quarantined(run);
    } catch (error) {
      // Its count stays: retried within the time in which crashes are counted, it is parked by the next takeover.
      world.hooks.log('warn', 'noting that a run was parked failed', { run: cell.key, error });
    }
  }

  #withhold(cell: RunCell): void {
    this.#withheld.add(cell.key);
    const facts = { run: cell.key, crashes: this.#count(cell) };
    this.world.hooks.log('error', 'a run is left alone: engines ended even when they were to park it', facts);
  }
}
