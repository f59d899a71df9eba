/**
 * JSON with types, the encoding "json-typed" of the SDKs: `{"json": …, "types": [[path, type], …]}`, outer parts
 * before inner ones. The engine passes such values on as they are. People and schemas see `json`; expressions see more
 * of it.
 */
import { DuctorError } from '../../kernel/index.js';
import { jsonValue, type Value } from './value.js';

/** Name of the encoding. */
export const TYPED_ENCODING = 'json-typed';

/** Type of a part that was encoded by itself: its JSON is `{"encoding": …, "data": base64}`. */
const ENCODED = 'encoded';

/** Before the name of an app's own codec: what follows it nobody but the app can read. */
export const CODEC_PREFIX = 'codec/';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const MAX_INT = 2n ** 63n - 1n;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as JSON if it says that it is one, else undefined. Throws, of whatever class, for bytes that are not. */
export function jsonOfValue(value: Value): TypedJson | undefined {
  const isTyped = value.encoding === TYPED_ENCODING;
  if (!isTyped && value.encoding !== 'json' && value.encoding !== '') return undefined;
  const parsed: unknown = JSON.parse(UTF8.decode(value.data));
  if (!isTyped) return { json: parsed, types: [] };
  if (!isObject(parsed) || !('json' in parsed) || !Array.isArray(parsed['types'])) {
    throw new DuctorError('invalid_argument', `${TYPED_ENCODING} is an object of json and types`);
  }
  return { json: parsed['json'], types: parsed['types'] };
}

/** A whole number as all JSON numbers are, a double, where it is one exactly; else an int, else its text. */
function intOf(value: unknown): unknown {
  if (typeof value !== 'string' || !/^-?\d{1,19}$/.test(value)) return value;
  const int = BigInt(value);
  const double = Number(int);
  if (Number.isSafeInteger(double)) return double;
  return int <= MAX_INT && int >= -MAX_INT - 1n ? int : value;
}

function mapOf(value: unknown): unknown {
  const pairs: readonly unknown[] = Array.isArray(value) ? value : [];
  const isNamed = pairs.every((pair) => Array.isArray(pair) && typeof pair[0] === 'string');
  return isNamed ? Object.fromEntries(pairs.filter((pair) => Array.isArray(pair))) : value;
}

/** What expressions see of a part. Of a type they have nothing for they see its JSON. */
function viewOf(type: unknown, value: unknown): unknown {
  switch (type) {
    case 'bigint':
      return intOf(value);
    case 'number':
      return Number(value);
    case 'Map':
      return mapOf(value);
    default:
      return value;
  }
}

function put(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

/**
 * What expressions see of typed JSON, as templates make it, too: a bigint is a number, NaN and infinities are
 * doubles, a Map by texts is a map, any other a list of pairs, a Set a list, an Error a map of its fields, a Date
 * RFC 3339 text, bytes base64, undefined null.
 *
 * Changes `json` in place; parts that are not there are passed over.
 */
export function expressionView(json: unknown, types: readonly unknown[]): unknown {
  const root = { json };
  for (const mark of types.toReversed()) {
    const [path, type]: readonly unknown[] = Array.isArray(mark) ? mark : [];
    if (!Array.isArray(path)) continue;
    let parent: unknown = root;
    let key = 'json';
    for (const part of path) {
      if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, key)) break;
      parent = Reflect.get(parent, key);
      key = String(part);
    }
    if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, key)) continue;
    put(parent, key, viewOf(type, Reflect.get(parent, key)));
  }
  return root.json;
}

/** The JSON of a typed value, as text in bytes; undefined when it is none. */
function typedJson(value: Value): Uint8Array | undefined {
  try {
    const found = value.encoding === TYPED_ENCODING ? jsonOfValue(value) : undefined;
    return found === undefined ? undefined : Buffer.from(JSON.stringify(found.json), 'utf8');
  } catch {
    return undefined;
  }
}

/** A value as JSON text in bytes: what JSON has of it, or else its encoding and its bytes in base64. */
export function asJson(value: Value): Uint8Array {
  if (value.encoding === 'json') return value.data;
  const typed = typedJson(value);
  if (typed !== undefined) return typed;
  const data = Buffer.from(value.data.buffer, value.data.byteOffset, value.data.byteLength).toString('base64');
  return Buffer.from(JSON.stringify({ encoding: value.encoding, data }), 'utf8');
}

