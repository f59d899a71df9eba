/** Types that are named by a path. */
import type { Expr } from '../syntax/expr.js';

/** `google.protobuf.Timestamp` and `.Duration` name types. */
export function isTypePath(expr: Expr): boolean {
  if (expr.kind !== 'select' || (expr.field !== 'Timestamp' && expr.field !== 'Duration')) return false;
  const { operand } = expr;
  return (
    operand.kind === 'select' &&
    operand.field === 'protobuf' &&
    operand.operand.kind === 'name' &&
    operand.operand.name === 'google'
  );
}
