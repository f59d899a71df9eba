/**
 * Messages between JSON and bytes: canonical protobuf JSON by protobuf-es, with the names of the contract and with
 * every implicit field written. What comes in is checked first: a caller hears of everything that is wrong at once.
 */
import { fromBinary, fromJson, toBinary, toJson, type DescMessage, type JsonValue } from '@bufbuild/protobuf';
import type { Registry } from '@bufbuild/protobuf';
import { DuctorError, type Problem } from '../../kernel/index.js';
import { MAX_MESSAGE_BYTES, messageTooLarge } from '../grpc/message-size.js';
import { checkMessage, note, type Check } from './check-message.js';

/** Messages may nest so deep: JSON may be 64 deep, and each level of it is three messages (Value, Struct, entry). */
const recursionLimit = 256;

/** Throws invalid_argument with all problems, when there are any. */
export function refuse(problems: readonly Problem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length > 1 ? ` and ${problems.length - 1} more problems` : '';
  const where = first.path === '' ? 'the request' : first.path;
  throw new DuctorError('invalid_argument', `${where} ${first.problem}${more}`, {
    details: problems,
    remedy: first.remedy,
  });
}

/** A message out of JSON that was checked. Throws invalid_argument, message_too_large. */
export function encodeChecked(registry: Registry, desc: DescMessage, json: JsonValue): Uint8Array {
  const bytes = toBinary(desc, readChecked(registry, desc, json));
  if (bytes.length > MAX_MESSAGE_BYTES) throw messageTooLarge(bytes.length);
  return bytes;
}

function readChecked(registry: Registry, desc: DescMessage, json: JsonValue): ReturnType<typeof fromJson> {
  try {
    return fromJson(desc, json, { registry, ignoreUnknownFields: false, recursionLimit });
  } catch (error) {
    // The check knows the rules of the library; should it have missed one, the caller still hears which.
    const check: Check = { registry, problems: [] };
    const problem = `is not acceptable: ${error instanceof Error ? error.message : String(error)}`;
    note(check, '', '', { problem, remedy: 'Send canonical protobuf JSON.' });
    refuse(check.problems);
    throw error;
  }
}

/** Checks JSON and reads the message out of it. Throws invalid_argument with all problems, message_too_large. */
export function encodeMessage(registry: Registry, desc: DescMessage, json: JsonValue): Uint8Array {
  const check: Check = { registry, problems: [] };
  checkMessage(check, desc, json, '');
  refuse(check.problems);
  return encodeChecked(registry, desc, json);
}

/** The JSON text of a message. */
export function decodeMessage(registry: Registry, desc: DescMessage, bytes: Uint8Array): string {
  const message = fromBinary(desc, bytes, { recursionLimit });
  return JSON.stringify(toJson(desc, message, { registry, alwaysEmitImplicit: true, useProtoFieldName: true }));
}
