/** What differs between two objects. */
import { canonicalJson, fieldPath } from '../../kernel/index.js';
import type { FieldChange, JsonObject } from './bundle.js';

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return value === undefined ? '' : canonicalJson(value);
}

/** Nothing, which an object with fields is compared with field by field. */
const NOTHING: JsonObject = {};

/** The two as objects to be compared field by field; undefined: as wholes. */
function asObjects(before: unknown, after: unknown): readonly [JsonObject, JsonObject] | undefined {
  if (isObject(before) && isObject(after)) return [before, after];
  if (before === undefined && isObject(after) && Object.keys(after).length > 0) return [NOTHING, after];
  if (after === undefined && isObject(before) && Object.keys(before).length > 0) return [before, NOTHING];
  return undefined;
}

const inner = (object: JsonObject, key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined);

function* differences(path: string, before: unknown, after: unknown): Generator<FieldChange> {
  const both = asObjects(before, after);
  if (both === undefined) {
    if (textOf(before) !== textOf(after)) yield { path, before, after };
    return;
  }
  const [was, is] = both;
  for (const key of [...new Set([...Object.keys(was), ...Object.keys(is)])].sort()) {
    yield* differences(fieldPath(path, key), inner(was, key), inner(is, key));
  }
}

/** Fields that differ, by path; lists as a whole. A field that is undefined is not there. */
export function fieldChanges(before: object, after: object): readonly FieldChange[] {
  return [...differences('', before, after)];
}
