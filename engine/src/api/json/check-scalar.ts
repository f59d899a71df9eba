/** Whether a JSON value can be a scalar or an enum of a message by canonical protobuf JSON, and what is wrong. */
import { ScalarType, type DescEnum } from '@bufbuild/protobuf';
import { didYouMean } from '../../workflow/index.js';

/** What is wrong with a value; undefined: nothing. */
export type Fault = { readonly problem: string; readonly remedy: string } | undefined;

const I32 = 2n ** 31n;
const I64 = 2n ** 63n;
const INT32 = [-I32, I32 - 1n] as const;
const UINT32 = [0n, 2n * I32 - 1n] as const;
const INT64 = [-I64, I64 - 1n] as const;
const UINT64 = [0n, 2n * I64 - 1n] as const;
const INTEGERS: ReadonlyMap<ScalarType, readonly [bigint, bigint]> = new Map([
  [ScalarType.INT32, INT32],
  [ScalarType.SINT32, INT32],
  [ScalarType.SFIXED32, INT32],
  [ScalarType.UINT32, UINT32],
  [ScalarType.FIXED32, UINT32],
  [ScalarType.INT64, INT64],
  [ScalarType.SINT64, INT64],
  [ScalarType.SFIXED64, INT64],
  [ScalarType.UINT64, UINT64],
  [ScalarType.FIXED64, UINT64],
]);

const HALF_PAIR = /\p{Surrogate}/u;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const DECIMAL = /^-?(0|[1-9]\d{0,19})$/;
const NUMBER = /^(-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?|NaN|-?Infinity)$/;

/** A whole number as JSON has it: a number, or its decimal digits as a string. */
function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  return typeof value === 'string' && DECIMAL.test(value) ? BigInt(value) : undefined;
}

function integerFault(value: unknown, [min, max]: readonly [bigint, bigint]): Fault {
  const whole = wholeNumber(value);
  if (whole !== undefined && whole >= min && whole <= max) return undefined;
  const problem = `is not a whole number from ${min} to ${max}`;
  // Above 2^53 a JSON number has lost digits before anyone could look at it.
  const isLarge = max > BigInt(Number.MAX_SAFE_INTEGER);
  return { problem, remedy: isLarge ? 'Send the number in quotes, such as "50".' : 'Send a number, such as 50.' };
}

function floatFault(value: unknown, isSingle: boolean): Fault {
  const isText = typeof value === 'string' && NUMBER.test(value);
  const number = isText || typeof value === 'number' ? Number(value) : undefined;
  const isFine =
    number !== undefined &&
    (isText || (Number.isFinite(number) && (!isSingle || Number.isFinite(Math.fround(number)))));
  return isFine ? undefined : { problem: 'is not a number', remedy: 'Send a number, such as 1.5.' };
}

function textFault(value: unknown): Fault {
  if (typeof value !== 'string') return { problem: 'is not a string', remedy: 'Send a string in quotes.' };
  // Encoded as UTF-8 it would silently become another text.
  return HALF_PAIR.test(value)
    ? { problem: 'holds half of a surrogate pair', remedy: 'Send whole characters.' }
    : undefined;
}

function bytesFault(value: unknown): Fault {
  if (typeof value === 'string' && BASE64.test(value) && value.replace(/=+$/, '').length % 4 !== 1) return undefined;
  return { problem: 'is not base64', remedy: 'Send the bytes as a base64 string.' };
}

/** What is wrong with a value for a scalar. */
export function scalarFault(type: ScalarType, value: unknown): Fault {
  const bounds = INTEGERS.get(type);
  if (bounds !== undefined) return integerFault(value, bounds);
  if (type === ScalarType.STRING) return textFault(value);
  if (type === ScalarType.BYTES) return bytesFault(value);
  if (type === ScalarType.DOUBLE || type === ScalarType.FLOAT) return floatFault(value, type === ScalarType.FLOAT);
  return typeof value === 'boolean'
    ? undefined
    : { problem: 'is neither true nor false', remedy: 'Send true or false, without quotes.' };
}

/** What is wrong with a value for an enum: its names are taken, and numbers, as gRPC callers may send any. */
export function enumFault(desc: DescEnum, value: unknown): Fault {
  const names = desc.values.map(({ name }) => name);
  if (typeof value === 'string' && names.includes(value)) return undefined;
  if (typeof value === 'number' && integerFault(value, INT32) === undefined) return undefined;
  const said = names.filter((_, index) => desc.values[index]?.number !== 0);
  const hint = typeof value === 'string' ? didYouMean(value, said) : '';
  return { problem: `is no ${desc.name}`, remedy: `Use one of ${said.join(', ')}.${hint}` };
}
