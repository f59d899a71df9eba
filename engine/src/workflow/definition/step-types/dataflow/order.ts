/** The order of plain values: null, then false, true, then numbers, then texts by their UTF-16 units. */
import { kindOfValue, valueFailed } from '../../computing/computed.js';

/** A value that has a place in the order. Ints of CEL are bigint. */
export type Orderable = null | boolean | number | bigint | string;

function rankOf(value: Orderable): number {
  if (value === null) return 0;
  if (typeof value === 'boolean') return 1;
  return typeof value === 'string' ? 3 : 2;
}

/** Less than, equal to or greater than zero, as for Array.sort. */
export function compareOrderable(a: Orderable, b: Orderable): number {
  const byRank = rankOf(a) - rankOf(b);
  if (byRank !== 0 || a === null || b === null) return byRank;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The value as one with an order. Throws expression_failed. */
export function asOrderable(value: unknown, place: string): Orderable {
  if (value === null || typeof value === 'boolean' || typeof value === 'string' || typeof value === 'bigint')
    return value;
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  const remedy = 'Use a number, text, true, false or null; int(x) makes a number of a timestamp.';
  return valueFailed(`${place} is ${kindOfValue(value)}, which has no order`, remedy);
}
