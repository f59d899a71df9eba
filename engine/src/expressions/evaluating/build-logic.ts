/** Logic. `&&` and `||` give an answer whenever one side decides it, even if the other fails, in either order. */
import type { ChooseExpr, LogicExpr, UnaryExpr } from '../syntax/expr.js';
import { CelFailure } from '../values/failure.js';
import { type Evaluator, type Frame, spend } from './frame.js';

/** Steps a swallowed failure costs: throwing takes about as long as 20 nodes. */
const ABSORBED = 20;

/** `left || right` */
export function buildOr(expr: LogicExpr, left: Evaluator, right: Evaluator): Evaluator {
  return (frame) => decide(frame, expr, left, right, true);
}

/** `left && right` */
export function buildAnd(expr: LogicExpr, left: Evaluator, right: Evaluator): Evaluator {
  return (frame) => decide(frame, expr, left, right, false);
}

/** @param deciding the value of one side that decides the whole */
function decide(frame: Frame, expr: LogicExpr, left: Evaluator, right: Evaluator, deciding: boolean): boolean {
  let first: unknown;
  try {
    first = left(frame);
  } catch (caught) {
    absorb(frame, caught);
    if (right(frame) === deciding) return deciding;
    throw caught;
  }
  if (first === deciding) return deciding;
  const second = right(frame);
  if (second === deciding) return deciding;
  if (first !== !deciding) throw notBool(expr.left.at);
  if (second !== !deciding) throw notBool(expr.right.at);
  return !deciding;
}

/** The failure that was caught and may not matter, paid for. Rethrows what is no failure. */
export function absorb(frame: Frame, caught: unknown): CelFailure {
  if (!(caught instanceof CelFailure)) throw caught;
  spend(frame, ABSORBED);
  return caught;
}

/** `!operand` */
export function buildNot(expr: UnaryExpr, operand: Evaluator): Evaluator {
  return (frame) => {
    const value = operand(frame);
    if (typeof value === 'boolean') return !value;
    throw notBool(expr.operand.at);
  };
}

/** `test ? then : otherwise` */
export function buildChoose(expr: ChooseExpr, test: Evaluator, then: Evaluator, otherwise: Evaluator): Evaluator {
  return (frame) => {
    const value = test(frame);
    if (value === true) return then(frame);
    if (value === false) return otherwise(frame);
    throw notBool(expr.test.at);
  };
}

/** The failure of a value that is no bool where one is needed. */
export function notBool(at: number): CelFailure {
  const failure = new CelFailure('a value is not a bool', 'Compare it with something, as in x != "" or x > 0.');
  failure.at = at;
  return failure;
}
