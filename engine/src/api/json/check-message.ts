/**
 * Finds everything that is wrong with the JSON of a message before it is read: protobuf-es stops at the first fault and
 * names a field, a caller needs all of them with their paths. Values and structs are bounded as JSON from outside is.
 */
import {
  fromJson,
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Registry,
} from '@bufbuild/protobuf';
import { checkJson, fieldPath, type Problem } from '../../kernel/index.js';
import { didYouMean } from '../../workflow/index.js';
import { enumFault, scalarFault, type Fault } from './check-scalar.js';

/** What was found so far, and what helps to find it. */
export interface Check {
  readonly registry: Registry;
  readonly problems: Problem[];
}

/** Checking stops at that many problems: one who sends thousands does not read them. */
const MAX_PROBLEMS = 50;
const MAX_SHOWN_CHARS = 200;
const PROTO = '__proto__';

/** An object of parsed JSON. */
export type JsonFields = { readonly [key: string]: unknown };

/** Whether parsed JSON is an object. */
export function isJsonObject(value: unknown): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a JSON value is an object, for those who go on with it as JSON. */
export function isJsonValueObject(value: JsonValue | undefined): value is JsonObject {
  return isJsonObject(value);
}

function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[…]' : '{…}';
  const text = typeof value === 'string' ? value : String(value);
  return text.slice(0, MAX_SHOWN_CHARS).replaceAll(/\p{Surrogate}|\0/gu, '\ufffd');
}

/** Notes a problem with the value shortened. */
export function note({ problems }: Check, path: string, value: unknown, fault: NonNullable<Fault>): void {
  if (problems.length < MAX_PROBLEMS) problems.push({ path, value: shown(value), ...fault });
}

/** Whether an object in the value has a field named __proto__: read into plain objects it would vanish. */
export function hasProto(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, item]) => key === PROTO || hasProto(item));
}

function checkFreeJson(check: Check, value: unknown, path: string): void {
  const found = checkJson(value, path);
  if (found.length > 0) {
    check.problems.push(...found.slice(0, MAX_PROBLEMS - check.problems.length));
  } else if (hasProto(value)) {
    const problem = 'an object has a field named __proto__';
    note(check, path, PROTO, { problem, remedy: 'Give the field another name.' });
  }
}

/** Timestamps, durations and their like are texts or numbers: protobuf-es says whether they can be read. */
function checkByReading(check: Check, desc: DescMessage, value: unknown, path: string): void {
  try {
    fromJson(desc, plainText(value), { registry: check.registry });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const remedy = REMEDIES.get(desc.typeName) ?? 'Send its canonical JSON form.';
    note(check, path, value, { problem: `is no ${desc.name}: ${reason.slice(0, MAX_SHOWN_CHARS)}`, remedy });
  }
}

const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['google.protobuf.Timestamp', 'Send it as "2026-01-31T12:00:00Z".'],
  ['google.protobuf.Duration', 'Send it in seconds: "1.5s".'],
  ['google.protobuf.FieldMask', 'Send the names separated by commas.'],
]);

/** What is neither text, number nor truth cannot be one of them: reading null says so. */
function plainText(value: unknown): JsonValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

const WELL_KNOWN = 'google.protobuf.';

function checkWellKnown(check: Check, desc: DescMessage, value: unknown, path: string): void {
  if (desc.typeName === `${WELL_KNOWN}Value`) return checkFreeJson(check, value, path);
  const isStruct = desc.typeName === `${WELL_KNOWN}Struct`;
  if (isStruct && !isJsonObject(value)) {
    return note(check, path, value, { problem: 'is not an object', remedy: 'Send an object in braces.' });
  }
  if (desc.typeName === `${WELL_KNOWN}ListValue` && !Array.isArray(value)) {
    return note(check, path, value, { problem: 'is not a list', remedy: 'Send a list in brackets.' });
  }
  if (isStruct || desc.typeName === `${WELL_KNOWN}ListValue`) return checkFreeJson(check, value, path);
  return checkByReading(check, desc, value, path);
}

/** One value of a field: the field itself, an item of its list, or a value of its map. */
function checkOne(check: Check, field: DescField, value: unknown, path: string): void {
  const { message, enum: enumeration, scalar } = field;
  if (message !== undefined) return checkMessage(check, message, value, path);
  const fault = enumeration === undefined ? scalarFault(scalar, value) : enumFault(enumeration, value);
  if (fault !== undefined) note(check, path, value, fault);
}

/** Checks the value of a field. null says that it is absent, except where null is a value of its own. */
export function checkField(check: Check, field: DescField, value: unknown, path: string): void {
  if (check.problems.length >= MAX_PROBLEMS) return;
  if (value === null && field.message?.typeName !== `${WELL_KNOWN}Value`) return;
  if (field.fieldKind === 'list') {
    if (!Array.isArray(value)) {
      return note(check, path, value, { problem: 'is not a list', remedy: 'Send a list in brackets.' });
    }
    for (const [index, item] of value.entries()) checkOne(check, field, item, `${path}[${index}]`);
    return;
  }
  if (field.fieldKind !== 'map') return checkOne(check, field, value, path);
  if (!isJsonObject(value)) {
    return note(check, path, value, { problem: 'is not an object', remedy: 'Send an object in braces.' });
  }
  for (const [key, item] of Object.entries(value)) {
    const at = fieldPath(path, key);
    const fault: Fault =
      key === PROTO
        ? { problem: 'has the name __proto__', remedy: 'Name it otherwise.' }
        : scalarFault(field.mapKey, key);
    if (fault === undefined) checkOne(check, field, item, at);
    else note(check, at, key, fault);
  }
}

/** The field of a message by its name, or by the lowerCamelCase form that other clients write. */
export function fieldNamed(desc: DescMessage, name: string): DescField | undefined {
  return desc.fields.find((field) => field.name === name || field.jsonName === name);
}

/** What is wrong with a name that is none of the message's fields. */
export function unknownField(desc: DescMessage, name: string): NonNullable<Fault> {
  const names = desc.fields.map((field) => field.name);
  const known = names.length === 0 ? 'It takes no fields.' : `Its fields are ${names.join(', ')}.`;
  return { problem: `is no field of ${desc.name}`, remedy: didYouMean(name, names).trim() || known };
}

function checkFields(check: Check, desc: DescMessage, fields: JsonFields, path: string): void {
  const seen = new Map<string, string>();
  for (const [name, value] of Object.entries(fields)) {
    const at = fieldPath(path, name);
    const field = fieldNamed(desc, name);
    if (field === undefined) {
      note(check, at, value, unknownField(desc, name));
      continue;
    }
    // A oneof has one member; a field written in both of its forms is written twice.
    const slot = field.oneof?.name ?? field.name;
    const earlier = value === null ? undefined : seen.get(slot);
    if (earlier !== undefined) {
      note(check, at, value, { problem: `stands beside ${earlier}`, remedy: 'Send one of them.' });
    }
    if (value !== null) seen.set(slot, name);
    checkField(check, field, value, at);
  }
}

/**
 * Checks the JSON of a message.
 *
 * @param path where it stands in the request; '' for the whole
 */
export function checkMessage(check: Check, desc: DescMessage, value: unknown, path: string): void {
  if (check.problems.length >= MAX_PROBLEMS) return;
  if (desc.typeName.startsWith(WELL_KNOWN)) return checkWellKnown(check, desc, value, path);
  if (isJsonObject(value)) return checkFields(check, desc, value, path);
  note(check, path, value, { problem: 'is not an object', remedy: 'Send an object in braces.' });
}
