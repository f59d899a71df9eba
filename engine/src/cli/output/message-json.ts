/**
 * Messages as JSON: the very JSON that the REST door speaks, so that what a command prints can be sent, and the other
 * way round. Read when needed only: most commands print for people.
 */
import { DuctorError } from '../../kernel/index.js';

/** Encodes a message, as the generated code does. */
interface Encoder<T> {
  encode(message: T): { finish(): Uint8Array };
}

/** Decodes a message, as the generated code does. */
interface Decoder<T> {
  decode(bytes: Uint8Array): T;
}

/**
 * A message as JSON text on one line.
 *
 * @param name of the message in package ductor.v1
 */
export async function messageToJson<T>(name: string, encoder: Encoder<T>, message: T): Promise<string> {
  const { contractJson } = await import('../../api/index.js');
  return contractJson().decode(name, encoder.encode(message).finish());
}

/**
 * JSON text as a message. Unknown fields are refused.
 *
 * @param where the text came from, for messages
 * @throws invalid_argument with everything that is wrong
 */
export async function messageFromJson<T>(name: string, decoder: Decoder<T>, text: string, where: string): Promise<T> {
  const { contractJson } = await import('../../api/index.js');
  const json: unknown = parseJson(text, where);
  try {
    const value: Parameters<ReturnType<typeof contractJson>['encode']>[1] = JSON.parse(JSON.stringify(json));
    return decoder.decode(contractJson().encode(name, value));
  } catch (caught) {
    const { code, details, remedy } = DuctorError.from(caught);
    const count = details.length === 1 ? '1 problem' : `${details.length} problems`;
    throw new DuctorError(code, `${where} has ${count}`, { details, remedy, cause: caught });
  }
}

/**
 * A partial update out of JSON: the message, and the paths of what the JSON names. Null clears.
 *
 * @param name of the message in package ductor.v1
 * @throws invalid_argument with everything that is wrong
 */
export async function changeFromJson<T>(
  name: string,
  decoder: Decoder<T>,
  text: string,
  where: string,
): Promise<{ readonly message: T; readonly updateMask: string[] }> {
  const { contractJson } = await import('../../api/index.js');
  const message = await messageFromJson(name, decoder, text, where);
  const value: Parameters<ReturnType<typeof contractJson>['encode']>[1] = JSON.parse(text);
  return { message, updateMask: [...contractJson().paths(name, value)] };
}

/** Parses JSON. Throws invalid_argument saying where it came from and what is wrong. */
export function parseJson(text: string, where: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch (cause) {
    const problem = `is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new DuctorError('invalid_argument', `${where} ${problem}`, {
      details: [{ path: where, value: text.slice(0, 60), problem, remedy: 'Mend the JSON.' }],
      remedy: 'Mend the JSON.',
      cause,
    });
  }
}
