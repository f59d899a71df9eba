/** The JSON body of a request, out of a file and of options. */
import { DuctorError } from '../kernel/index.js';
import { parseJson } from './output/message-json.js';
import { readText } from './read-text.js';

/** Fields by their names in the contract. */
export type Fields = Readonly<Record<string, unknown>>;

/** A body, and where it came from, for messages. */
export interface Body {
  readonly fields: Fields;
  readonly where: string;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withValue(fields: Fields, [name = '', ...rest]: readonly string[], value: unknown): Fields {
  if (rest.length === 0) return { ...fields, [name]: value };
  const inner = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return { ...fields, [name]: withValue(isFields(inner) ? inner : {}, rest, value) };
}

function fileFields(file: string, where: string): Fields {
  const json = parseJson(readText(file), where);
  if (isFields(json)) return json;
  throw new DuctorError('invalid_argument', `${where} holds no JSON object`, {
    remedy: 'Write its fields between { and }.',
  });
}

/**
 * The body: what stands in the file, and what options say; options win.
 *
 * @param file a JSON object; `-` is standard input
 * @param options values by path: `capacity.max_concurrent`. Undefined ones are left out
 * @throws invalid_argument for a file that cannot be read
 */
export function bodyOf(file: string | undefined, options: Fields): Body {
  const where = file === '-' ? 'standard input' : (file ?? 'the command');
  const start = file === undefined ? {} : fileFields(file, where);
  const said = Object.entries(options).filter(([, value]) => value !== undefined);
  return { where, fields: said.reduce((fields, [path, value]) => withValue(fields, path.split('.'), value), start) };
}

/** Like bodyOf, for a change. Throws invalid_argument when it changes nothing. */
export function changedBody(file: string | undefined, options: Fields, example: string): Body {
  const body = bodyOf(file, options);
  if (Object.keys(body.fields).length > 0) return body;
  throw new DuctorError('invalid_argument', 'nothing is to change', {
    remedy: `Say what, for example ${example}, or give a --file.`,
  });
}
