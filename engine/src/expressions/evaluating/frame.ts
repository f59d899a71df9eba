/** What one evaluation carries along. */
import { CostExceeded } from '../values/failure.js';
import type { PatternCache } from '../functions/pattern-cache.js';

/** One evaluation. Never shared, never kept. */
export interface Frame {
  /** Variables, read in place. */
  readonly scope: Readonly<Record<string, unknown>>;
  /** Variables of macros, by slot. */
  readonly locals: unknown[];
  /** Regular expressions that stand in the text, compiled with it. */
  readonly literalPatterns: PatternCache;
  /** Regular expressions out of data; shared by all evaluations. */
  readonly patterns: PatternCache;
  /** Steps left. */
  budget: number;
}

/** A compiled node. */
export type Evaluator = (frame: Frame) => unknown;

/** Takes steps off the budget, a part of one as a whole. Throws CostExceeded when it is used up. */
export function spend(frame: Frame, steps: number): void {
  frame.budget -= Math.ceil(steps);
  if (frame.budget < 0) throw new CostExceeded();
}

/** Characters or bytes that one step of the budget pays for when a text is read or made. */
const UNITS_PER_STEP = 4;

/** Pays for reading or making so many characters or bytes: a doubling text ends at about 4 MB. */
export function spendOnText(frame: Frame, length: number): void {
  if (length >= UNITS_PER_STEP) spend(frame, length / UNITS_PER_STEP);
}
