/**
 * The update_mask of a PATCH. Who writes JSON does not write masks: the keys that the body has, those with null too,
 * are what it changes. A mask in the query is the caller's own and stays.
 */
import type { DescField, JsonObject, JsonValue } from '@bufbuild/protobuf';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { fieldNamed, isJsonObject } from '../json/check-message.js';
import type { Route } from './router.js';

const MASK = 'google.protobuf.FieldMask';
const LENGTH_DELIMITED = 2;

/** A mask and the field of the request it belongs to. */
export interface Mask {
  readonly field: DescField;
  /** Names of the contract. */
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
  if (inner === undefined || !isJsonObject(body)) return undefined;
  return { field, paths: Object.keys(body).map((key) => fieldNamed(inner, key)?.name ?? key) };
}

/** The bytes of a message that has only the mask: FieldMask { repeated string paths = 1 }. */
export function maskBytes({ field, paths }: Mask): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(field.number, LENGTH_DELIMITED).fork();
  for (const path of paths) writer.tag(1, LENGTH_DELIMITED).string(path);
  return writer.join().finish();
}
