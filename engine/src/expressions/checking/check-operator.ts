/** Types of operators. */
import type { BinaryExpr } from '../syntax/expr.js';
import type { Finding } from '../syntax/syntax-problem.js';
import { areComparable, describe, elementsOf, isNumeric, join, type StaticType, valuesOf } from './static-type.js';

/** The type of `left operator right`, or what is wrong with it. */
export function binaryType(expr: BinaryExpr, left: StaticType, right: StaticType): StaticType | Finding {
  switch (expr.operator) {
    case '==':
    case '!=':
      return areComparable(left, right) ? 'bool' : mismatch(expr, left, right);
    case '<':
    case '<=':
    case '>':
    case '>=':
      return areOrdered(left, right) ? 'bool' : mismatch(expr, left, right);
    case 'in':
      return membershipType(expr, left, right);
    default:
      return arithmeticType(expr, left, right);
  }
}

/** The type of `-operand`, or what is wrong with it. */
export function negatedType(operand: StaticType, at: number): StaticType | Finding {
  if (operand === 'dyn' || operand === 'int' || operand === 'double') return operand;
  return {
    at,
    problem: `- needs a number, and this is ${describe(operand)}`,
    remedy: 'Convert it: -int(x), -double(x).',
  };
}

const ORDERED: ReadonlySet<StaticType> = new Set(['bool', 'string', 'bytes', 'timestamp', 'duration']);

function areOrdered(left: StaticType, right: StaticType): boolean {
  if (left === 'dyn') return right === 'dyn' || isNumeric(right) || ORDERED.has(right);
  if (right === 'dyn') return isNumeric(left) || ORDERED.has(left);
  return isNumeric(left) ? isNumeric(right) : ORDERED.has(left) && left === right;
}

function membershipType(expr: BinaryExpr, left: StaticType, right: StaticType): StaticType | Finding {
  if (right === 'dyn') return 'bool';
  const elements = elementsOf(right);
  if (elements !== undefined) return areComparable(left, elements) ? 'bool' : mismatch(expr, left, right);
  if (valuesOf(right) !== undefined && typeof left !== 'object' && left !== 'null') return 'bool';
  return mismatch(expr, left, right);
}

function arithmeticType(expr: BinaryExpr, left: StaticType, right: StaticType): StaticType | Finding {
  if (isNumeric(left) && isNumeric(right)) return numericType(left, right) ?? mismatch(expr, left, right);
  if (left === 'dyn' || right === 'dyn') return withUnknown(expr, left, right);
  const isSum = expr.operator === '+';
  if (isSum && left === right && (left === 'string' || left === 'bytes')) return left;
  if (isSum && elementsOf(left) !== undefined && elementsOf(right) !== undefined) return join(left, right);
  return timeType(expr.operator, left, right) ?? mismatch(expr, left, right);
}

/** Equal kinds stay; a double meets the others as a double; an int and a uint do not mix. */
function numericType(left: StaticType, right: StaticType): StaticType | undefined {
  if (left === right) return left;
  return left === 'double' || right === 'double' ? 'double' : undefined;
}

function timeType(operator: string, left: StaticType, right: StaticType): StaticType | undefined {
  if (operator === '-' && left === 'timestamp' && right === 'timestamp') return 'duration';
  if (operator !== '+' && operator !== '-') return undefined;
  if (left === 'timestamp' && right === 'duration') return 'timestamp';
  if (left === 'duration' && right === 'duration') return 'duration';
  return operator === '+' && left === 'duration' && right === 'timestamp' ? 'timestamp' : undefined;
}

function withUnknown(expr: BinaryExpr, left: StaticType, right: StaticType): StaticType | Finding {
  const known = left === 'dyn' ? right : left;
  if (known === 'dyn' || isNumeric(known)) return known === 'double' ? 'double' : 'dyn';
  const isSum = expr.operator === '+';
  if (known === 'timestamp' || known === 'duration')
    return isSum || expr.operator === '-' ? 'dyn' : mismatch(expr, left, right);
  if (isSum && (known === 'string' || known === 'bytes')) return known;
  return isSum && elementsOf(known) !== undefined ? { list: 'dyn' } : mismatch(expr, left, right);
}

function mismatch(expr: BinaryExpr, left: StaticType, right: StaticType): Finding {
  const problem = `${expr.operator} does not take ${describe(left)} and ${describe(right)}`;
  return { at: expr.left.at, problem, remedy: remedyFor(expr.operator, left, right) };
}

function remedyFor(operator: string, left: StaticType, right: StaticType): string {
  if (operator === '+' && (left === 'string' || right === 'string')) return 'Convert the other: "n = " + string(n).';
  if (operator === 'in') return 'Write x in list, or "key" in map.';
  if (left === 'uint' || right === 'uint') return 'Convert the uint: int(x).';
  if (left === 'timestamp' || right === 'timestamp') return 'Convert the other: timestamp("2026-03-01T09:00:00Z").';
  if (left === 'duration' || right === 'duration') return 'Convert the other: duration("1h30m").';
  return 'Convert one of them: string(x), int(x), double(x).';
}
