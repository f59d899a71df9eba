/** Functions on text. Positions count code points, as in the specification. */
import { type Frame, spend, spendOnText } from '../evaluating/frame.js';
import { CelFailure } from '../values/failure.js';
import { type CelFunction, define, indexOf, listOf, mismatch, textOf } from './define.js';

/** A text by code points. Texts without surrogates, nearly all, need no array. */
interface CodePoints {
  readonly length: number;
  slice(start: number, end?: number): string;
}

function codePoints(frame: Frame, text: string): CodePoints {
  spendOnText(frame, text.length);
  if (!/[\ud800-\udfff]/.test(text)) return { length: text.length, slice: (start, end) => text.slice(start, end) };
  spend(frame, text.length);
  const points = Array.from(text);
  return { length: points.length, slice: (start, end) => points.slice(start, end).join('') };
}

/** Number of code points of a text. */
export function countCodePoints(frame: Frame, text: string): number {
  return codePoints(frame, text).length;
}

function position(value: unknown, length: number): number {
  const index = indexOf(value);
  if (index >= 0 && index <= length) return index;
  throw new CelFailure('a position is outside the text', 'Compare it with size(text) first.');
}

/** Offset in code points of a text in another, -1 when it is not in it. */
function search(frame: Frame, text: string, wanted: string, from: unknown, isBackwards: boolean): bigint {
  const points = codePoints(frame, text);
  const start = from === undefined ? undefined : position(from, points.length);
  if (wanted === '') return BigInt(start ?? (isBackwards ? points.length : 0));
  const unit = start === undefined ? undefined : points.slice(0, start).length;
  spend(frame, (text.length * Math.min(wanted.length, 64)) / 64);
  const found = isBackwards ? text.lastIndexOf(wanted, unit) : text.indexOf(wanted, unit);
  return BigInt(found <= 0 ? found : points.length === text.length ? found : Array.from(text.slice(0, found)).length);
}

function replace(frame: Frame, text: string, from: string, to: string, limit: number): string {
  spendOnText(frame, text.length);
  if (limit === 0) return text;
  const pieces = from === '' ? ['', ...Array.from(text), ''] : text.split(from);
  const replaced = limit < 0 ? pieces.length - 1 : Math.min(limit, pieces.length - 1);
  spendOnText(frame, replaced * to.length + pieces.length);
  const head = pieces.slice(0, replaced + 1).join(to);
  const tail = pieces.slice(replaced + 1);
  return tail.length === 0 ? head : head + from + tail.join(from);
}

function split(frame: Frame, text: string, separator: string, limit: number): readonly string[] {
  spend(frame, text.length / 2);
  if (limit === 0) return [];
  const parts = separator === '' ? Array.from(text) : text.split(separator);
  if (limit < 0 || parts.length <= limit) return parts;
  return [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
}

function join(frame: Frame, list: readonly unknown[], separator: string): string {
  let length = 0;
  for (const item of list) {
    if (typeof item !== 'string') throw mismatch('a list of strings');
    length += item.length + separator.length;
  }
  spend(frame, list.length);
  spendOnText(frame, length);
  return list.join(separator);
}

function changeAscii(frame: Frame, text: string, pattern: RegExp, change: (found: string) => string): string {
  spendOnText(frame, text.length);
  return text.replace(pattern, change);
}

const QUOTED: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ['"', '\\"'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
]);

function testText(name: string, test: (text: string, part: string) => boolean): CelFunction {
  return define([`string.${name}(string) -> bool`], (frame, [text, part]) => {
    const [whole, wanted] = [textOf(text), textOf(part)];
    spend(frame, (whole.length * Math.min(wanted.length, 64)) / 64);
    return test(whole, wanted);
  });
}

/** White space by Unicode, which trim() takes off; JavaScript's trim() also takes U+FEFF and misses U+0085. */
const SPACE = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const LEADING = new RegExp(`^${SPACE}+`);
const TRAILING = new RegExp(`^${SPACE}$`);

function trim(text: string): string {
  const start = text.replace(LEADING, '');
  let end = start.length;
  while (end > 0 && TRAILING.test(start.charAt(end - 1))) end -= 1;
  return start.slice(0, end);
}

/** Everything on text but format() and matches(). */
export const stringFunctions: readonly CelFunction[] = [
  testText('startsWith', (text, part) => text.startsWith(part)),
  testText('endsWith', (text, part) => text.endsWith(part)),
  testText('contains', (text, part) => text.includes(part)),
  define(['string.charAt(index) -> string'], (frame, [text, index]) => {
    const points = codePoints(frame, textOf(text));
    const at = position(index, points.length);
    return points.slice(at, at + 1);
  }),
  define(['string.indexOf(string) -> int', 'string.indexOf(string, index) -> int'], (frame, [text, wanted, from]) =>
    search(frame, textOf(text), textOf(wanted), from, false),
  ),
  define(
    ['string.lastIndexOf(string) -> int', 'string.lastIndexOf(string, index) -> int'],
    (frame, [text, wanted, from]) => search(frame, textOf(text), textOf(wanted), from, true),
  ),
  define(['string.lowerAscii() -> string'], (frame, [text]) =>
    changeAscii(frame, textOf(text), /[A-Z]+/g, (found) => found.toLowerCase()),
  ),
  define(['string.upperAscii() -> string'], (frame, [text]) =>
    changeAscii(frame, textOf(text), /[a-z]+/g, (found) => found.toUpperCase()),
  ),
  define(
    ['string.replace(string, string) -> string', 'string.replace(string, string, index) -> string'],
    (frame, [text, from, to, limit]) =>
      replace(frame, textOf(text), textOf(from), textOf(to), limit === undefined ? -1 : indexOf(limit)),
  ),
  define(
    ['string.split(string) -> list<string>', 'string.split(string, index) -> list<string>'],
    (frame, [text, separator, limit]) =>
      split(frame, textOf(text), textOf(separator), limit === undefined ? -1 : indexOf(limit)),
  ),
  define(['list<string>.join() -> string', 'list<string>.join(string) -> string'], (frame, [list, separator]) =>
    join(frame, listOf(list), separator === undefined ? '' : textOf(separator)),
  ),
  define(
    ['string.substring(index) -> string', 'string.substring(index, index) -> string'],
    (frame, [text, start, end]) => {
      const points = codePoints(frame, textOf(text));
      const from = position(start, points.length);
      const to = end === undefined ? points.length : position(end, points.length);
      if (to < from) throw new CelFailure('a substring ends before it starts');
      return points.slice(from, to);
    },
  ),
  define(['string.trim() -> string'], (frame, [text]) => {
    spendOnText(frame, textOf(text).length);
    return trim(textOf(text));
  }),
  define(['string.reverse() -> string'], (frame, [text]) => {
    spend(frame, textOf(text).length);
    return Array.from(textOf(text)).reverse().join('');
  }),
  define(['strings.quote(string) -> string'], (frame, [text]) => {
    spendOnText(frame, textOf(text).length);
    return `"${textOf(text).replace(/[\\"\x07\b\f\n\r\t\v]/g, (found) => QUOTED.get(found) ?? found)}"`;
  }),
];
