/**
 * Tells who waits for runs that something happened to them. Three sources, from fast to sure: the coordinator of this
 * node, the bus for runs of other nodes, and a sweep once a second over everything that is waited for. Losing the bus
 * costs a second.
 *
 * Invariants:
 * 1. A run that closes is reported to each who awaits it, once, whichever source said so first.
 * 2. Nobody waits: no query is made.
 * 3. Who awaits a run that is continued awaits the run that continues it, and hears of the end of the last one.
 * 4. One look at the database is under way at a time; it asks for all waiting runs that are in question.
 */
import type { Clock, Timer } from '../../../kernel/index.js';
import {
  runOutput,
  type Bus,
  type Coordinator,
  type RunChange,
  type RunKey,
  type RunReader,
  type StoredRun,
} from '../ports.js';
import { ClosedRuns, type RunEnd } from './closed-runs.js';
import { stateOf } from './run-loader.js';
import { wholeRun } from './whole-values.js';

type OnEnd = (end: RunEnd) => void;

/** One who waits for the end of a run, or for any change of it. */
interface Waiter {
  /** The run that is waited for now: it changes where a run is continued. */
  key: RunKey;
  readonly onEnd: OnEnd | null;
  readonly onChange: (() => void) | null;
  /** It is not known yet whether the run exists. */
  isUnproven: boolean;
}

/** Parts of the feed. */
export interface RunFeedOptions {
  readonly coordinator: Pick<Coordinator, 'onChange'>;
  readonly bus: Bus;
  readonly reader: Pick<RunReader, 'getMany' | 'closedAmong' | 'lastOfChain' | 'history' | 'payloads'>;
  readonly clock: Clock;
  /** Told when a look at the database failed; the next sweep tries again. */
  readonly onError: (error: unknown) => void;
}

const SWEEP_MS = 1_000;
/** Runs of one query. */
const MAX_LOOK = 5_000;
const MAX_LOAD = 200;

/** The feed. */
export class RunFeed {
  readonly #options: RunFeedOptions;
  /** By run id: ids are unique over all tenants, and the tenant of each waiter is compared. */
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #closed: ClosedRuns;
  readonly #stops: (() => void)[];
  /** Run ids to look at. */
  #inQuestion = new Set<string>();
  #isLooking = false;
  #sweep: Timer | null = null;

  constructor(options: RunFeedOptions) {
    this.#options = options;
    this.#closed = new ClosedRuns(options.clock);
    this.#stops = [
      options.coordinator.onChange((change) => this.#changed(change)),
      options.bus.subscribe('runs', (body) => this.#hinted(body.split(','))),
    ];
  }

  /** How many wait. */
  get waiting(): number {
    let count = 0;
    for (const waiters of this.#waiters.values()) count += waiters.size;
    return count;
  }

  /**
   * Waits for the end of a run. Calls back once: at once when it ended on this node moments ago, with null when there
   * is no such run. Returns how to stop waiting.
   *
   * @param isKnown the run was started here just now: it exists, and its end will be told here
   */
  awaitEnd(key: RunKey, isKnown: boolean, onEnd: OnEnd): () => void {
    const last = this.#lastKnown(key);
    const end = this.#closed.get(last);
    if (end === undefined) {
      const isProven = isKnown || last !== key;
      return this.#add({ key: last, onEnd, onChange: null, isUnproven: !isProven });
    }
    onEnd(end);
    return () => undefined;
  }

  /** The last run of its chain, as far as this node knows the ends of its runs. */
  #lastKnown(key: RunKey): RunKey {
    const end = this.#closed.get(key);
    return end?.continuedAs ? this.#lastKnown({ tenantId: key.tenantId, runId: end.continuedAs }) : key;
  }

  /** Calls back whenever the run may have changed, at least once a second. Returns how to stop. */
  watch(key: RunKey, onChange: () => void): () => void {
    return this.#add({ key, onEnd: null, onChange, isUnproven: false });
  }

  /** Stops listening; nobody is called any more. */
  stop(): void {
    for (const stop of this.#stops) stop();
    this.#sweep?.cancel();
    this.#waiters.clear();
  }

  #add(waiter: Waiter): () => void {
    const { runId } = waiter.key;
    const waiters = this.#waiters.get(runId);
    if (waiters === undefined) this.#waiters.set(runId, new Set([waiter]));
    else waiters.add(waiter);
    if (waiter.isUnproven) this.#question([runId]);
    this.#armSweep();
    return () => void this.#drop(waiter);
  }

  /** Forgets one who waits; false when that was done before. */
  #drop(waiter: Waiter): boolean {
    const { runId } = waiter.key;
    const waiters = this.#waiters.get(runId);
    const wasThere = waiters?.delete(waiter) ?? false;
    if (waiters?.size === 0) this.#waiters.delete(runId);
    return wasThere;
  }

