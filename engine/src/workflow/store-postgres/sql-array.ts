/**
 * Array parameters as text literals. node-postgres quotes and escapes each element of an array it is given; ids and
 * numbers need neither, and a batch has thousands of them.
 */
import { DuctorError, isUuid } from '../../kernel/index.js';

/** Numbers, booleans and nulls as an array literal. */
export function plainArray(items: readonly (number | boolean | null)[]): string {
  let text = '{';
  for (let i = 0; i < items.length; i += 1) {
    if (i > 0) text += ',';
    text += items[i] === null ? 'NULL' : String(items[i]);
  }
  return `${text}}`;
}

/** UUIDs as an array literal. Throws internal when one is not a UUID in lower case. */
export function uuidArray(items: readonly string[]): string {
  for (const item of items) {
    if (!isUuid(item)) throw new DuctorError('internal', `${JSON.stringify(item.slice(0, 60))} is not a UUID`);
  }
  return `{${items.join(',')}}`;
}

/** Any texts as an array literal. Short texts only: values travel in a blob. */
export function textArray(items: readonly string[]): string {
  return `{${items.map((item) => `"${item.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;
}
