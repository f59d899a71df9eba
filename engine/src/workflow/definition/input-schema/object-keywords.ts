/** Keywords about objects. */
import { childPath } from '../checking/problems.js';
import { isJsonObject } from '../checking/shape.js';
import { fail, kindOf, silently, type Check, type Visit } from './check.js';
import { countOf, refuse, textsOf, type Keyword, type KeywordCompiler } from './keyword.js';
import { compilePattern } from './patterns.js';

type ObjectCheck = (visit: Visit, fields: ReadonlyMap<string, unknown>, place: string) => boolean;

/** A check of objects that takes everything else. */
function onObjects(check: ObjectCheck): Check {
  return (visit, value, place) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
    return check(visit, new Map(Object.entries(value)), place);
  };
}

function schemasOf(keyword: Keyword): readonly (readonly [string, Check])[] | undefined {
  const { context, path, value } = keyword;
  if (!isJsonObject(value)) return refuse(keyword, 'is not an object of schemas', 'Use an object: name to schema.');
  return Object.entries(value).map(([name, schema]) => [name, context.schema(childPath(path, name), schema)] as const);
}

function properties(keyword: Keyword): Check | undefined {
  const checks = schemasOf(keyword);
  if (checks === undefined) return undefined;
  return onObjects((visit, fields, place) => {
    let isFine = true;
    for (const [name, check] of checks) {
      if (fields.has(name)) isFine = check(visit, fields.get(name), childPath(place, name)) && isFine;
    }
    return isFine;
  });
}

function required(keyword: Keyword): Check | undefined {
  const names = textsOf(keyword);
  if (names === undefined) return undefined;
  return onObjects((visit, fields, place) => {
    let isFine = true;
    for (const name of names) if (!fields.has(name)) isFine = fail(visit, childPath(place, name), 'is missing');
    return isFine;
  });
}

interface PatternSchema {
  readonly matches: (name: string) => boolean;
  readonly check: Check;
}

function patternSchemas(keyword: Keyword): readonly PatternSchema[] {
  return (schemasOf(keyword) ?? []).flatMap(([pattern, check]) => {
    const at = { ...keyword, path: childPath(keyword.path, pattern), value: pattern };
    const matches = compilePattern(at, pattern);
    return matches === undefined ? [] : [{ matches, check }];
  });
}

function patternProperties(keyword: Keyword): Check {
  const patterns = patternSchemas(keyword);
  return onObjects((visit, fields, place) => {
    let isFine = true;
    for (const [name, value] of fields) {
      for (const { matches, check } of patterns) {
        if (matches(name)) isFine = check(visit, value, childPath(place, name)) && isFine;
      }
    }
    return isFine;
  });
}

/** Patterns of the names that `additionalProperties` leaves to patternProperties; its problems were told there. */
function siblingPatterns(keyword: Keyword): readonly ((name: string) => boolean)[] {
  const value = keyword.siblings['patternProperties'];
  if (!isJsonObject(value)) return [];
  const silent = { ...keyword, context: { ...keyword.context, problems: { add: () => undefined } } };
  return Object.keys(value).flatMap((pattern) => compilePattern(silent, pattern) ?? []);
}

function additionalProperties(keyword: Keyword): Check | undefined {
  const { context, path, value, siblings } = keyword;
  const declared = siblings['properties'];
  const names = new Set(isJsonObject(declared) ? Object.keys(declared) : []);
  const patterns = siblingPatterns(keyword);
  const check = context.schema(path, value);
  return onObjects((visit, fields, place) => {
    let isFine = true;
    for (const [name, field] of fields) {
      if (names.has(name) || patterns.some((matches) => matches(name))) continue;
      const at = childPath(place, name);
      isFine = (value === false ? fail(visit, at, 'is not a field of it') : check(visit, field, at)) && isFine;
    }
    return isFine;
  });
}

function propertyNames({ context, path, value }: Keyword): Check {
  const check = context.schema(path, value);
  return onObjects((visit, fields, place) => {
    let isFine = true;
    for (const name of fields.keys()) {
      if (check(silently(visit), name, place)) continue;
      isFine = fail(visit, childPath(place, name), 'has a name that "propertyNames" does not allow');
    }
    return isFine;
  });
}

function fieldCount(says: string, holds: (count: number, limit: number) => boolean): KeywordCompiler {
  return (keyword) => {
    const limit = countOf(keyword);
    if (limit === undefined) return undefined;
    return onObjects(
      (visit, fields, place) => holds(fields.size, limit) || fail(visit, place, `has ${says} ${limit} fields`),
    );
  };
}

function dependentRequired(keyword: Keyword): Check | undefined {
  const { value, path } = keyword;
  if (!isJsonObject(value)) return refuse(keyword, `is ${kindOf(value)}, not an object`, 'Use name to list of names.');
  const checks = Object.entries(value).map(([name, names]) => {
    const check = required({ ...keyword, path: childPath(path, name), value: names });
    return onObjects((visit, fields, place) => {
      return !fields.has(name) || check === undefined || check(visit, Object.fromEntries(fields), place);
    });
  });
  return (visit, object, place) => checks.map((check) => check(visit, object, place)).every(Boolean);
}

/** Keywords by name. */
export const OBJECT_KEYWORDS: Readonly<Record<string, KeywordCompiler>> = {
  properties,
  required,
  patternProperties,
  additionalProperties,
  propertyNames,
  minProperties: fieldCount('fewer than', (count, limit) => count >= limit),
  maxProperties: fieldCount('more than', (count, limit) => count <= limit),
  dependentRequired,
};
