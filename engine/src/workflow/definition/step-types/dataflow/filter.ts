/** filter: keeps the items for which a condition holds, in order. */
import type { JsonValue } from '../../../../expressions/index.js';
import { jsonComputed } from '../../computing/computed.js';
import type { ExprField } from '../../computing/field-spec.js';
import { argOf, asBoolean, compileItems, SOURCE, type Operation } from './operation.js';

const CONDITION: ExprField = {
  kind: 'expr',
  isRequired: true,
  example: '"item.score > 0.5"',
  variables: 'item',
  result: 'bool',
};

/** Items whose condition is true. */
export const FILTER: Operation = {
  name: 'filter',
  fields: { source: SOURCE, filter: CONDITION },
  compile(args, build) {
    const items = compileItems(args, build);
    const condition = build.expr(argOf(args, 'filter'), 'args.filter', CONDITION);
    return jsonComputed([...items.source.references, ...condition.references], (evaluation) => {
      const kept: JsonValue[] = [];
      items.each(evaluation, (item) => {
        if (asBoolean(condition.json(evaluation), 'args.filter')) kept.push(item);
      });
      return kept;
    });
  },
};
