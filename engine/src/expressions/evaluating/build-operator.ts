/** Operators of two operands, and minus. Two doubles, the usual case with JSON, take a short way. */
import type { BinaryExpr, UnaryExpr } from '../syntax/expr.js';
import { compare, equal, readKey } from '../values/compare.js';
import { CelFailure, located } from '../values/failure.js';
import { type ArithmeticOperator, calculate, isNumber, negate, onDoubles } from '../values/numbers.js';
import { durationOf, timestampOf, toDurationNs, toTimestampNs } from '../values/time.js';
import { describeKind, kindOf } from '../values/values.js';
import { type Evaluator, type Frame, spend, spendOnText } from './frame.js';

type Operation = (frame: Frame, left: unknown, right: unknown) => unknown;

/** `left operator right` */
export function buildBinary(expr: BinaryExpr, left: Evaluator, right: Evaluator): Evaluator {
  const operation = operationOf(expr);
  const { at } = expr;
  return (frame) => {
    const first = left(frame);
    const second = right(frame);
    try {
      return operation(frame, first, second);
    } catch (caught) {
      throw located(caught, at);
    }
  };
}

/** `-operand` */
export function buildNegate(expr: UnaryExpr, operand: Evaluator): Evaluator {
  return (frame) => {
    const value = operand(frame);
    try {
      if (isNumber(value)) return negate(value);
      throw new CelFailure(`- does not take ${nameOf(value)}`, 'Convert it: -int(x), -double(x).');
    } catch (caught) {
      throw located(caught, expr.at);
    }
  };
}

function operationOf(expr: BinaryExpr): Operation {
  switch (expr.operator) {
    case '==':
      return isEqual;
    case '!=':
      return (frame, left, right) => !isEqual(frame, left, right);
    case '<':
      return ordering('<', (left, right) => left < right);
    case '<=':
      return ordering('<=', (left, right) => left <= right);
    case '>':
      return ordering('>', (left, right) => left > right);
    case '>=':
      return ordering('>=', (left, right) => left >= right);
    case 'in':
      return isMember;
    default:
      return arithmetic(expr.operator);
  }
}

/** Texts up to this length compare without paying. */
const SHORT = 64;

function isEqual(frame: Frame, left: unknown, right: unknown): boolean {
  if (typeof left === 'string' && left.length <= SHORT) return left === right;
  return equal(frame, left, right);
}

function ordering(operator: string, test: (left: number, right: number) => boolean): Operation {
  return (frame, left, right) => {
    if (typeof left === 'number' && typeof right === 'number') return test(left, right);
    const order = compare(frame, left, right);
    if (order === undefined) throw noOperator(operator, left, right);
    return test(order, 0);
  };
}

function isMember(frame: Frame, wanted: unknown, owner: unknown): boolean {
  if (!Array.isArray(owner)) {
    if (kindOf(owner) !== 'map') throw noOperator('in', wanted, owner);
    return readKey(owner, wanted) !== undefined;
  }
  const list: readonly unknown[] = owner;
  if (typeof wanted === 'string') {
    spend(frame, list.length);
    if (wanted.length > SHORT) spendOnText(frame, wanted.length * list.length);
    return list.includes(wanted);
  }
  for (const element of list) {
    spend(frame, 1);
    if (equal(frame, wanted, element)) return true;
  }
  return false;
}

function arithmetic(operator: ArithmeticOperator): Operation {
  return (frame, left, right) => {
    if (typeof left === 'number' && typeof right === 'number') return onDoubles(operator, left, right);
    if (isNumber(left) && isNumber(right)) {
      const result = calculate(operator, left, right);
      if (result !== undefined) return result;
    } else if (operator === '+') {
      const sum = concatenate(frame, left, right);
      if (sum !== undefined) return sum;
    }
    const time = operator === '+' || operator === '-' ? onTime(operator, left, right) : undefined;
    if (time === undefined) throw noOperator(operator, left, right);
    return time;
  };
}

function concatenate(frame: Frame, left: unknown, right: unknown): unknown {
  if (typeof left === 'string' && typeof right === 'string') {
    spendOnText(frame, left.length + right.length);
    return left + right;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    const [head, tail]: readonly (readonly unknown[])[] = [left, right];
    spend(frame, (left.length + right.length) / 4);
    return [...(head ?? []), ...(tail ?? [])];
  }
  if (!(left instanceof Uint8Array) || !(right instanceof Uint8Array)) return undefined;
  spendOnText(frame, left.length + right.length);
  const joined = new Uint8Array(left.length + right.length);
  joined.set(left);
  joined.set(right, left.length);
  return joined;
}

function onTime(operator: '+' | '-', left: unknown, right: unknown): unknown {
  const kinds = `${kindOf(left)} ${operator} ${kindOf(right)}`;
  switch (kinds) {
    case 'timestamp - timestamp':
      return durationOf(toTimestampNs(left) - toTimestampNs(right));
    case 'timestamp + duration':
      return timestampOf(toTimestampNs(left) + toDurationNs(right));
    case 'timestamp - duration':
      return timestampOf(toTimestampNs(left) - toDurationNs(right));
    case 'duration + timestamp':
      return timestampOf(toTimestampNs(right) + toDurationNs(left));
    case 'duration + duration':
      return durationOf(toDurationNs(left) + toDurationNs(right));
    case 'duration - duration':
      return durationOf(toDurationNs(left) - toDurationNs(right));
    default:
      return undefined;
  }
}

function noOperator(operator: string, left: unknown, right: unknown): CelFailure {
  const problem = `${operator} does not take ${nameOf(left)} and ${nameOf(right)}`;
  return new CelFailure(problem, 'Convert one of them: string(x), int(x), double(x).');
}

function nameOf(value: unknown): string {
  return describeKind(kindOf(value));
}
