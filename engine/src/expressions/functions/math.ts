/** The functions of `math`, as in CEL's extension of that name. */
import { type Frame, spend } from '../evaluating/frame.js';
import { CelFailure } from '../values/failure.js';
import { type CelNumber, comparable, isNumber, toInt } from '../values/numbers.js';
import { CelUint } from '../values/values.js';
import { type CelFunction, define, indexOf, mismatch } from './define.js';

function numberOf(value: unknown): CelNumber {
  if (isNumber(value)) return value;
  throw mismatch('a number');
}

function doubleOf(value: unknown): number {
  if (typeof value === 'number') return value;
  throw mismatch('a double');
}

/** The first of the greatest (sign 1) or least (sign -1) of the arguments, or of the one list given. */
function best(frame: Frame, args: readonly unknown[], sign: 1 | -1): unknown {
  const [first] = args;
  const numbers: readonly unknown[] = args.length === 1 && Array.isArray(first) ? first : args;
  spend(frame, numbers.length);
  let found: CelNumber | undefined;
  for (const candidate of numbers) {
    const number = numberOf(candidate);
    if (found === undefined || isBeyond(number, found, sign)) found = number;
  }
  if (found === undefined) throw new CelFailure('a list is empty', 'Guard it: size(list) > 0.');
  return found;
}

function isBeyond(a: CelNumber, b: CelNumber, sign: 1 | -1): boolean {
  return sign === 1 ? comparable(a) > comparable(b) : comparable(a) < comparable(b);
}

function roundHalfAway(value: number): number {
  const whole = Math.trunc(value);
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
}

function absolute(value: CelNumber): CelNumber {
  if (typeof value === 'number') return Math.abs(value);
  return typeof value === 'bigint' && value < 0n ? toInt(-value) : value;
}

function signOf(value: CelNumber): CelNumber {
  if (typeof value === 'number') return Math.sign(value);
  if (typeof value === 'bigint') return value > 0n ? 1n : value < 0n ? -1n : 0n;
  return new CelUint(value.value > 0n ? 1n : 0n);
}

function onDouble(name: string, body: (value: number) => number): CelFunction {
  return define([`math.${name}(double) -> double`], (_frame, [value]) => body(doubleOf(value)));
}

function onTest(name: string, body: (value: number) => boolean): CelFunction {
  return define([`math.${name}(double) -> bool`], (_frame, [value]) => body(doubleOf(value)));
}

function onBits(name: string, body: (a: bigint, b: bigint) => bigint): CelFunction {
  return define([`math.${name}(int, int) -> int`, `math.${name}(uint, uint) -> uint`], (_frame, [a, b]) => {
    if (typeof a === 'bigint' && typeof b === 'bigint') return body(a, b);
    if (a instanceof CelUint && b instanceof CelUint) return new CelUint(body(a.value, b.value));
    throw mismatch('of the same kind of integer as the other');
  });
}

function onShift(name: string, shift: (value: bigint, places: bigint) => bigint): CelFunction {
  return define([`math.${name}(int, int) -> int`, `math.${name}(uint, int) -> uint`], (_frame, [value, places]) => {
    const by = indexOf(places);
    if (by < 0) throw new CelFailure('a shift is negative', 'Shift in the other direction.');
    const shifted = (bits: bigint): bigint => (by >= 64 ? 0n : shift(bits, BigInt(by)));
    if (typeof value === 'bigint') return BigInt.asIntN(64, shifted(BigInt.asUintN(64, value)));
    if (value instanceof CelUint) return new CelUint(BigInt.asUintN(64, shifted(value.value)));
    throw mismatch('an integer');
  });
}

/** Everything in `math`. */
export const mathFunctions: readonly CelFunction[] = [
  define(
    ['math.greatest(list) -> dyn', 'math.greatest(number) -> same', 'math.greatest(number, number...) -> dyn'],
    (frame, args) => best(frame, args, 1),
  ),
  define(
    ['math.least(list) -> dyn', 'math.least(number) -> same', 'math.least(number, number...) -> dyn'],
    (frame, args) => best(frame, args, -1),
  ),
  onDouble('ceil', Math.ceil),
  onDouble('floor', Math.floor),
  onDouble('round', roundHalfAway),
  onDouble('trunc', Math.trunc),
  onTest('isNaN', Number.isNaN),
  onTest('isInf', (value) => value === Infinity || value === -Infinity),
  onTest('isFinite', Number.isFinite),
  define(['math.abs(number) -> same'], (_frame, [value]) => absolute(numberOf(value))),
  define(['math.sign(number) -> same'], (_frame, [value]) => signOf(numberOf(value))),
  define(['math.sqrt(number) -> double'], (_frame, [value]) => Math.sqrt(Number(comparable(numberOf(value))))),
  onBits('bitAnd', (a, b) => a & b),
  onBits('bitOr', (a, b) => a | b),
  onBits('bitXor', (a, b) => a ^ b),
  define(['math.bitNot(int) -> int', 'math.bitNot(uint) -> uint'], (_frame, [value]) => {
    if (typeof value === 'bigint') return ~value;
    if (value instanceof CelUint) return new CelUint(BigInt.asUintN(64, ~value.value));
    throw mismatch('an integer');
  }),
  onShift('bitShiftLeft', (value, places) => value << places),
  onShift('bitShiftRight', (value, places) => value >> places),
];
