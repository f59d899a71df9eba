/** Bytes of a body as JSON. */
import type { JsonValue } from '@bufbuild/protobuf';
import { DuctorError } from '../../kernel/index.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function notJson(problem: string, remedy: string): DuctorError {
  return new DuctorError('invalid_argument', `the body ${problem}`, {
    details: [{ path: '', value: '', problem: `the body ${problem}`, remedy }],
    remedy,
  });
}

/** Parses a body; an empty one is an empty object. Throws invalid_argument. */
export function parseJson(body: Uint8Array): JsonValue {
  if (body.length === 0) return {};
  let text: string;
  try {
    text = UTF8.decode(body);
  } catch {
    throw notJson('is not UTF-8', 'Encode the JSON as UTF-8.');
  }
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw notJson(`is not JSON: ${reason.replaceAll('\0', '\ufffd').slice(0, 200)}`, 'Mend the JSON.');
  }
}
