/** What an operation of a DATAFLOW step says of itself, and the list it goes over. */
import type { JsonValue } from '../../../../expressions/index.js';
import type { ExpressionChecks } from '../../checking/expressions.js';
import { field, type JsonObject } from '../../checking/shape.js';
import type { Builder } from '../../computing/builder.js';
import { kindOfValue, located, valueFailed, type Computed, type Evaluation } from '../../computing/computed.js';
import type { ExprField, Fields } from '../../computing/field-spec.js';
import type { Json } from '../../definition.js';

/** An operation. Pure; one constant per file. */
export interface Operation {
  readonly name: string;
  /** Its fields beside `operation`. */
  readonly fields: Fields;
  /** Problems that span fields. */
  readonly check?: (checks: ExpressionChecks, path: string, args: JsonObject) => void;
  /** Compiles validated args. */
  readonly compile: (args: JsonObject, build: Builder) => Computed;
}

/** The list that an operation goes over. */
export const SOURCE: ExprField = {
  kind: 'expr',
  isRequired: true,
  example: '"input.leads"',
  variables: 'step',
  result: { list: 'dyn' },
};

/** A validated field; null when it is absent. */
export function argOf(args: JsonObject, name: string): Json {
  return field(args, name) ?? null;
}

/** A list and a way through it. */
export interface ItemList {
  readonly source: Computed;
  /**
   * Visits each item with `item` and `index` set. Throws expression_failed when the source is no list, and what `visit`
   * throws with the number of the item in front.
   */
  each(evaluation: Evaluation, visit: (item: JsonValue, index: number) => void): void;
}

/** The source field of args. */
export function compileItems(args: JsonObject, build: Builder): ItemList {
  const source = build.expr(argOf(args, 'source'), 'args.source', SOURCE);
  return {
    source,
    each(evaluation, visit) {
      const items = source.json(evaluation);
      if (!isList(items)) {
        return valueFailed(
          `args.source is ${kindOfValue(items)}, not a list`,
          'Name a list, or guard it: has(x) ? x : [].',
        );
      }
      const { variables, meter } = evaluation;
      for (const [index, item] of items.entries()) {
        meter.spend(1);
        variables['item'] = item;
        variables['index'] = BigInt(index);
        located(`item ${index}`, () => visit(item, index));
      }
    },
  };
}

/** Whether a JSON value is a list. */
export function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Whether a JSON value is an object. */
export function isObject(value: JsonValue): value is { readonly [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as true or false. Throws expression_failed. */
export function asBoolean(value: JsonValue, place: string): boolean {
  if (typeof value === 'boolean') return value;
  return valueFailed(`${place} is ${kindOfValue(value)}, not true or false`, 'Compare, such as item.score > 5.0.');
}
