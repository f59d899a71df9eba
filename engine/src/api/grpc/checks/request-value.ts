/** A value of a request: JSON, or the bytes that the caller encoded. */
import { plainJson } from '../../../bridge/index.js';
import type { Payload } from '../../../gen/ductor/v1/common.js';
import { checkJson, DuctorError } from '../../../kernel/index.js';
import { hasProto } from '../../json/check-message.js';
import { jsonOfValue, jsonValue, MAX_VALUE_BYTES, NULL_VALUE, type Value } from '../ports.js';
import { FieldChecks, MAX_IDENTIFIER_CHARS } from './field-checks.js';

/** A value with, where it is JSON, what it says. */
export interface RequestValue {
  readonly value: Value;
  /** undefined: not JSON. */
  readonly json: unknown;
}

/** What the request calls the two forms of the value. */
export interface ValueFields {
  readonly json: string;
  readonly bytes: string;
}

/** JSON, with its types if it has some; undefined for another encoding. Throws invalid_argument. */
function parsed(value: Value, path: string): ReturnType<typeof jsonOfValue> {
  try {
    return jsonOfValue(value);
  } catch (error) {
    const problem = `is not JSON: ${error instanceof Error ? error.message : 'unreadable'}`;
    const details = [{ path, value: '', problem, remedy: 'send UTF-8 JSON, or name the encoding' }];
    throw new DuctorError('invalid_argument', `${path} ${problem}`, { details });
  }
}

function checkSize({ data }: Value, what: string): void {
  if (data.length <= MAX_VALUE_BYTES) return;
  throw new DuctorError(
    'value_too_large',
    `the ${what} has ${data.length} bytes, at most ${MAX_VALUE_BYTES} are allowed`,
  );
}

/**
 * The value of a request; JSON null when there is none.
 *
 * @param json as JSON; absent: not there
 * @param bytes as encoded by the caller; absent: not there
 * @throws DuctorError invalid_argument, value_too_large
 */
export function requestValue(json: unknown, bytes: Payload | undefined, fields: ValueFields): RequestValue {
  if (bytes !== undefined) {
    const checks = new FieldChecks();
    if (json !== undefined) checks.note(fields.bytes, '', `stands beside ${fields.json}`, 'send one of them');
    checks.text(`${fields.bytes}.encoding`, bytes.encoding, MAX_IDENTIFIER_CHARS);
    checks.done();
    const value = { data: bytes.data, encoding: bytes.encoding || 'json' };
    checkSize(value, fields.json);
    const read = parsed(value, `${fields.bytes}.data`);
    if (read === undefined) return { value, json: undefined };
    checks.add(checkJson(read.json, fields.json));
    if (hasProto(read.json)) {
      const problem = 'an object has a field named __proto__';
      checks.note(fields.json, '__proto__', problem, 'give the field another name');
    }
    checks.done();
    return { value, json: read.types.length === 0 ? read.json : read };
  }
  if (json === undefined) return { value: NULL_VALUE, json: null };
  const plain = plainJson(json, fields.json);
  const value = jsonValue(plain);
  checkSize(value, fields.json);
  return { value, json: plain };
}
