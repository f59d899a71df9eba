/** Keywords about any value, numbers and texts. */
import { canonicalJson } from '../../../kernel/index.js';
import { isJsonList, isJsonObject, type JsonObject } from '../checking/shape.js';
import { didYouMean } from '../suggest.js';
import { fail, kindOf, type Check } from './check.js';
import { FORMAT_NAMES, formatCheck, isNamedPattern, isPatternOfFormat } from './formats.js';
import { countOf, numberOf, refuse, type Keyword, type KeywordCompiler } from './keyword.js';
import { compilePattern } from './patterns.js';

const TYPES: Readonly<Record<string, { readonly says: string; readonly has: (value: unknown) => boolean }>> = {
  null: { says: 'null', has: (value) => value === null },
  boolean: { says: 'a boolean', has: (value) => typeof value === 'boolean' },
  number: { says: 'a number', has: (value) => typeof value === 'number' },
  integer: { says: 'a whole number', has: (value) => Number.isInteger(value) },
  string: { says: 'a string', has: (value) => typeof value === 'string' },
  array: { says: 'a list', has: (value) => Array.isArray(value) },
  object: { says: 'an object', has: (value) => kindOf(value) === 'an object' },
};

function type(keyword: Keyword): Check | undefined {
  const names = Array.isArray(keyword.value) ? keyword.value : [keyword.value];
  const known = names.flatMap((name) => (typeof name === 'string' && Object.hasOwn(TYPES, name) ? [TYPES[name]] : []));
  if (known.length < names.length || names.length === 0) {
    const hint = typeof keyword.value === 'string' ? didYouMean(keyword.value, Object.keys(TYPES)) : '';
    return refuse(keyword, 'is no type', `Use one or more of ${Object.keys(TYPES).join(', ')}.${hint}`);
  }
  const wanted = known.map((one) => one?.says).join(' or ');
  return (visit, value, place) => {
    if (known.some((one) => one?.has(value))) return true;
    const seen = typeof value === 'number' && wanted === 'a whole number' ? 'a number with a fraction' : kindOf(value);
    return fail(visit, place, `is ${seen}, not ${wanted}`);
  };
}

function oneOfValues(values: readonly unknown[]): Check {
  const texts = new Set(values.map(canonicalJson));
  const shown = [...texts].join(', ');
  const wanted = shown.length <= 200 ? shown : `${shown.slice(0, 199)}…`;
  return (visit, value, place) => texts.has(canonicalJson(value)) || fail(visit, place, `is not ${wanted}`);
}

/** A keyword with a number that numbers are compared with. */
function bound(says: string, holds: (value: number, limit: number) => boolean): KeywordCompiler {
  return (keyword) => {
    const limit = numberOf(keyword);
    if (limit === undefined) return undefined;
    return (visit, value, place) =>
      typeof value !== 'number' || holds(value, limit) || fail(visit, place, `is not ${says} ${limit}`);
  };
}

function codePoints(text: string): number {
  // A text of n units has n code points less one for each surrogate pair.
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

/** A keyword with a count that the length of a text, in code points, is compared with. */
function length(says: string, holds: (length: number, limit: number) => boolean): KeywordCompiler {
  return (keyword) => {
    const limit = countOf(keyword);
    if (limit === undefined) return undefined;
    return (visit, value, place) =>
      typeof value !== 'string' ||
      holds(codePoints(value), limit) ||
      fail(visit, place, `has ${says} ${limit} characters`);
  };
}

/** Whether the quotient is whole; 0.0075 is a multiple of 0.0001 although its binary fraction is not. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient));
}

function multipleOf(keyword: Keyword): Check | undefined {
  const limit = numberOf(keyword);
  if (limit === undefined) return undefined;
  if (limit <= 0) return refuse(keyword, 'is not more than 0', 'Use a number above 0.');
  return (visit, value, place) =>
    typeof value !== 'number' || isMultiple(value, limit) || fail(visit, place, `is not a multiple of ${limit}`);
}

function pattern(keyword: Keyword): Check | undefined {
  const { value: text, siblings } = keyword;
  if (typeof text !== 'string') return refuse(keyword, 'is not a string', 'Use a regular expression.');
  const format = siblings['format'];
  if (typeof format === 'string' && isPatternOfFormat(format, text)) return undefined;
  const matches = compilePattern(keyword, text);
  if (matches === undefined) return undefined;
  return (visit, value, place) =>
    typeof value !== 'string' || matches(value) || fail(visit, place, `does not match ${text}`);
}

/** Whether the schema has a pattern; several ones are written under allOf. */
function hasPattern(schema: JsonObject): boolean {
  const all = schema['allOf'];
  if (typeof schema['pattern'] === 'string') return true;
  return isJsonList(all) && all.some((part) => isJsonObject(part) && typeof part['pattern'] === 'string');
}

function format(keyword: Keyword): Check | undefined {
  const { value: name, siblings } = keyword;
  if (typeof name !== 'string') return refuse(keyword, 'is not a string', 'Use the name of a format.');
  const check = formatCheck(name);
  if (check !== undefined) {
    return (visit, value, place) => typeof value !== 'string' || check(value) || fail(visit, place, `is no ${name}`);
  }
  if (isNamedPattern(name) && hasPattern(siblings)) return undefined;
  const hint = didYouMean(name, FORMAT_NAMES);
  return refuse(
    keyword,
    'is not a format this version checks',
    `Use one of ${FORMAT_NAMES.join(', ')}, or pattern.${hint}`,
  );
}

/** Keywords by name. */
export const VALUE_KEYWORDS: Readonly<Record<string, KeywordCompiler>> = {
  type,
  enum: (keyword) =>
    Array.isArray(keyword.value) && keyword.value.length > 0
      ? oneOfValues(keyword.value)
      : refuse(keyword, 'is not a list of at least one value', 'List the values.'),
  const: ({ value }) => oneOfValues([value]),
  minimum: bound('at least', (value, limit) => value >= limit),
  maximum: bound('at most', (value, limit) => value <= limit),
  exclusiveMinimum: bound('more than', (value, limit) => value > limit),
  exclusiveMaximum: bound('less than', (value, limit) => value < limit),
  multipleOf,
  minLength: length('fewer than', (count, limit) => count >= limit),
  maxLength: length('more than', (count, limit) => count <= limit),
  pattern,
  format,
};
