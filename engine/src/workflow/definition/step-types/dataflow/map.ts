/** map: makes one value of each item, in order. */
import type { JsonValue } from '../../../../expressions/index.js';
import { jsonComputed } from '../../computing/computed.js';
import { argOf, compileItems, SOURCE, type Operation } from './operation.js';

/** One value per item. */
export const MAP: Operation = {
  name: 'map',
  fields: {
    source: SOURCE,
    map: { kind: 'template', isRequired: true, example: '{"id": "item.id"}', variables: 'item' },
  },
  compile(args, build) {
    const items = compileItems(args, build);
    const value = build.template(argOf(args, 'map'), 'args.map', 'item');
    return jsonComputed([...items.source.references, ...value.references], (evaluation) => {
      const made: JsonValue[] = [];
      items.each(evaluation, () => made.push(value.json(evaluation)));
      return made;
    });
  },
};
