/**
 * Brings shards that were gained to life, and keeps runs that come due soon in memory.
 *
 *   gained -> inventories asked -> settled, mail read -> active runs loaded page by page -> due runs armed
 * Invariants:
 * 1. Nothing un-noted of a gained shard is sent again before its workers have said what they hold, or had
 *    inventoryWaitMs to do so.
 * 2. One page is loaded at a time; ticks, starts and results of the same shards go on meanwhile.
 * 3. Runs that wait for longer than the horizon stay on disk; a scan comes round well within the horizon.
 */
import { sleep, type Timer } from '../../kernel/index.js';
import { untilDone } from './backoff.js';
import type { InboxReader } from './inbox-reader.js';
import type { Loader } from './loader.js';
import type { RunKey } from './ports.js';
import { keyOf } from './run-cell.js';
import type { World } from './world.js';

const FIRST_RUN_ID = '00000000-0000-0000-0000-000000000000';
/** Due runs one scan lists; when it is full the next scan follows at once. */
const SCAN_RUNS = 5_000;
const FULL_SCAN_WAIT_MS = 1_000;

/** The intake of one incarnation. */
export class Intake {
  #scanTimer: Timer | null = null;
  #isScanning = false;

  /** @param recheck compares a run in memory with what is out, or loads it */
  constructor(
    readonly world: World,
    readonly loader: Loader,
    readonly reader: InboxReader,
    readonly recheck: (run: RunKey) => void,
  ) {}

  /**
   * Takes these shards in; never rejects.
   *
   * @param crashed those of them whose runs may have ended their last owner
   */
  async gained(shards: readonly number[], crashed: readonly number[]): Promise<void> {
    if (crashed.length > 0) void this.world.suspects().begin(crashed);
    await this.#inventories();
    if (this.world.isEnded()) return;
    this.world.shards.settle(shards);
    await this.#persist('reading the mailbox', () => this.reader.readNow(this.#still(shards)));
    for (const cell of this.world.cache.all()) {
      if (cell.needsReconcile && shards.includes(cell.shard)) this.recheck(cell);
    }
    await this.#loadActive(shards);
    await this.#scan(shards);
    if (!this.world.isEnded() && this.#scanTimer === null) this.#scheduleScan(this.world.options.wakeScanMs);
  }

  end(): void {
    this.#scanTimer?.cancel();
    this.#scanTimer = null;
  }

  #still(shards: readonly number[]): readonly number[] {
    return shards.filter((shard) => this.world.shards.ticks(shard));
  }

  async #inventories(): Promise<void> {
    const asked = this.world.invoker.inventory?.() ?? [];
    if (asked.length === 0) return;
    await Promise.race([
      this.world.ledger.inventories(asked),
      sleep(this.world.clock, this.world.options.inventoryWaitMs),
    ]);
  }

  async #persist<T>(what: string, call: () => Promise<T>): Promise<T | undefined> {
    const { world } = this;
    return untilDone(
      world.clock,
      () => !world.isEnded(),
      call,
      (error) => world.hooks.log('warn', `${what} failed, trying again`, { error }),
    );
  }

  async #loadActive(shards: readonly number[]): Promise<void> {
    const { loadPageRuns } = this.world.options;
    let after = FIRST_RUN_ID;
    for (;;) {
      const owned = this.#still(shards);
      if (owned.length === 0) return;
      const page = await this.#persist('listing active runs', () =>
        this.world.runs.listActive(owned, after, loadPageRuns),
      );
      const last = page?.at(-1);
      if (page === undefined || last === undefined || this.world.isEnded()) return;
      for (const run of page) this.recheck(run);
      await this.loader.settled();
      if (page.length < loadPageRuns) return;
      after = last.runId;
    }
  }

  #scheduleScan(delayMs: number): void {
    this.#scanTimer?.cancel();
    this.#scanTimer = this.world.clock.setTimer(delayMs, () => void this.#rescan());
  }

  async #rescan(): Promise<void> {
    if (this.#isScanning || this.world.isEnded()) return;
    this.#isScanning = true;
    const isFull = await this.#scan(this.world.shards.ticking());
    this.#isScanning = false;
    if (!this.world.isEnded()) this.#scheduleScan(isFull ? FULL_SCAN_WAIT_MS : this.world.options.wakeScanMs);
  }

  /** Arms runs that come due within the horizon and loads them, page by page. Returns whether there may be more. */
  async #scan(shards: readonly number[]): Promise<boolean> {
    const { world } = this;
    const owned = this.#still(shards);
    if (owned.length === 0) return false;
    const horizonUs = world.clock.nowUs() + world.options.wakeHorizonMs * 1000;
    const due = (await this.#persist('listing due runs', () => world.runs.listDue(owned, horizonUs, SCAN_RUNS))) ?? [];
    const unknown = due.filter((run) => world.cache.get(keyOf(run)) === undefined);
    // A run in memory arms itself, and knows better than a list that was read before its last commit.
    for (const run of unknown) world.timers.arm(keyOf(run), run.wakeAtUs);
    const { loadPageRuns } = world.options;
    for (let at = 0; at < unknown.length && !world.isEnded(); at += loadPageRuns) {
      for (const run of unknown.slice(at, at + loadPageRuns)) {
        if (world.shards.ticks(world.cache.ensure(run).shard)) world.want(world.cache.ensure(run));
      }
      await this.loader.settled();
    }
    return due.length >= SCAN_RUNS;
  }
}
