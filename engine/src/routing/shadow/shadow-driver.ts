/**
 * Compares what was decided with what shadows would have chosen, behind the decisions.
 *
 *   idle --a second passed--> comparing --nothing was left--> idle
 *                                       --there was more--> comparing
 *
 * Invariants: 1. nothing that decides waits for it; 2. a decision is taken from the outbox and its comparisons are
 * written in one transaction, or neither; 3. what fails is tried again after the same pause.
 */
import type { Clock, Timer } from '../../kernel/index.js';
import type { Queryable, Transactor } from '../../store/index.js';
import { compareBatch, type CompareParts } from './compare-batch.js';
import { hasShadowDue } from './sql/shadow-due.js';

/** What it needs. */
export interface ShadowDriverOptions extends CompareParts {
  readonly db: Transactor & Queryable;
  readonly onError: (error: unknown) => void;
}

/** Compares until it is stopped. */
export interface ShadowDriver {
  start(): void;
  /** Resolves when nothing of it is under way. */
  stop(): Promise<void>;
}

const PAUSE_MS = 1_000;
/** Decisions of one transaction: its computing holds up the node's other work for some ms at most. */
const BATCH = 20;

/** A driver on this database. */
export function createShadowDriver({ db, onError, ...parts }: ShadowDriverOptions): ShadowDriver {
  const clock: Clock = parts.clock;
  let timer: Timer | undefined;
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;
  const compare = async (): Promise<void> => {
    try {
      if (!(await hasShadowDue(db))) return;
      while (!isStopped && (await db.transaction((tx) => compareBatch(tx, BATCH, parts))) === BATCH);
    } catch (error) {
      onError(error);
    }
  };
  const again = (): void => {
    if (isStopped) return;
    timer = clock.setTimer(PAUSE_MS, () => {
      running = compare().then(again);
    });
  };
  return {
    start: again,
    async stop() {
      isStopped = true;
      timer?.cancel();
      await running;
    },
  };
}
