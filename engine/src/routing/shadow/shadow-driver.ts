/**
 * Compares what was decided with what shadows would have chosen, behind the decisions.
 *
 *   idle --a second passed--> comparing --nothing was left--> idle
 *                                       --there was more--> comparing
 *
 * Invariants: 1. nothing that decides waits for it; 2. a decision is taken from the outbox and its comparisons are
 * written in one transaction, or neither; 3. what fails is tried again after the same pause.
 */
import { repeating, type Repeating } from '../../kernel/index.js';
import type { Queryable, Transactor } from '../../store/index.js';
import { compareBatch, type CompareParts } from './compare-batch.js';
import { hasShadowDue } from './sql/shadow-due.js';

/** What it needs. */
export interface ShadowDriverOptions extends CompareParts {
  readonly db: Transactor & Queryable;
  readonly onError: (error: unknown) => void;
}

const PAUSE_MS = 1_000;
/** Decisions of one transaction: its computing holds up the node's other work for some ms at most. */
const BATCH = 20;

/** A driver on this database. */
export function createShadowDriver({ db, onError, ...parts }: ShadowDriverOptions): Repeating {
  const compare = async (): Promise<void> => {
    if (!(await hasShadowDue(db))) return;
    while (!driver.isStopped && (await db.transaction((tx) => compareBatch(tx, BATCH, parts))) === BATCH);
  };
  const driver = repeating(parts.clock, PAUSE_MS, compare, onError);
  return driver;
}
