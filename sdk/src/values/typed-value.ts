/**
 * Values as bytes, and back as what they were. A value that is plain JSON travels as JSON. One that holds more (a Date,
 * a bigint, a Map, …) travels as `{"json": …, "types": [[path, type], …]}` in the encoding "json-typed": `json` is what
 * programs without this codec read, `types` what parts of it were, each by its path, outer parts before inner ones.
 *
 * What would change on its way without a word is refused: functions, symbols, instances of classes, circles.
 */
import { types } from 'node:util';
import { DuctorError } from '../errors.js';

/** Name of the encoding of values that are more than JSON. */
export const TYPED_ENCODING = 'json-typed';

/** Types beside those of JSON. `number` is NaN, an infinity or -0. */
type TypeTag = 'Date' | 'bigint' | 'number' | 'undefined' | 'Map' | 'Set' | 'Uint8Array' | 'Error';

type Path = readonly (string | number)[];
type Mark = readonly [path: Path, type: TypeTag];

/** One walk over a value. */
interface Walk {
  readonly what: string;
  readonly marks: Mark[];
  /** Objects the walk is inside of. */
  readonly inside: Set<object>;
}

/** Deepest nesting: the engine takes no deeper JSON. */
const DEPTH_MAX = 64;
const HALF_PAIR = /\p{Surrogate}/u;
const PLAIN_DATA = 'pass plain data, Date, bigint, Map, Set, Uint8Array or Error; turn anything else into one of them';