  #armSweep(): void {
    this.#sweep ??= this.#options.clock.setTimer(SWEEP_MS, () => {
      this.#sweep = null;
      if (this.#waiters.size === 0) return;
      this.#question(this.#waiters.keys());
      this.#armSweep();
    });
  }

  #changed(change: RunChange): void {
    const end = change.closed === null ? null : { status: change.status, ...change.closed };
    if (end !== null) this.#closed.add(change, end);
    for (const waiter of this.#waiters.get(change.runId) ?? []) {
      if (waiter.key.tenantId !== change.tenantId) continue;
      waiter.isUnproven = false;
      waiter.onChange?.();
      if (end !== null) this.#end(waiter, end);
    }
  }

  #hinted(runIds: readonly string[]): void {
    const waitedFor = runIds.filter((runId) => this.#waiters.has(runId));
    if (waitedFor.length > 0) this.#question(waitedFor);
  }

  #end(waiter: Waiter, end: RunEnd): void {
    if (waiter.onEnd === null || !this.#drop(waiter)) return;
    if (end?.continuedAs) this.#follow(waiter, end.continuedAs);
    else waiter.onEnd(end);
  }

  #follow(waiter: Waiter, runId: string): void {
    waiter.key = this.#lastKnown({ tenantId: waiter.key.tenantId, runId });
    const end = this.#closed.get(waiter.key);
    if (end !== undefined) {
      waiter.onEnd?.(end);
      return;
    }
    this.#add(waiter);
    // It may have ended before anybody waited for it.
    this.#question([waiter.key.runId]);
  }

  /** Looks at these runs at the end of the turn, or when the look that is under way is done. */
  #question(runIds: Iterable<string>): void {
    for (const runId of runIds) this.#inQuestion.add(runId);
    if (this.#isLooking || this.#inQuestion.size === 0) return;
    this.#isLooking = true;
    this.#options.clock.defer(() => void this.#look());
  }

  async #look(): Promise<void> {
    try {
      while (this.#inQuestion.size > 0) {
        const runIds = [...this.#inQuestion].slice(0, MAX_LOOK);
        for (const runId of runIds) this.#inQuestion.delete(runId);
        const waiters = runIds.flatMap((runId) => [...(this.#waiters.get(runId) ?? [])]);
        for (const { onChange } of waiters) onChange?.();
        await this.#lookAt(waiters.filter(({ onEnd }) => onEnd !== null));
      }
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#isLooking = false;
    }
  }

  async #lookAt(waiters: readonly Waiter[]): Promise<void> {
    const { reader } = this.#options;
    const unproven = waiters.filter(({ isUnproven }) => isUnproven);
    const proven = waiters.filter(({ isUnproven }) => !isUnproven);
    const closed = proven.length === 0 ? [] : await reader.closedAmong(proven.map(({ key }) => key));
    await this.#load(unproven.map(({ key }) => key).concat(closed));
    for (const waiter of unproven) if (waiter.isUnproven) this.#end(waiter, null);
  }

  /** Loads runs, tells who awaits those that are closed, marks the others as proven. */
  async #load(keys: readonly RunKey[]): Promise<void> {
    const { reader } = this.#options;
    for (let at = 0; at < keys.length; at += MAX_LOAD) {
      for (const stored of await reader.getMany(keys.slice(at, at + MAX_LOAD))) await this.#tell(stored);
    }
  }

  async #tell(stored: StoredRun): Promise<void> {
    const waiters = [...(this.#waiters.get(stored.runId) ?? [])].filter(({ key }) => key.tenantId === stored.tenantId);
    for (const waiter of waiters) waiter.isUnproven = false;
    if (stored.header.closedAtUs === null) return;
    try {
      const { reader } = this.#options;
      const state = await wholeRun(reader, await stateOf(reader, stored), ['output']);
      const { status, error, continuedAs } = state;
      const end = { status, output: runOutput(state), error, continuedAs };
      // What happened long ago is not followed run by run.
      const last = continuedAs === null ? null : (await reader.lastOfChain(stored)).runId;
      for (const waiter of waiters) this.#end(waiter, last === null ? end : { ...end, continuedAs: last });
    } catch (error) {
      // One run that cannot be read must not keep the others from being told.
      this.#options.onError(error);
    }
  }
}
