/**
 * The bounds of JSON that comes from outside. They keep one value from costing more than its bytes: deep nesting
 * overflows stacks, huge objects are slow to copy, and PostgreSQL cannot store what is not Unicode or holds NUL.
 */
import type { Problem } from './errors/ductor-error.js';

/** Deepest nesting: a list in a list has depth 2, a plain value depth 0. */
export const MAX_JSON_DEPTH = 64;
/** Most keys of one object. */
export const MAX_JSON_KEYS = 10_000;
/** Longest string or key, in bytes of UTF-8. */
export const MAX_JSON_STRING_BYTES = 1024 * 1024;
/** Checking stops at that many problems; one who sends thousands does not read them. */
const MAX_PROBLEMS = 50;

/** Half of a surrogate pair; under the flag u whole pairs are one character and do not match. */
const HALF_PAIR = /\p{Surrogate}/u;

/** The text with halves of pairs replaced, so that it can be sent. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd');
}

/** Collects problems while a value is walked. */
interface Walk {
  readonly problems: Problem[];
}

/** Notes a problem with the value shortened to 200 characters. */
function note(walk: Walk, path: string, value: string, problem: string, remedy: string): void {
  walk.problems.push({ path, value: wellFormed(value.slice(0, 200)), problem, remedy });
}

/** Path of a field: dotted where the key is a plain name, else in brackets with quotes. */
export function fieldPath(path: string, key: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(key)) return path === '' ? key : `${path}.${key}`;
  return `${path}[${JSON.stringify(wellFormed(key).slice(0, 64))}]`;
}

/** Checks a string or a key. */
function checkText(walk: Walk, path: string, text: string): void {
  // A UTF-16 unit is at most 3 bytes of UTF-8: most strings need no count.
  if (text.length * 3 > MAX_JSON_STRING_BYTES && Buffer.byteLength(text) > MAX_JSON_STRING_BYTES) {
    const bytes = Buffer.byteLength(text);
    note(
      walk,
      path,
      text.slice(0, 200),
      `the string has ${bytes} bytes, at most ${MAX_JSON_STRING_BYTES} are allowed`,
      'store it elsewhere and pass a reference',
    );
    return;
  }
  if (text.includes('\0')) note(walk, path, text.slice(0, 200), 'the string holds a NUL character', 'remove it');
  if (HALF_PAIR.test(text))
    note(walk, path, text.slice(0, 200), 'the string holds half of a surrogate pair', 'send whole characters');
}

/** Checks a number: JSON has no NaN and no infinities. */
function checkNumber(walk: Walk, path: string, value: number): void {
  if (!Number.isFinite(value))
    note(walk, path, String(value), 'the number is not finite', 'send a finite number or null');
}

/** Checks an object: the count of its keys, each key, each field. */
function checkObject(walk: Walk, path: string, value: object, depth: number): void {
  const entries = Object.entries(value);
  if (entries.length > MAX_JSON_KEYS) {
    note(
      walk,
      path,
      `${entries.length} keys`,
      `the object has more than ${MAX_JSON_KEYS} keys`,
      'send a list, or split it',
    );
    return;
  }
  for (const [key, field] of entries) {
    if (walk.problems.length >= MAX_PROBLEMS) return;
    const at = fieldPath(path, key);
    checkText(walk, at, key);
    check(walk, at, field, depth + 1);
  }
}

/** Checks a value of the given depth. */
function check(walk: Walk, path: string, value: unknown, depth: number): void {
  if (typeof value === 'string') return checkText(walk, path, value);
  if (typeof value === 'number') return checkNumber(walk, path, value);
  if (value === null || typeof value === 'boolean') return;
  if (typeof value !== 'object') return note(walk, path, typeof value, `a ${typeof value} is not JSON`, 'send JSON');
  if (depth >= MAX_JSON_DEPTH) {
    return note(walk, path, Array.isArray(value) ? '[…]' : '{…}', `nested deeper than ${MAX_JSON_DEPTH}`, 'flatten it');
  }
  if (!Array.isArray(value)) return checkObject(walk, path, value, depth);
  for (const [index, item] of value.entries()) {
    if (walk.problems.length >= MAX_PROBLEMS) return;
    check(walk, `${path}[${index}]`, item, depth + 1);
  }
}

/**
 * Everything that is wrong with a parsed JSON value, at most 50 problems; empty when it is within bounds.
 *
 * @param value what JSON.parse gave
 * @param path where the value stands in the request; default: it is the whole
 */
export function checkJson(value: unknown, path = ''): readonly Problem[] {
  const walk: Walk = { problems: [] };
  check(walk, path, value, 0);
  return walk.problems.slice(0, MAX_PROBLEMS);
}