function at(path: Path): string {
  const parts = path.map((part) =>
    typeof part === 'string' && /^[A-Za-z_$][\w$]*$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`,
  );
  return parts.length === 0 ? '' : ` at ${parts.join('').replace(/^\./, '')}`;
}

/** Throws. The code is the engine's where the engine would refuse it, too. */
function refuse(walk: Walk, path: Path, problem: string, remedy: string, code = 'value_not_json'): never {
  const [root = ''] = walk.what.split(' ');
  const inside = at(path).slice(' at '.length);
  const place = inside === '' || inside.startsWith('[') ? `${root}${inside}` : `${root}.${inside}`;
  const details = [{ path: place, value: '', problem, remedy }];
  throw new DuctorError(code, `${walk.what} ${problem}${at(path)}`, { remedy, details });
}

function text(walk: Walk, path: Path, value: string): string {
  if (value.includes('\0')) refuse(walk, path, 'holds a NUL character', 'remove it', 'invalid_argument');
  if (HALF_PAIR.test(value)) {
    refuse(walk, path, 'holds half of a surrogate pair', 'use whole characters', 'invalid_argument');
  }
  return value;
}

function number(walk: Walk, path: Path, value: number): unknown {
  if (Number.isFinite(value) && !Object.is(value, -0)) return value;
  walk.marks.push([path, 'number']);
  return Object.is(value, -0) ? '-0' : String(value);
}

function fields(walk: Walk, path: Path, value: object, names: readonly string[]): { [key: string]: unknown } {
  const entries: [string, unknown][] = [];
  for (const name of names) {
    const field: unknown = Reflect.get(value, name);
    // A field that is undefined is one that is absent: so it is in JSON, in types and when it is read.
    if (field === undefined) continue;
    const inner = [...path, name];
    entries.push([text(walk, inner, name), json(walk, inner, field)]);
  }
  return Object.fromEntries(entries);
}

function list(walk: Walk, path: Path, items: Iterable<unknown>): unknown[] {
  return Array.from(items, (item, index) => {
    const inner = [...path, index];
    if (item !== undefined) return json(walk, inner, item);
    walk.marks.push([inner, 'undefined']);
    return null;
  });
}

/** What is known of a class by its objects. */
function className(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof prototype !== 'object' || prototype === null) return 'Object';
  const made: unknown = Reflect.get(prototype, 'constructor');
  return typeof made === 'function' && made.name !== '' ? made.name : 'a class without a name';
}

/** Own fields of an error that JSON-like data would show, and the four that every error has. */
function errorFields(walk: Walk, path: Path, error: object): { [key: string]: unknown } {
  const names = new Set(['name', 'message', 'stack', 'cause', ...Object.keys(error)]);
  return fields(walk, path, error, [...names]);
}

function special(walk: Walk, path: Path, value: object): unknown {
  const mark = (type: TypeTag): void => void walk.marks.push([path, type]);
  if (types.isNativeError(value)) {
    mark('Error');
    return errorFields(walk, path, value);
  }
  const name = className(value);
  if (types.isDate(value) && name === 'Date') {
    mark('Date');
    return Number.isNaN(value.getTime()) ? null : value.toISOString();
  }
  if (types.isMap(value) && name === 'Map') {
    mark('Map');
    return list(walk, path, value);
  }
  if (types.isSet(value) && name === 'Set') {
    mark('Set');
    return list(walk, path, value);
  }
  if (types.isUint8Array(value) && (name === 'Uint8Array' || name === 'Buffer')) {
    mark('Uint8Array');
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || (name === 'Object' && Object.getPrototypeOf(prototype) === null);
  if (!isPlain) refuse(walk, path, `holds an instance of ${name}`, PLAIN_DATA);
  if (Object.getOwnPropertySymbols(value).length > 0) refuse(walk, path, 'has a field named by a symbol', PLAIN_DATA);
  return fields(walk, path, value, Object.keys(value));
}

function json(walk: Walk, path: Path, value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      return text(walk, path, value);
    case 'number':
      return number(walk, path, value);
    case 'boolean':
      return value;
    case 'bigint':
      walk.marks.push([path, 'bigint']);
      return value.toString();
    case 'object': {
      if (value === null) return null;
      if (walk.inside.has(value)) refuse(walk, path, 'refers to itself', 'pass ids instead of objects');
      if (path.length >= DEPTH_MAX) {
        refuse(walk, path, `is nested deeper than ${DEPTH_MAX}`, 'flatten it', 'invalid_argument');
      }
      walk.inside.add(value);
      const found = Array.isArray(value) ? list(walk, path, value) : special(walk, path, value);
      walk.inside.delete(value);
      return found;
    }
    default:
      return refuse(walk, path, `holds a ${typeof value}`, PLAIN_DATA);
  }
}

/** A value as bytes with the name of their encoding, "" for JSON. */
export interface EncodedValue {
  readonly data: Buffer;
  readonly encoding: string;
}

/**
 * A value as bytes; undefined becomes null.
 *
 * @param what names the value in errors: "output of step score"
 * Throws DuctorError value_not_json, naming the path, for what could not come back as it is, and invalid_argument for
 * what the engine refuses.
 */
export function encodeValue(value: unknown, what: string): EncodedValue {
  const walk: Walk = { what, marks: [], inside: new Set() };
  const plain = json(walk, [], value ?? null);
  if (walk.marks.length === 0) return { data: Buffer.from(JSON.stringify(plain), 'utf8'), encoding: '' };
  const data = Buffer.from(JSON.stringify({ json: plain, types: walk.marks }), 'utf8');
  return { data, encoding: TYPED_ENCODING };
}

const ERRORS: ReadonlyMap<string, new (message: string) => Error> = new Map(
  [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((made) => [made.name, made]),
);

function put(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

function errorOf(parts: { [key: string]: unknown }): Error {
  const { name, message, stack, cause, ...rest } = parts;
  const Made = ERRORS.get(String(name)) ?? Error;
  const error = new Made(typeof message === 'string' ? message : '');
  const hidden = { configurable: true, enumerable: false, writable: true };
  if (error.name !== name) Object.defineProperty(error, 'name', { ...hidden, value: name });
  Object.defineProperty(error, 'stack', { ...hidden, value: stack });
  if (cause !== undefined) Object.defineProperty(error, 'cause', { ...hidden, value: cause });
  for (const [key, value] of Object.entries(rest)) put(error, key, value);
  return error;
}

const unreadable = (problem: string): DuctorError =>
  new DuctorError('value_not_json', `a value in the encoding ${TYPED_ENCODING} ${problem}`, {
    remedy: 'read it with a version of the SDK at least as new as the one that wrote it',
  });

const isRecord = (value: unknown): value is { [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function revived(type: unknown, value: unknown): unknown {
  switch (type) {
    case 'Date':
      return new Date(typeof value === 'string' ? value : Number.NaN);
    case 'bigint':
      return BigInt(String(value));
    case 'number':
      return Number(value);
    case 'undefined':
      return undefined;
    case 'Set':
      return new Set(Array.isArray(value) ? value : []);
    case 'Map':
      return new Map((Array.isArray(value) ? value : []).map((pair: [unknown, unknown]) => [pair[0], pair[1]]));
    case 'Uint8Array':
      return new Uint8Array(Buffer.from(String(value), 'base64'));
    case 'Error':
      return errorOf(isRecord(value) ? value : {});
    default:
      throw unreadable(`holds the type ${JSON.stringify(type)}`);
  }
}

/** A part that was encoded by itself. */
function encodedPart(value: unknown): EncodedValue {
  const { data, encoding } = isRecord(value) ? value : {};
  return { data: Buffer.from(String(data), 'base64'), encoding: String(encoding) };
}

/** Puts what a part was in its place. */
function revive(root: { json: unknown }, mark: unknown, decode: (part: EncodedValue) => unknown): void {
  const [path, type]: unknown[] = Array.isArray(mark) ? mark : [];
  if (!Array.isArray(path)) throw unreadable('has a malformed list of types');
  let parent: unknown = root;
  let key = 'json';
  for (const part of path) {
    parent =
      typeof parent === 'object' && parent !== null && Object.hasOwn(parent, key) ? Reflect.get(parent, key) : null;
    key = String(part);
  }
  if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, key)) {
    throw unreadable('names a part that it does not have');
  }
  const value: unknown = Reflect.get(parent, key);
  put(parent, key, type === 'encoded' ? decode(encodedPart(value)) : revived(type, value));
}

const decodePlain = ({ data, encoding }: EncodedValue): unknown => decodeValue(data, encoding);

/**
 * The value of bytes in one of the two encodings. Throws DuctorError value_not_json for anything else.
 *
 * @param decode reads parts that were encoded by themselves. Default: this function
 */
export function decodeValue(data: Uint8Array, encoding: string, decode = decodePlain): unknown {
  const isTyped = encoding === TYPED_ENCODING;
  if (!isTyped && encoding !== '' && encoding !== 'json') {
    throw new DuctorError(
      'value_not_json',
      `a value is encoded as ${JSON.stringify(encoding)}, which this SDK cannot read`,
      { remedy: 'read it with the payloadCodec that wrote it' },
    );
  }
  const parsed: unknown = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8'));
  if (!isTyped) return parsed;
  if (!isRecord(parsed) || !Array.isArray(parsed['types'])) throw unreadable('has no list of types');
  const root = { json: parsed['json'] };
  // Inner parts first: a Map is made of entries that are what they were.
  for (const mark of parsed['types'].toReversed()) revive(root, mark, decode);
  return root.json;
}
