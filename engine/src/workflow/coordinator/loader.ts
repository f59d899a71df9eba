/**
 * Loads runs: whatever is asked for while a load is under way goes into the next one.
 *
 *   idle -> scheduled (something is wanted; the current work gathers more) -> loading -> scheduled | idle
 * Invariants:
 * 1. One load is under way at a time, of at most loadPageRuns runs.
 * 2. A cell that was dropped or whose node ended meanwhile is not touched.
 * 3. A run that cannot be read (a bad row, a missing definition) stays cold and is tried again after RETRY_MS; it
 *    stops nobody else.
 */
import { DuctorError } from '../../kernel/index.js';
import type { Plan } from '../machine/plan.js';
import type { RunState } from '../machine/state.js';
import { backoffMs } from './backoff.js';
import { bear, birthOf, noPlan, withRefusal, type Born } from './births.js';
import { wakeSuccessor } from './continuing.js';
import { changeOf, noEffects, perform, type Effects } from './effects.js';
import { Fifo } from './fifo.js';
import type { PayloadKey, RunKey, StoredRun } from './ports.js';
import { emptyRun, openRun, payloadShelf, type OpenRun } from './run-logic.js';
import { keyOf, type RunCell } from './run-cell.js';
import { goOn, setAside } from './settle-tick.js';
import type { World } from './world.js';

const RETRY_MS = 5_000;

/** A run as loaded. */
interface Loaded {
  readonly state: RunState;
  readonly plan: Plan;
  readonly journalBytes: number;
  readonly snapshotBytes: number;
}

/** A run the store refuses to load. */
interface Damaged extends RunKey {
  readonly isDamaged: true;
}

function journalBytes(stored: StoredRun): number {
  return stored.rows.reduce((sum, row) => sum + row.entries.byteLength, 0);
}

/** Takes over what was loaded, then lets the run go on. */
function adopt(world: World, cell: RunCell, loaded: Loaded | Born | undefined, effects: Effects): void {
  const { start } = cell;
  cell.phase = 'ready';
  cell.needsReconcile = true;
  if (loaded !== undefined && 'refusal' in loaded) {
    cell.state = emptyRun(cell);
    cell.plan = loaded.plan;
    cell.inputs = withRefusal(cell.inputs, loaded);
  } else if (loaded === undefined) {
    // A start that is not there was not written: it begins once more, under the same id.
    cell.state = start === null ? null : emptyRun(cell);
    cell.plan = start?.plan ?? null;
  } else {
    cell.state = loaded.state;
    cell.plan = loaded.plan;
    cell.journalBytes = loaded.journalBytes;
    cell.snapshotBytes = loaded.snapshotBytes;
    if (start !== null) {
      cell.start = null;
      world.startEnded(start);
      cell.inputs = cell.inputs.filter((pending) => pending.input.kind !== 'start');
      effects.answers.push(() => start.resolve({ runId: cell.runId, version: loaded.state.version, existing: false }));
    }
    if (cell.isUntold) {
      effects.changes.push(changeOf(loaded.state));
      wakeSuccessor(world, loaded.state);
    }
    cell.isUntold = false;
  }
  goOn(world, cell, effects);
}

/** The loader of one incarnation. */
export class Loader {
  readonly #wanted = new Fifo<RunCell>();
  readonly #waiters: (() => void)[] = [];
  #isBusy = false;
  #tries = 0;

  constructor(readonly world: World) {}

  /** Asks for a cold cell. */
  want(cell: RunCell): void {
    if (cell.phase !== 'cold' || !this.world.suspects().mayLoad(cell)) return;
    cell.phase = 'loading';
    this.#wanted.push(cell);
    this.#schedule();
  }

