/** How a function of the language is defined: its signatures for the checker, its body for the evaluator. */
import { elementsOf, isAssignable, isNumeric, type StaticType, valuesOf } from '../checking/static-type.js';
import type { Frame } from '../evaluating/frame.js';
import { CelFailure } from '../values/failure.js';
import { impossible } from '../../kernel/index.js';

/**
 * A parameter's type. `number` takes every kind of number, `list` and `map` any elements, `index` an int or a whole
 * double (JSON has no ints).
 */
export type ParameterType = StaticType | 'number' | 'index' | 'list' | 'map';

/** One way to call a function. A method's receiver is its first parameter. `same` yields the first parameter's type. */
export interface Signature {
  readonly parameters: readonly ParameterType[];
  readonly result: StaticType | 'same';
  /** Whether the last parameter may be repeated. */
  readonly isVariadic: boolean;
}

/** Body of a function. Throws CelFailure; it pays for work that grows with its arguments. */
export type Body = (frame: Frame, args: readonly unknown[]) => unknown;

/** One function, with all its signatures. */
export interface CelFunction {
  readonly name: string;
  readonly isMethod: boolean;
  readonly signatures: readonly Signature[];
  readonly body: Body;
}

/**
 * Defines a function.
 * @param signatures like `string.charAt(int) -> string`, `math.greatest(number...) -> dyn`; all of one name, all
 *   methods or none
 */
export function define(signatures: readonly string[], body: Body): CelFunction {
  const parsed = signatures.map(parseSignature);
  const first = parsed[0];
  if (first === undefined) return impossible('expr-signature', 'a function without a signature');
  return { name: first.name, isMethod: first.isMethod, signatures: parsed.map((one) => one.signature), body };
}

const SIGNATURE = /^(?:(\w+(?:<\w+>)?)\.)?(\w+)\(([^)]*)\) -> (\w+(?:<\w+>)?)$/;
const NAMESPACES: ReadonlySet<string> = new Set(['math', 'strings', 'base64']);

function parseSignature(text: string): { name: string; isMethod: boolean; signature: Signature } {
  const match = SIGNATURE.exec(text);
  if (match === null) return impossible('expr-signature', `"${text}" is no signature`);
  const [, owner = '', name = '', list = '', result = ''] = match;
  const isMethod = owner !== '' && !NAMESPACES.has(owner);
  const words = list === '' ? [] : list.split(', ');
  const isVariadic = words.at(-1)?.endsWith('...') ?? false;
  const parameters = words.map((word) => parseType(word.replace('...', '')));
  return {
    name: owner === '' || isMethod ? name : `${owner}.${name}`,
    isMethod,
    signature: {
      parameters: isMethod ? [parseType(owner), ...parameters] : parameters,
      result: result === 'same' ? result : resultType(parseType(result)),
      isVariadic,
    },
  };
}

function resultType(type: ParameterType): StaticType {
  if (type === 'list') return { list: 'dyn' };
  if (type === 'map') return { map: 'dyn' };
  return type === 'number' || type === 'index' ? 'dyn' : type;
}

function parseType(word: string): ParameterType {
  switch (word) {
    case 'list<string>':
      return { list: 'string' };
    case 'dyn':
    case 'bool':
    case 'int':
    case 'uint':
    case 'double':
    case 'string':
    case 'bytes':
    case 'timestamp':
    case 'duration':
    case 'type':
    case 'null':
    case 'number':
    case 'index':
    case 'list':
    case 'map':
      return word;
    default:
      return impossible('expr-signature', `"${word}" is no type`);
  }
}

/** Whether a value of a type may be given to a parameter; one of unknown type is looked at when it is there. */
export function accepts(parameter: ParameterType, actual: StaticType): boolean {
  if (actual === 'dyn' || parameter === 'dyn') return true;
  switch (parameter) {
    case 'number':
      return isNumeric(actual);
    case 'index':
      return actual === 'int' || actual === 'double';
    case 'list':
      return elementsOf(actual) !== undefined;
    case 'map':
      return valuesOf(actual) !== undefined;
    default:
      return typeof parameter === 'string' ? parameter === actual : isAssignable(actual, parameter);
  }
}

/** A text, or a failure. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  throw mismatch('a string');
}

/** An int that fits a JavaScript number, or a failure. A whole double is taken too: JSON has no ints. */
export function indexOf(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  if (typeof value === 'bigint') return Number(value);
  throw mismatch('an int');
}

/** A list, or a failure. */
export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw mismatch('a list');
}

/** The failure of an argument that is of the wrong kind. */
export function mismatch(wanted: string): CelFailure {
  return new CelFailure(`an argument is not ${wanted}`, 'Convert it: string(x), int(x), double(x).');
}
