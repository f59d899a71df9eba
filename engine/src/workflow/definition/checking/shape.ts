/** Reads fields of unknown JSON; every disappointment becomes a problem in our own words. */
import type { Json } from '../definition.js';
import { didYouMean } from '../suggest.js';
import { childPath, type ProblemSink } from './problems.js';

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** Whether a JSON value is an object. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a JSON value is a list. */
export function isJsonList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** What a JSON value is, with its article. */
export function jsonKind(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'boolean' ? 'a boolean' : `a ${typeof value}`;
}

/** An own field; undefined when it is absent. */
export function field(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** An object whose fields can be read. */
export interface ObjectReader {
  readonly path: string;
  readonly object: JsonObject;
  readonly problems: ProblemSink;
}

function wrongKind(problems: ProblemSink, path: string, value: Json, wanted: string): void {
  problems.add(path, value, `is ${jsonKind(value)}, not ${wanted}`, `Make it ${wanted}, or remove it.`);
}

/** The value as an object; undefined, with a problem, when it is none. */
export function readObject(problems: ProblemSink, path: string, value: Json): ObjectReader | undefined {
  if (isJsonObject(value)) return { path, object: value, problems };
  wrongKind(problems, path, value, 'an object');
  return undefined;
}

/** Says which fields are not known, with the nearest known name. */
export function refuseUnknown(reader: ObjectReader, known: readonly string[], owner: string): void {
  for (const [key, value] of Object.entries(reader.object)) {
    if (known.includes(key)) continue;
    const remedy = `Remove it.${didYouMean(key, known)} Known fields: ${known.join(', ')}.`;
    reader.problems.add(childPath(reader.path, key), value, `is not a field of ${owner}`, remedy);
  }
}

/** A field that must be there. */
export function requireField(reader: ObjectReader, key: string, example: string): Json | undefined {
  const value = field(reader.object, key);
  if (value === undefined) {
    reader.problems.add(childPath(reader.path, key), undefined, 'is missing', `Add it, such as ${example}.`);
  }
  return value;
}

/** An optional list; undefined when absent or no list. */
export function optionalList(reader: ObjectReader, key: string): readonly Json[] | undefined {
  const value = field(reader.object, key);
  if (value === undefined) return undefined;
  if (isJsonList(value)) return value;
  wrongKind(reader.problems, childPath(reader.path, key), value, 'a list');
  return undefined;
}

/** An optional text; the empty one counts as absent, as the contract in proto cannot tell them apart. */
export function optionalText(reader: ObjectReader, key: string): string | undefined {
  const value = field(reader.object, key);
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string') return value;
  wrongKind(reader.problems, childPath(reader.path, key), value, 'a string');
  return undefined;
}

/** A text that must be there; the empty one counts as missing, as for `optionalText`. */
export function requireSaid(reader: ObjectReader, key: string, example: string): string | undefined {
  const value = field(reader.object, key);
  if (value !== undefined && value !== '') return optionalText(reader, key);
  reader.problems.add(childPath(reader.path, key), value, 'is missing', `Add it, such as ${example}.`);
  return undefined;
}

/** A text that must be there and be accepted. */
export function requireText(
  reader: ObjectReader,
  key: string,
  rule: { readonly example: string; readonly isFine: (text: string) => boolean; readonly wanted: string },
): string | undefined {
  const value = requireField(reader, key, rule.example);
  if (value === undefined) return undefined;
  const path = childPath(reader.path, key);
  if (typeof value !== 'string') {
    wrongKind(reader.problems, path, value, 'a string');
    return undefined;
  }
  if (rule.isFine(value)) return value;
  reader.problems.add(path, value, `must be ${rule.wanted}`, `Rename it, such as ${rule.example}.`);
  return undefined;
}

/** An optional number within bounds. */
export function optionalNumber(
  reader: ObjectReader,
  key: string,
  rule: { readonly min: number; readonly max: number; readonly isWhole?: boolean },
): number | undefined {
  const value = field(reader.object, key);
  if (value === undefined) return undefined;
  const path = childPath(reader.path, key);
  const wanted = `a ${rule.isWhole === true ? 'whole ' : ''}number from ${rule.min} to ${rule.max}`;
  if (typeof value !== 'number') {
    wrongKind(reader.problems, path, value, wanted);
    return undefined;
  }
  if (value >= rule.min && value <= rule.max && (rule.isWhole !== true || Number.isInteger(value))) return value;
  reader.problems.add(path, value, `is not ${wanted}`, `Use ${wanted}.`);
  return undefined;
}