  /** Resolves when nothing is being loaded, or the incarnation ended. */
  async settled(): Promise<void> {
    while (this.#isBusy && !this.world.isEnded()) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** Lets go whoever waits. */
  end(): void {
    this.#wanted.clear();
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  #schedule(): void {
    if (this.#isBusy || this.world.isEnded()) return;
    this.#isBusy = true;
    this.world.clock.defer(() => void this.#turn());
  }

  /** One page; schedules the next. The only place where the loader waits. */
  async #turn(): Promise<void> {
    const page = this.#takePage();
    try {
      if (page.length > 0) await this.#load(page);
      this.#tries = 0;
    } catch (error) {
      this.world.hooks.log('warn', 'loading runs failed, trying again', { error, runs: page.length });
      for (const cell of page) this.#wanted.push(cell);
      await new Promise<void>((resolve) => this.world.clock.setTimer(backoffMs((this.#tries += 1)), resolve));
    }
    this.#isBusy = false;
    if (this.#wanted.size > 0) this.#schedule();
    else for (const resolve of this.#waiters.splice(0)) resolve();
  }

  #takePage(): readonly RunCell[] {
    const page: RunCell[] = [];
    while (page.length < this.world.options.loadPageRuns) {
      const cell = this.#wanted.shift();
      if (cell === undefined) break;
      if (this.world.cache.holds(cell)) page.push(cell);
    }
    return page;
  }

  async #load(page: readonly RunCell[]): Promise<void> {
    const { world } = this;
    const keys = page.map(({ tenantId, runId }) => ({ tenantId, runId }));
    const found = new Map((await this.#fetch(keys)).map((stored) => [keyOf(stored), stored]));
    const opened = this.#open(found.values());
    const payloads = await this.#payloads(found, opened);
    const read = new Map<string, Loaded | Born | undefined>();
    for (const [key, run] of opened) {
      const stored = found.get(key);
      if (stored !== undefined) read.set(key, await this.#read(stored, run, payloads.get(key)));
    }
    for (const cell of page) {
      const birth = found.has(cell.key) ? undefined : birthOf(cell);
      if (birth !== undefined) read.set(cell.key, await bear(world.plans, cell.tenantId, birth));
    }
    if (world.isEnded()) return;
    const effects = noEffects();
    for (const cell of page) {
      if (!world.cache.holds(cell) || cell.phase !== 'loading') continue;
      const loaded = read.get(cell.key);
      if (loaded === undefined && found.has(cell.key)) {
        cell.phase = 'cold';
        setAside(world, cell, RETRY_MS);
      } else {
        adopt(world, cell, loaded, effects);
      }
    }
    perform(world, effects);
    world.cache.shrink();
    world.suspects().look();
  }

  /** The runs that can be read, by key, before their large values are there. */
  #open(found: Iterable<StoredRun | Damaged>): ReadonlyMap<string, OpenRun> {
    const opened = new Map<string, OpenRun>();
    for (const stored of found) {
      if ('isDamaged' in stored) continue;
      try {
        opened.set(keyOf(stored), openRun(stored));
      } catch (error) {
        this.#unreadable(stored, error);
      }
    }
    return opened;
  }

  /** The large values that runs refer to, by the key of the run and their digest; all of them are asked for at once. */
  async #payloads(
    found: ReadonlyMap<string, RunKey>,
    opened: ReadonlyMap<string, OpenRun>,
  ): Promise<ReadonlyMap<string, ReadonlyMap<string, Uint8Array>>> {
    const wanted: PayloadKey[] = [];
    for (const [key, { refs }] of opened) {
      const run = found.get(key);
      if (run === undefined) continue;
      for (const ref of refs.values()) wanted.push({ tenantId: run.tenantId, runId: run.runId, ...ref });
    }
    const loaded = new Map<string, Map<string, Uint8Array>>();
    if (wanted.length === 0) return loaded;
    for (const payload of await this.world.runs.payloads(wanted)) {
      const ofRun = loaded.get(keyOf(payload)) ?? new Map<string, Uint8Array>();
      loaded.set(keyOf(payload), ofRun.set(payload.digest, payload.data));
    }
    return loaded;
  }

  /** A store that fails on one damaged run fails on its whole page: then each run is asked for alone. */
  async #fetch(keys: readonly RunKey[]): Promise<readonly (StoredRun | Damaged)[]> {
    try {
      return await this.world.runs.load(keys);
    } catch (error) {
      if (DuctorError.from(error).code === 'database_unavailable') throw error;
      const [key] = keys;
      if (key === undefined) return [];
      if (keys.length > 1) {
        const alone: (StoredRun | Damaged)[] = [];
        for (const one of keys) alone.push(...(await this.#fetch([one])));
        return alone;
      }
      this.world.hooks.log('error', 'a run cannot be loaded', { run: keyOf(key), error });
      return [{ ...key, isDamaged: true }];
    }
  }

  /** Undefined when this run cannot be read. Throws only what the store throws. */
  async #read(
    stored: StoredRun | Damaged,
    opened: OpenRun,
    payloads: ReadonlyMap<string, Uint8Array> = new Map(),
  ): Promise<Loaded | undefined> {
    if ('isDamaged' in stored) return undefined;
    const { header } = stored;
    const plan =
      this.world.plans.peek(stored.tenantId, header.familySlug, header.version) ??
      (await this.world.plans.load(stored.tenantId, header.familySlug, header.version)) ??
      // Nothing of the plan is asked of a run that has ended, such as a child of a workflow that does not exist.
      (header.closedAtUs === null ? undefined : noPlan(header));
    const run = keyOf(stored);
    if (plan === undefined) {
      this.world.hooks.log('error', 'a run has no definition', { run, family: header.familySlug });
      return undefined;
    }
    const digests = [...opened.refs.keys()].filter((digest) => !payloads.has(digest));
    if (digests.length > 0) {
      this.world.hooks.log('error', 'large values of a run are missing', { run, digests });
      return undefined;
    }
    try {
      const state = opened.state(payloadShelf(stored.runId, payloads));
      const snapshotBytes = stored.snapshot?.data.byteLength ?? 0;
      if (state !== null) return { state, plan, journalBytes: journalBytes(stored), snapshotBytes };
      this.world.hooks.log('error', 'the snapshot of a run cannot be read', { run });
    } catch (error) {
      this.#unreadable(stored, error);
    }
    return undefined;
  }

  #unreadable(run: RunKey, error: unknown): void {
    this.world.hooks.log('error', 'the journal of a run cannot be read', { run: keyOf(run), error });
  }
}
