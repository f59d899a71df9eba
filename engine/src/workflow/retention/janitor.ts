/**
 * The janitor of a node: removes runs whose retention is over.
 *
 *   waiting -> at it -> waiting ... -> stopped
 * Invariants:
 * 1. Over all nodes one step runs at a time; who finds another node at it waits for the next pass.
 * 2. After each step it rests as long as the step took, so that it never takes more than half of one session.
 * 3. stop() resolves when nothing of it is under way any more.
 */
import { repeating, sleep, type Clock, type Repeating } from '../../kernel/index.js';
import type { Transactor } from '../../store/index.js';
import { removeRuns, type Removed } from './remove-runs.js';

/** What a pass came to. */
export interface JanitorReport extends Removed {
  /** How long it took, ms. */
  readonly tookMs: number;
}

/** What a janitor is made of. */
export interface JanitorParts {
  readonly db: Transactor;
  readonly clock: Clock;
  /** Hears of each step that removed something, with how long it took, ms. */
  readonly onStep: (removed: Removed, tookMs: number) => void;
  /** Hears of each pass that removed something. */
  readonly onPass: (report: JanitorReport) => void;
  /** Hears why a pass broke off; it is tried again. */
  readonly onError: (error: unknown) => void;
}

/** Removes runs whose retention is over. */
export interface Janitor {
  /** Begins with its first pass a moment later. */
  start(): void;
  /** One pass at once, weeks and all. */
  pass(): Promise<JanitorReport>;
  stop(): Promise<void>;
}

/** Between two passes, ms: the shortest retention. */
const PASS_MS = 60_000;
/** Each so many passes weeks are looked at as a whole. */
const DROP_EVERY = 60;

/** A janitor; start() lets it begin. */
export function createJanitor(parts: JanitorParts): Janitor {
  return new NodeJanitor(parts);
}

class NodeJanitor implements Janitor {
  readonly #parts: JanitorParts;
  readonly #passes: Repeating;
  #count = 0;

  constructor(parts: JanitorParts) {
    this.#parts = parts;
    const next = (): Promise<JanitorReport> => this.#pass(this.#count++ % DROP_EVERY === 0);
    this.#passes = repeating(parts.clock, PASS_MS, next, parts.onError);
  }

  start(): void {
    this.#passes.start();
  }

  pass(): Promise<JanitorReport> {
    return this.#pass(true);
  }

  stop(): Promise<void> {
    return this.#passes.stop();
  }

  async #pass(drops: boolean): Promise<JanitorReport> {
    const { db, clock, onStep, onPass } = this.#parts;
    const begunMs = clock.monotonicMs();
    let stepMs = begunMs;
    const total = { runs: 0, rows: 0, partitions: 0 };
    const stepped = async (removed: Removed): Promise<boolean> => {
      const tookMs = clock.monotonicMs() - stepMs;
      total.runs += removed.runs;
      total.rows += removed.rows;
      total.partitions += removed.partitions;
      if (hasSome(removed)) onStep(removed, tookMs);
      if (!this.#passes.isStopped && hasSome(removed)) await sleep(clock, tookMs);
      stepMs = clock.monotonicMs();
      return !this.#passes.isStopped;
    };
    await removeRuns({ db, nowUs: () => clock.nowUs(), stepped }, drops);
    const report = { ...total, tookMs: Math.round(clock.monotonicMs() - begunMs) };
    if (hasSome(report)) onPass(report);
    return report;
  }
}

function hasSome({ runs, rows, partitions }: Removed): boolean {
  return runs + rows + partitions > 0;
}
