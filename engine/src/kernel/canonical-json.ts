/**
 * JSON in one canonical text (RFC 8785, JCS): no white space, keys of objects in order of their UTF-16 units, numbers
 * and strings as ECMAScript writes them. Equal JSON gives equal text, whatever order its keys stood in.
 */
import { createHash } from 'node:crypto';

/** Keys in order of UTF-16 units, which is what `<` compares. */
function sortedKeys(value: object): string[] {
  return Object.keys(value).sort((a, b) => (a < b ? -1 : 1));
}

/**
 * The canonical text of plain JSON. The caller has checked that it is plain JSON (no NaN, no undefined in lists), not
 * nested beyond a few thousand levels; fields that are undefined are left out, as JSON.stringify does.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields: ReadonlyMap<string, unknown> = new Map(Object.entries(value));
  const parts: string[] = [];
  for (const key of sortedKeys(value)) {
    const field = fields.get(key);
    if (field !== undefined) parts.push(`${JSON.stringify(key)}:${canonicalJson(field)}`);
  }
  return `{${parts.join(',')}}`;
}

/** SHA-256 of the canonical text in UTF-8, 32 bytes. Same demands as canonicalJson. */
export function canonicalDigest(value: unknown): Uint8Array {
  return createHash('sha256').update(canonicalJson(value), 'utf8').digest();
}
