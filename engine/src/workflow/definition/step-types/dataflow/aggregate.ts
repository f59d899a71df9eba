/** aggregate: sums up items, as a whole or by group. */
import type { JsonValue } from '../../../../expressions/index.js';
import { canonicalJson } from '../../../../kernel/index.js';
import { isJsonObject, type JsonObject } from '../../checking/shape.js';
import type { Builder } from '../../computing/builder.js';
import { jsonComputed, type Computed } from '../../computing/computed.js';
import type { ExprField, Fields, ObjectField } from '../../computing/field-spec.js';
import { ACCUMULATORS, type Accumulator, type AccumulatorName } from './accumulators.js';
import { argOf, compileItems, SOURCE, type Operation } from './operation.js';

const CONDITION: ExprField = {
  kind: 'expr',
  isRequired: false,
  example: '"item.ok"',
  variables: 'item',
  result: 'bool',
};
const VALUE: ExprField = {
  kind: 'expr',
  isRequired: false,
  example: '"item.amount"',
  variables: 'item',
  result: 'dyn',
};

const FUNCTIONS: Readonly<Record<AccumulatorName, ExprField>> = {
  count: CONDITION,
  any: CONDITION,
  all: CONDITION,
  sum: VALUE,
  avg: VALUE,
  min: VALUE,
  max: VALUE,
  first: VALUE,
  last: VALUE,
  collect: VALUE,
};

const FUNCTION: ObjectField = {
  kind: 'object',
  isRequired: true,
  isChoice: true,
  example: '{"sum": "item.amount"}',
  fields: FUNCTIONS,
};

const FIELDS: Fields = {
  source: SOURCE,
  aggregate: { kind: 'record', isRequired: true, example: '{"total": {"sum": "item.amount"}}', value: FUNCTION },
  group_by: { kind: 'template', isRequired: false, example: '"item.state"', variables: 'item' },
};

/** Field of a group's key in the output. */
const GROUP = 'group';

interface Column {
  readonly name: string;
  readonly place: string;
  readonly value: Computed;
  readonly start: () => Accumulator;
}

function isFunctionName(name: string): name is AccumulatorName {
  return Object.hasOwn(ACCUMULATORS, name);
}

function compileColumns(aggregates: JsonObject, build: Builder): readonly Column[] {
  return Object.entries(aggregates).flatMap(([name, entry]) => {
    const functions = isJsonObject(entry) ? Object.entries(entry) : [];
    return functions.flatMap(([key, text]) => {
      if (!isFunctionName(key)) return [];
      const place = `args.aggregate.${name}.${key}`;
      return [{ name, place, value: build.expr(text, place, FUNCTIONS[key]), start: ACCUMULATORS[key] }];
    });
  });
}

interface Group {
  readonly key: JsonValue;
  readonly cells: readonly Accumulator[];
}

function startGroup(key: JsonValue, columns: readonly Column[]): Group {
  return { key, cells: columns.map(({ start }) => start()) };
}

function rowOf(group: Group, columns: readonly Column[]): readonly (readonly [string, JsonValue])[] {
  return columns.map(({ name }, index) => [name, group.cells[index]?.result() ?? null] as const);
}

/** An object of results; with group_by a list of such objects with `group`, in order of their first items. */
export const AGGREGATE: Operation = {
  name: 'aggregate',
  fields: FIELDS,
  check({ problems }, path, args) {
    const [aggregates, groupBy] = [argOf(args, 'aggregate'), argOf(args, 'group_by')];
    if (groupBy === null || !isJsonObject(aggregates) || !Object.hasOwn(aggregates, GROUP)) return;
    problems.add(`${path}.aggregate.${GROUP}`, aggregates[GROUP], 'is the name of the key of a group', 'Rename it.');
  },
  compile(args, build) {
    const items = compileItems(args, build);
    const aggregates = argOf(args, 'aggregate');
    const columns = compileColumns(isJsonObject(aggregates) ? aggregates : {}, build);
    const groupBy = args['group_by'];
    const key = groupBy === undefined ? undefined : build.template(groupBy, 'args.group_by', 'item');
    const references = [
      items.source,
      ...columns.map(({ value }) => value),
      ...(key === undefined ? [] : [key]),
    ].flatMap((computed) => computed.references);
    return jsonComputed(references, (evaluation) => {
      const groups = new Map<string, Group>();
      const whole = startGroup(null, columns);
      items.each(evaluation, () => {
        let group = whole;
        if (key !== undefined) {
          const value = key.json(evaluation);
          const text = canonicalJson(value);
          group = groups.get(text) ?? startGroup(value, columns);
          groups.set(text, group);
        }
        columns.forEach(({ value, place }, index) => group.cells[index]?.add(value.value(evaluation), place));
      });
      if (key === undefined) return Object.fromEntries(rowOf(whole, columns));
      return [...groups.values()].map((group) => Object.fromEntries([[GROUP, group.key], ...rowOf(group, columns)]));
    });
  },
};
