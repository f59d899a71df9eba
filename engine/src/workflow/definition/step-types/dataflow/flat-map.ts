/** flat_map: makes a list of each item and joins the lists, in order. */
import type { JsonValue } from '../../../../expressions/index.js';
import { jsonComputed, kindOfValue, valueFailed } from '../../computing/computed.js';
import { argOf, compileItems, isList, SOURCE, type Operation } from './operation.js';

/** The lists of all items as one. */
export const FLAT_MAP: Operation = {
  name: 'flat_map',
  fields: {
    source: SOURCE,
    flat_map: { kind: 'template', isRequired: true, example: '"item.tags"', variables: 'item' },
  },
  compile(args, build) {
    const items = compileItems(args, build);
    const value = build.template(argOf(args, 'flat_map'), 'args.flat_map', 'item');
    return jsonComputed([...items.source.references, ...value.references], (evaluation) => {
      const made: JsonValue[] = [];
      items.each(evaluation, () => {
        const list = value.json(evaluation);
        if (!isList(list)) {
          return valueFailed(`args.flat_map is ${kindOfValue(list)}, not a list`, 'Use map, or wrap it: [value].');
        }
        evaluation.meter.spend(list.length);
        for (const part of list) made.push(part);
      });
      return made;
    });
  },
};
