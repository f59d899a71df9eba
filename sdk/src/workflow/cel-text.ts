/** Writes CEL text. */
import { DefinitionError } from './definition-error.js';

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Words of CEL that cannot be field names after a dot. */
const RESERVED = new Set([
  'in',
  'true',
  'false',
  'null',
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
]);
for (const word of ['import', 'let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'])
  RESERVED.add(word);

/** A key of a map as it is written after the map: `.name`, or `["odd name"]`. */
export function celKey(name: string): string {
  return IDENTIFIER.test(name) && !RESERVED.has(name) ? `.${name}` : `[${celString(name)}]`;
}

/** Member of an expression; key comes from celKey. */
export function celMember(expression: string, key: string): string {
  return expression + key;
}

/** A string literal of CEL. JSON's escapes are CEL's. */
function celString(text: string): string {
  return JSON.stringify(text).replace(
    /[\u2028\u2029\u007f]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * A plain JSON value as a CEL literal. Numbers become doubles, as all numbers of JSON are.
 * Throws DefinitionError for what JSON cannot hold.
 */
export function celLiteral(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return celString(value);
  if (typeof value === 'number' && Number.isFinite(value)) return celNumber(value);
  if (Array.isArray(value)) return `[${value.map(celLiteral).join(', ')}]`;
  if (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
    return `{${Object.entries(value)
      .map(([key, item]) => `${celString(key)}: ${celLiteral(item)}`)
      .join(', ')}}`;
  }
  throw new DefinitionError(`${describe(value)} cannot stand in a definition`, 'use plain JSON values or references');
}

/** 5 -> 5.0, 1e21 -> 1e+21: always a double. */
function celNumber(value: number): string {
  const text = Object.is(value, -0) ? '-0' : String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** What a value is, for a message: its type, and the class of an object. */
function describe(value: unknown): string {
  if (typeof value === 'object' && value !== null) return `an object of class ${value.constructor?.name ?? 'unknown'}`;
  return `a value of type ${typeof value}`;
}
