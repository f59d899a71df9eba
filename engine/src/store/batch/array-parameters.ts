/**
 * Array parameters of set-based statements, written as PostgreSQL's array text at once: node-postgres would walk each
 * item through its general conversion (measured beside batch-blob.ts).
 *
 * Only for items that need no quotes: numbers, UUIDs. Free text goes into the blob.
 */
import { DuctorError } from '../../kernel/index.js';

/** An int[] or bigint[]; null becomes NULL. Throws internal when an item is not a safe integer. */
export function integerArray(items: readonly (number | null)[]): string {
  for (const item of items) {
    if (item !== null && !Number.isSafeInteger(item)) {
      throw new DuctorError('internal', `${item} is not an integer that can be stored exactly`);
    }
  }
  return `{${items.map((item) => item ?? 'NULL').join(',')}}`;
}

/** Nothing that could end an item or the array. */
const PLAIN = /^[0-9a-f-]*$/;

/** A uuid[]; null becomes NULL. Throws internal when an item holds anything but hexadecimal digits and hyphens. */
export function uuidArray(items: readonly (string | null)[]): string {
  for (const item of items) {
    if (item !== null && !PLAIN.test(item)) throw new DuctorError('internal', `${JSON.stringify(item)} is not a UUID`);
  }
  return `{${items.map((item) => item ?? 'NULL').join(',')}}`;
}

/** A boolean[]. */
export function booleanArray(items: readonly boolean[]): string {
  return `{${items.map((item) => (item ? 't' : 'f')).join(',')}}`;
}
