/**
 * The items of a list. Of one in JSON each as it stands in the bytes: the list is looked through once, no item is
 * parsed. Of one with types each with its own.
 */
import { DuctorError } from '../../kernel/index.js';
import { itemsOfTyped, TYPED_ENCODING } from './typed-json.js';
import type { Value } from './value.js';

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Where the items of a list begin and end: item n stands from bounds[2n] to bounds[2n + 1]. */
const KNOWN = new WeakMap<Uint8Array, Uint32Array>();
/** Items of lists with types; null: it is no list. */
const KNOWN_TYPED = new WeakMap<Uint8Array, readonly Value[] | null>();

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Index behind the text that begins at `at`. */
function behindText(data: Uint8Array, at: number): number {
  for (let index = at + 1; index < data.length; index += 1) {
    if (data[index] === BACKSLASH) index += 1;
    else if (data[index] === QUOTE) return index + 1;
  }
  return data.length;
}

/** Index of the comma or bracket that ends the item that begins at `at`. */
function endOfItem(data: Uint8Array, at: number): number {
  let depth = 0;
  let index = at;
  while (index < data.length) {
    const byte = data[index];
    if (byte === QUOTE) {
      index = behindText(data, index);
      continue;
    }
    if (depth === 0 && (byte === COMMA || byte === CLOSE_LIST)) return index;
    if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    index += 1;
  }
  return index;
}

function boundsOf(data: Uint8Array): Uint32Array | null {
  let at = 0;
  while (isSpace(data[at])) at += 1;
  if (data[at] !== OPEN_LIST) return null;
  const bounds: number[] = [];
  for (at += 1; at < data.length; at += 1) {
    while (isSpace(data[at])) at += 1;
    if (data[at] === CLOSE_LIST && bounds.length === 0) break;
    const end = endOfItem(data, at);
    let last = end;
    while (last > at && isSpace(data[last - 1])) last -= 1;
    bounds.push(at, last);
    at = end;
    if (data[at] === CLOSE_LIST) break;
  }
  return Uint32Array.from(bounds);
}

function listed(list: Value): Uint32Array | null {
  if (list.encoding !== 'json') return null;
  const known = KNOWN.get(list.data);
  if (known !== undefined) return known;
  const bounds = boundsOf(list.data);
  if (bounds !== null) KNOWN.set(list.data, bounds);
  return bounds;
}

function typedItems(list: Value): readonly Value[] | null {
  if (list.encoding !== TYPED_ENCODING) return null;
  let items = KNOWN_TYPED.get(list.data);
  if (items === undefined) KNOWN_TYPED.set(list.data, (items = itemsOfTyped(list)));
  return items;
}

/**
 * How many items a value has, of which it has been checked that it is JSON, with types or without.
 *
 * @param what names the value in the message
 * @throws DuctorError expression_failed when it is no list
 */
export function countItems(list: Value, what: string): number {
  const bounds = listed(list);
  if (bounds !== null) return bounds.length / 2;
  const items = typedItems(list);
  if (items !== null) return items.length;
  throw new DuctorError('expression_failed', `${what} is no list`, {
    remedy: 'Name a list, or guard it: has(x) ? x : [].',
  });
}

/** An item of a list by its place from 0; undefined when there is none. */
export function itemAt(list: Value, index: number): Value | undefined {
  if (list.encoding === TYPED_ENCODING) return typedItems(list)?.[index];
  const bounds = listed(list);
  const [from, to] = [bounds?.[index * 2], bounds?.[index * 2 + 1]];
  if (from === undefined || to === undefined) return undefined;
  return { data: list.data.subarray(from, to), encoding: 'json' };
}
