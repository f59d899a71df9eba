/**
 * JSON in one canonical text (RFC 8785, JCS): no white space, keys of objects in order of their UTF-16 units, numbers
 * and strings as ECMAScript writes them. Equal JSON gives equal text, whatever order its keys stood in.
 */
import { sha256Hex } from './sha256.js';

function isFields(value: object): value is Readonly<Record<string, unknown>> {
  return !Array.isArray(value);
}

/**
 * The canonical text of plain JSON. The caller has checked that it is plain JSON (no NaN, no undefined in lists), not
 * nested beyond a few thousand levels; fields that are undefined are left out, as JSON.stringify does.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  if (typeof value !== 'object' || value === null || !isFields(value)) return JSON.stringify(value) ?? 'null';
  let text = '';
  // Without a function to compare by, texts are sorted by their UTF-16 units.
  for (const key of Object.keys(value).sort()) {
    const field = value[key];
    if (field !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(field)}`;
  }
  return `{${text}}`;
}

/** SHA-256 of the canonical text in UTF-8, 32 bytes. Same demands as canonicalJson. */
export function canonicalDigest(value: unknown): Uint8Array {
  return Buffer.from(sha256Hex(canonicalJson(value)), 'hex');
}
