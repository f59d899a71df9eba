/** The functions of aggregate. Each is fed one value per item and answers once. */
import { toJsonValue, type JsonValue } from '../../../../expressions/index.js';
import { kindOfValue, valueFailed } from '../../computing/computed.js';
import { asOrderable, compareOrderable, type Orderable } from './order.js';

/** One function at work. */
export interface Accumulator {
  /** Takes the value of the next item. Throws expression_failed for a kind it cannot use. */
  add(value: unknown, place: string): void;
  /** The result; throws expression_failed when JSON cannot hold it. */
  result(): JsonValue;
}

/** Functions by name. */
export type AccumulatorName = 'count' | 'any' | 'all' | 'sum' | 'avg' | 'min' | 'max' | 'first' | 'last' | 'collect';

function asBool(value: unknown, place: string): boolean {
  if (typeof value === 'boolean') return value;
  return valueFailed(`${place} is ${kindOfValue(value)}, not true or false`, 'Compare, such as item.score > 5.0.');
}

/** How many are true, from which count, any and all follow. */
function counting(answer: (yes: number, all: number) => JsonValue): () => Accumulator {
  return () => {
    let [yes, all] = [0, 0];
    return {
      add(value, place) {
        all += 1;
        if (asBool(value, place)) yes += 1;
      },
      result: () => answer(yes, all),
    };
  };
}

/** Adds numbers in order of the items: ints exactly, everything else as doubles. null does not count. */
function summing(answer: (sum: number, count: number) => JsonValue): () => Accumulator {
  return () => {
    let [ints, doubles, count] = [0n, 0, 0];
    return {
      add(value, place) {
        if (value === null) return;
        if (typeof value === 'bigint') ints += value;
        else if (typeof value === 'number') doubles += value;
        else valueFailed(`${place} is ${kindOfValue(value)}, not a number`, 'Convert it: double(x).');
        count += 1;
      },
      result: () => answer(Number(ints) + doubles, count),
    };
  };
}

/** Keeps the least (sign 1) or greatest (sign -1). null does not count. */
function extreme(sign: 1 | -1): () => Accumulator {
  return () => {
    let best: Orderable = null;
    return {
      add(value, place) {
        const found = asOrderable(value, place);
        if (found !== null && (best === null || compareOrderable(found, best) * sign < 0)) best = found;
      },
      result: () => toJsonValue(best),
    };
  };
}

function collecting(answer: (values: readonly JsonValue[]) => JsonValue): () => Accumulator {
  return () => {
    const values: JsonValue[] = [];
    return { add: (value) => values.push(toJsonValue(value)), result: () => answer(values) };
  };
}

/** Keeps the first or the last value without collecting the others. */
function keeping(isLast: boolean): () => Accumulator {
  return () => {
    let kept: { readonly value: unknown } | undefined;
    return {
      add(value) {
        if (isLast || kept === undefined) kept = { value };
      },
      result: () => (kept === undefined ? null : toJsonValue(kept.value)),
    };
  };
}

/** How each function starts. Of no items: count and sum 0, any false, all true, collect [], the others null. */
export const ACCUMULATORS: Readonly<Record<AccumulatorName, () => Accumulator>> = {
  count: counting((yes) => yes),
  any: counting((yes) => yes > 0),
  all: counting((yes, all) => yes === all),
  sum: summing((sum) => toJsonValue(sum)),
  avg: summing((sum, count) => (count === 0 ? null : toJsonValue(sum / count))),
  min: extreme(1),
  max: extreme(-1),
  first: keeping(false),
  last: keeping(true),
  collect: collecting((values) => values),
};
