/** Bounds what one DATAFLOW step may visit, as one expression is bounded (docs/workflows.md, limits). */
import { DuctorError } from '../../../kernel/index.js';

/** Units that one step may spend: an item visited, or a part of an expression evaluated for it. */
const BUDGET = 1_000_000;

/** A budget of one evaluation. */
export interface Meter {
  /** Takes units off. Throws expression_too_costly once it is used up. */
  spend(units: number): void;
}

/** A full budget. */
export function newMeter(): Meter {
  let left = BUDGET;
  return {
    spend(units) {
      left -= units;
      if (left >= 0) return;
      throw new DuctorError('expression_too_costly', `the step visits more than ${BUDGET} items and parts`, {
        remedy: 'Iterate over less, make the expressions shorter, or do it in a CALLBACK step.',
      });
    },
  };
}