/** JSON with what its parts were. */
export interface TypedJson {
  readonly json: unknown;
  readonly types: readonly unknown[];
}

/** What a part was: its path, outer fields first, and its type. */
type Mark = readonly [path: readonly unknown[], type: unknown];

/** A mark of an SDK; one that is none is of a type that nobody knows, at the root. */
function markOf(mark: unknown): Mark {
  const [path, type]: readonly unknown[] = Array.isArray(mark) ? mark : [];
  return [Array.isArray(path) ? path : [], type];
}

/** A value as a part of another: its JSON and its types, or encoded by itself where it has no JSON. */
export function embedded(value: Value, part: string | number): TypedJson {
  const found = jsonOfValue(value);
  if (found === undefined) {
    const data = Buffer.from(value.data).toString('base64');
    return { json: { encoding: value.encoding, data }, types: [[[part], ENCODED]] };
  }
  const types = found.types.map((mark) => {
    const [path, type] = markOf(mark);
    return [[part, ...path], type];
  });
  return { json: found.json, types };
}

/** Types of an item of a list; none of one that says of itself that it is typed, and is not. */
function typesOfItem(item: Value, index: number): readonly unknown[] {
  try {
    return item.encoding === 'json' ? [] : embedded(item, index).types;
  } catch {
    return [];
  }
}

/**
 * Values as one list, in which each of them stays what it was; plain JSON where all of them are.
 *
 * @param items are joined as bytes: those of plain JSON are not parsed
 */
export function listOfValues(items: readonly Value[]): Value {
  const types = items.flatMap(typesOfItem);
  const parts = items.flatMap((item, index) => (index === 0 ? [asJson(item)] : [COMMA, asJson(item)]));
  const list = [Buffer.from('['), ...parts, Buffer.from(']')];
  if (types.length === 0) return { data: Buffer.concat(list), encoding: 'json' };
  const tail = Buffer.from(`,"types":${JSON.stringify(types)}}`, 'utf8');
  return { data: Buffer.concat([Buffer.from('{"json":'), ...list, tail]), encoding: TYPED_ENCODING };
}

const COMMA = Buffer.from(',');

/** The items of a typed value that expressions see as a list, each as what it was; null when it is none. */
export function itemsOfTyped(value: Value): readonly Value[] | null {
  let found: TypedJson | undefined;
  try {
    found = value.encoding === TYPED_ENCODING ? jsonOfValue(value) : undefined;
  } catch {
    return null;
  }
  if (found === undefined) return null;
  const types = new Map<unknown, Mark[]>();
  let list = found.json;
  for (const [path, type] of found.types.map(markOf)) {
    const [index, ...rest] = path;
    if (path.length === 0) list = viewOf(type, list);
    else types.set(index, (types.get(index) ?? []).concat([[rest, type]]));
  }
  return Array.isArray(list) ? list.map((item: unknown, index) => partOf(item, types.get(index) ?? [])) : null;
}

/** A part that was embedded, by itself. */
function partOf(part: unknown, types: readonly Mark[]): Value {
  const isEncoded = types.some(([path, type]) => path.length === 0 && type === ENCODED);
  if (!isEncoded || !isObject(part)) return typedValue({ json: part, types });
  return { data: Buffer.from(String(part['data']), 'base64'), encoding: String(part['encoding']) };
}

/** Typed JSON as bytes. */
export function typedValue({ json, types }: TypedJson): Value {
  if (types.length === 0) return jsonValue(json);
  return { data: Buffer.from(JSON.stringify({ json, types }), 'utf8'), encoding: TYPED_ENCODING };
}

/** The value that `embedded` put into a field; JSON null where there is none. */
export function extracted({ json, types }: TypedJson, field: string): Value {
  const part = isObject(json) && Object.hasOwn(json, field) ? json[field] : null;
  const marks = types.map(markOf).filter(([path]) => path[0] === field);
  return partOf(
    part,
    marks.map(([path, type]) => [path.slice(1), type]),
  );
}
