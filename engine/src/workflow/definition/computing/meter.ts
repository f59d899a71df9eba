/** Bounds what one DATAFLOW step may visit, as one expression is bounded (docs/workflows.md, limits). */
import type { CelBudget } from '../../../expressions/index.js';
import { DuctorError } from '../../../kernel/index.js';

/** Steps that all expressions of a step and all visits of items may take together. */
const BUDGET = 1_000_000;

/** A budget of one evaluation of a step; expressions take what they need off `budget` themselves. */
export interface Meter {
  readonly budget: CelBudget;
  /** Takes steps off. Throws expression_too_costly once they are used up. */
  spend(steps: number): void;
}

/** A full budget. */
export function newMeter(): Meter {
  const budget: CelBudget = { left: BUDGET };
  return {
    budget,
    spend(steps) {
      budget.left -= steps;
      if (budget.left >= 0) return;
      throw new DuctorError('expression_too_costly', `takes more than ${BUDGET} steps on these values`, {
        remedy: 'Iterate over less, make the expressions shorter, or do it in a CALLBACK step.',
      });
    },
  };
}
