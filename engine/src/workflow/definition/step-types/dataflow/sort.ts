/** sort: orders items by one or more keys; equal ones keep their order. */
import type { JsonValue } from '../../../../expressions/index.js';
import { isJsonObject } from '../../checking/shape.js';
import type { Builder } from '../../computing/builder.js';
import { jsonComputed, type Computed } from '../../computing/computed.js';
import type { ExprField, LiteralField } from '../../computing/field-spec.js';
import type { Json } from '../../definition.js';
import { argOf, compileItems, isList, SOURCE, type Operation } from './operation.js';
import { asOrderable, compareOrderable, type Orderable } from './order.js';

const ORDERS = ['asc', 'desc'];

const BY: ExprField = { kind: 'expr', isRequired: true, example: '"item.score"', variables: 'item', result: 'dyn' };

const ORDER: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"desc"',
  choices: ORDERS,
  computable: true,
  problem: (value) => (typeof value === 'string' && ORDERS.includes(value) ? undefined : 'is neither asc nor desc'),
};

interface SortKey {
  readonly by: Computed;
  readonly order: Computed;
  readonly place: string;
}

interface Keyed {
  readonly item: JsonValue;
  readonly keys: readonly Orderable[];
}

function compileKey(value: Json, index: number, build: Builder): SortKey {
  const entry = isJsonObject(value) ? value : {};
  const place = `args.sort[${index}]`;
  return {
    by: build.expr(argOf(entry, 'by'), `${place}.by`, BY),
    order: build.literal(entry['order'] ?? 'asc', `${place}.order`, ORDER),
    place: `${place}.by`,
  };
}

function comparator(signs: readonly number[]): (a: Keyed, b: Keyed) => number {
  return (a, b) => {
    for (const [index, sign] of signs.entries()) {
      const order = compareOrderable(a.keys[index] ?? null, b.keys[index] ?? null);
      if (order !== 0) return order * sign;
    }
    return 0;
  };
}

/** The same items in order. */
export const SORT: Operation = {
  name: 'sort',
  fields: {
    source: SOURCE,
    sort: {
      kind: 'list',
      isRequired: true,
      example: '[{"by": "item.score", "order": "desc"}]',
      item: { kind: 'object', isRequired: true, example: '{"by": "item.score"}', fields: { by: BY, order: ORDER } },
    },
  },
  compile(args, build) {
    const items = compileItems(args, build);
    const list = argOf(args, 'sort');
    const sortKeys = (isList(list) ? list : []).map((value, index) => compileKey(value, index, build));
    const references = sortKeys.flatMap(({ by, order }) => [...by.references, ...order.references]);
    return jsonComputed([...items.source.references, ...references], (evaluation) => {
      const signs = sortKeys.map(({ order }) => (order.json(evaluation) === 'desc' ? -1 : 1));
      const keyed: Keyed[] = [];
      items.each(evaluation, (item) => {
        keyed.push({ item, keys: sortKeys.map(({ by, place }) => asOrderable(by.value(evaluation), place)) });
      });
      evaluation.meter.spend(keyed.length * Math.ceil(Math.log2(keyed.length + 1)));
      return keyed.sort(comparator(signs)).map(({ item }) => item);
    });
  },
};
