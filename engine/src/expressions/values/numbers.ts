/**
 * Numbers. CEL has three kinds and lets none of them meet another; JSON has one. Users write `input.amount + 1`, where
 * amount is a double out of JSON and 1 is an int, so here a double meets an int or uint as a double. An int and a uint
 * still do not mix. Comparing and equality are exact between all three.
 */
import { CelFailure } from './failure.js';
import { CelUint } from './values.js';

/** Any kind of number. */
export type CelNumber = number | bigint | CelUint;

/** Operators on numbers. */
export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%';

const INT_MIN = -(2n ** 63n);

/** Whether a value is a number of any kind. */
export function isNumber(value: unknown): value is CelNumber {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof CelUint;
}

/** The number in a form that JavaScript compares exactly with any other. */
export function comparable(value: CelNumber): number | bigint {
  return value instanceof CelUint ? value.value : value;
}

/** Whether two numbers are the same, whatever their kinds. NaN is not itself. */
export function numbersEqual(a: CelNumber, b: CelNumber): boolean {
  const left = comparable(a);
  const right = comparable(b);
  return !(left < right) && !(left > right) && !Number.isNaN(left) && !Number.isNaN(right);
}

/** The number if it fits an int. Throws CelFailure. */
export function toInt(value: bigint): bigint {
  if (BigInt.asIntN(64, value) === value) return value;
  throw new CelFailure('an int is out of its 64 bits', 'Use doubles, or smaller numbers.');
}

/** The number if it fits a uint. Throws CelFailure. */
export function toUint(value: bigint): CelUint {
  if (BigInt.asUintN(64, value) === value) return new CelUint(value);
  throw new CelFailure('a uint is out of its 64 bits', 'Use doubles, or smaller numbers.');
}

/** `-value`. Throws CelFailure on overflow and for a uint. */
export function negate(value: CelNumber): number | bigint {
  if (typeof value === 'number') return -value;
  if (typeof value === 'bigint') return toInt(-value);
  throw new CelFailure('a uint cannot be negated', 'Convert it: -int(x).');
}

/** One operator on two numbers; undefined when their kinds do not mix. Throws CelFailure. */
export function calculate(operator: ArithmeticOperator, a: CelNumber, b: CelNumber): CelNumber | undefined {
  if (typeof a === 'number') return onDoubles(operator, a, typeof b === 'number' ? b : Number(comparable(b)));
  if (typeof b === 'number') return onDoubles(operator, Number(comparable(a)), b);
  if (typeof a === 'bigint' && typeof b === 'bigint') return onInts(operator, a, b);
  if (a instanceof CelUint && b instanceof CelUint) return toUint(onIntegers(operator, a.value, b.value));
  return undefined;
}

/** One operator on two doubles. Throws CelFailure for `x % 0`; `x / 0` is infinite or NaN. */
export function onDoubles(operator: ArithmeticOperator, a: number, b: number): number {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '%':
      if (b === 0) throw new CelFailure('modulo by zero', 'Guard it: b != 0 && a % b == 0.');
      return a % b;
  }
}

function onInts(operator: ArithmeticOperator, a: bigint, b: bigint): bigint {
  if (operator === '%' && a === INT_MIN && b === -1n) throw new CelFailure('an int is out of its 64 bits');
  return toInt(onIntegers(operator, a, b));
}

function onIntegers(operator: ArithmeticOperator, a: bigint, b: bigint): bigint {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      if (b === 0n) throw new CelFailure('division by zero', 'Guard it: b != 0 && a / b > 1.');
      return a / b;
    case '%':
      if (b === 0n) throw new CelFailure('modulo by zero', 'Guard it: b != 0 && a % b == 0.');
      return a % b;
  }
}
