/**
 * How column values become JavaScript values, set per connection so that an app's own use of node-postgres in the same
 * process is not changed.
 *
 * int8 becomes a number: the engine's bigint columns are microseconds since 1970, sequence numbers and counters, all
 * safe integers (microseconds until the year 2255). A value beyond 2^53 - 1 is an error, never a rounded number.
 */
import pg from 'pg';
import { DuctorError } from '../../kernel/index.js';

const INT8 = 20;
const INT8_ARRAY = 1016;

/** An int8 in text form as a number. Throws internal when it is not a safe integer. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new DuctorError('internal', `bigint ${text} of the database is beyond 2^53 - 1`);
  return value;
}

/** An int8[] in text form, one dimension: {1,2,NULL}. */
function parseInt8Array(text: string): (number | null)[] {
  const inner = text.slice(1, -1);
  return inner === '' ? [] : inner.split(',').map((item) => (item === 'NULL' ? null : parseInt8(item)));
}

/** Type parsers of every connection of the engine. */
export const COLUMN_TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (format !== 'binary' && oid === INT8) return parseInt8;
    if (format !== 'binary' && oid === INT8_ARRAY) return parseInt8Array;
    return pg.types.getTypeParser(oid, format);
  },
};
