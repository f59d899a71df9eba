/**
 * The update_mask of a PATCH. Who writes JSON does not write masks: the keys that the body has, those with null too,
 * are what it changes, down to the fields of its messages and the keys of its maps. A mask in the query is the caller's
 * own and stays.
 */
import type { DescField, JsonObject, JsonValue } from '@bufbuild/protobuf';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { fieldNamed, isJsonValueObject } from '../json/check-message.js';
import { pathsOf } from '../json/field-paths.js';
import type { Route } from './router.js';

const MASK = 'google.protobuf.FieldMask';
const LENGTH_DELIMITED = 2;

/** A mask and the field of the request it belongs to. */
export interface Mask {
  readonly field: DescField;
  /** Names of the contract: "title", "config.default_timeout"; keys of maps that are no names stand in backquotes. */
  readonly paths: readonly string[];
}

/** The mask for a body; undefined when the request has none to fill, or the caller sent one. */
export function maskedKeys(
  { method, binding }: Route,
  body: JsonValue | undefined,
  json: JsonObject,
): Mask | undefined {
  const field = method.input.fields.find((each) => each.message?.typeName === MASK && each.name === 'update_mask');
  if (field === undefined || json[field.name] !== undefined || json[field.jsonName] !== undefined) return undefined;
  const inner = binding.body === '*' ? method.input : fieldNamed(method.input, binding.body)?.message;
  if (inner === undefined || !isJsonValueObject(body)) return undefined;
  return { field, paths: pathsOf(inner, body) };
}

/** The bytes of a message that has only the mask: FieldMask { repeated string paths = 1 }. */
export function maskBytes({ field, paths }: Mask): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(field.number, LENGTH_DELIMITED).fork();
  for (const path of paths) writer.tag(1, LENGTH_DELIMITED).string(path);
  return writer.join().finish();
}
