/** The message of a REST request out of its path, query and body, as google.api.http says. */
import type { DescField, DescMessage, JsonObject, JsonValue, Registry } from '@bufbuild/protobuf';
import {
  checkField,
  checkMessage,
  fieldNamed,
  isJsonObject,
  isJsonValueObject,
  note,
  type Check,
  type JsonFields,
} from '../json/check-message.js';
import { encodeChecked, refuse } from '../json/codec.js';
import { impossible } from '../../kernel/index.js';
import { putText } from './put-field.js';
import { readQuery } from './query.js';
import type { Route } from './router.js';
import { maskBytes, maskedKeys } from './update-mask.js';

/** What came. */
export interface RestParts {
  /** Texts of the path's variables, in order. */
  readonly values: readonly string[];
  readonly query: string;
  /** Parsed; undefined when there was none. */
  readonly body: JsonValue | undefined;
}

/** Looks for values in the body for what the path fills: the same is fine, another one is a problem. */
function checkOverlap(check: Check, desc: DescMessage, fromPath: JsonObject, body: JsonFields): void {
  for (const [name, text] of Object.entries(fromPath)) {
    const field = fieldNamed(desc, name);
    const written = field === undefined ? undefined : (body[field.name] ?? body[field.jsonName]);
    if (written === undefined || written === null || written === text || written === '') continue;
    note(check, name, written, { problem: 'differs from the path', remedy: 'Leave it out of the body.' });
  }
}

function without(desc: DescMessage, body: JsonObject, names: readonly string[]): JsonObject {
  const kept = Object.entries(body).filter(([key]) => !names.includes(fieldNamed(desc, key)?.name ?? key));
  return Object.fromEntries(kept);
}

function bodyField(route: Route): DescField | undefined {
  const { body } = route.binding;
  if (body === '' || body === '*') return undefined;
  const { input, path } = route.method;
  return input.fields.find(({ name }) => name === body) ?? impossible('http-rule-body', `${path} has no field ${body}`);
}

/** The query's and the path's part of the request. */
function addressed(check: Check, route: Route, { values, query }: RestParts): { path: JsonObject; query: JsonObject } {
  const { input } = route.method;
  const found = { path: {}, query: {} };
  for (const [index, name] of route.variables.entries()) putText(check, input, found.path, name, values[index] ?? '');
  for (const [name, text] of readQuery(check, query)) {
    const [first = ''] = name.split(/[.[]/);
    const field = fieldNamed(input, first)?.name ?? first;
    const isBound = route.binding.body === '*' || field === route.binding.body || field in found.path;
    if (isBound) {
      const remedy = field in found.path ? 'It stands in the path.' : 'Send it in the body.';
      note(check, name, text, { problem: 'is no parameter of this path', remedy });
    } else putText(check, input, found.query, name, text);
  }
  return found;
}

/**
 * The bytes of the request's message.
 *
 * Throws invalid_argument with everything that is wrong, message_too_large.
 */
export function restMessage(registry: Registry, route: Route, parts: RestParts): Uint8Array {
  const { input } = route.method;
  const { binding } = route;
  const check: Check = { registry, problems: [] };
  const { path, query } = addressed(check, route, parts);
  checkMessage(check, input, { ...query, ...path }, '');
  const field = bodyField(route);
  const { body } = parts;
  let json: JsonObject = { ...query, ...path };
  if (binding.body === '*') {
    checkMessage(check, input, body === undefined ? {} : body, '');
    if (isJsonValueObject(body)) {
      checkOverlap(check, input, path, body);
      json = { ...without(input, body, Object.keys(path)), ...path };
    }
  } else if (field !== undefined && body !== undefined) {
    checkField(check, field, body, '');
    json = { ...json, [field.name]: body };
  } else if (!isEmpty(body)) {
    note(check, '', body, { problem: 'has a body', remedy: 'Send no body; this path takes none.' });
  }
  refuse(check.problems);
  const bytes = encodeChecked(registry, input, json);
  const mask = binding.verb === 'PATCH' ? maskedKeys(route, body, json) : undefined;
  // Messages are joined by joining their bytes.
  return mask === undefined ? bytes : Buffer.concat([bytes, maskBytes(mask)]);
}

function isEmpty(body: JsonValue | undefined): boolean {
  return body === undefined || (isJsonObject(body) && Object.keys(body).length === 0);
}
