/** Calls of functions and methods. */
import { impossible } from '../../kernel/index.js';
import { findFunction } from '../functions/catalogue.js';
import type { CallExpr } from '../syntax/expr.js';
import { located } from '../values/failure.js';
import type { Evaluator } from './frame.js';

/** `name(args)` */
export function buildCall(expr: CallExpr, args: readonly Evaluator[]): Evaluator {
  const found = findFunction(expr.name, expr.isMethod);
  if (found === undefined) return impossible('expr-call', `no function ${expr.name} after the check`);
  const { body } = found;
  const { at } = expr;
  return (frame) => {
    const values = args.map((arg) => arg(frame));
    try {
      return body(frame, values);
    } catch (caught) {
      throw located(caught, at);
    }
  };
}
