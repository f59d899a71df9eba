/** A partial update as a JSON Merge Patch (RFC 7396), out of a message and the mask that says what of it counts. */
import { DuctorError } from '../../../kernel/index.js';
import { isJsonObject, type JsonFields } from '../../json/check-message.js';

const PATH = /(?:^|\.)(?:`((?:[^`]|``)*)`|([^.`]+))/gy;
const MAX_PATHS = 500;

function badMask(path: string, problem: string, remedy: string): DuctorError {
  const details = [{ path: 'update_mask', value: path.slice(0, 200), problem, remedy }];
  return new DuctorError('invalid_argument', `update_mask: ${problem}`, { details, remedy });
}

/** The names of a path: `config.default_timeout`, attributes.`a key`. Throws invalid_argument. */
function namesOf(path: string): readonly string[] {
  const names: string[] = [];
  let end = 0;
  for (const match of path.matchAll(PATH)) {
    names.push(match[1]?.replaceAll('``', '`') ?? match[2] ?? '');
    end = match.index + match[0].length;
  }
  if (names.length > 0 && end === path.length && !path.startsWith('.')) return names;
  throw badMask(path, 'is no path of a field', 'Name fields with dots between them: config.default_timeout.');
}

function valueAt(json: JsonFields, names: readonly string[]): unknown {
  let value: unknown = json;
  for (const name of names) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function put(patch: Map<string, unknown>, names: readonly string[], value: unknown): void {
  const [name = '', ...rest] = names;
  if (rest.length === 0) {
    patch.set(name, value);
    return;
  }
  const known = patch.get(name);
  const inner = known instanceof Map ? (known as Map<string, unknown>) : new Map<string, unknown>();
  patch.set(name, inner);
  put(inner, rest, value);
}

function plain(value: unknown): unknown {
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...value].map(([key, inner]): [unknown, unknown] => [key, plain(inner)]));
}

/**
 * The patch: what the mask names, with the values of the message; null where the message has none, which clears.
 * Throws invalid_argument for a mask that is empty or no list of paths.
 *
 * @param message what is set in the message, as JSON
 */
export function patchOf(message: JsonFields, mask: readonly string[] | undefined): unknown {
  const paths = (mask ?? []).filter((path) => path !== '');
  if (paths.length === 0) throw badMask('', 'is empty', 'Name the fields that change; in REST, send some.');
  if (paths.length > MAX_PATHS) throw badMask('', `has more than ${MAX_PATHS} paths`, 'Name fewer.');
  const patch = new Map<string, unknown>();
  for (const path of paths) {
    const names = namesOf(path);
    put(patch, names, valueAt(message, names) ?? null);
  }
  return plain(patch);
}
