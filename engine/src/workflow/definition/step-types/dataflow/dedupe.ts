/** dedupe: keeps one item per key. */
import type { JsonValue } from '../../../../expressions/index.js';
import { canonicalJson } from '../../../../kernel/index.js';
import { jsonComputed } from '../../computing/computed.js';
import type { LiteralField } from '../../computing/field-spec.js';
import { argOf, compileItems, SOURCE, type Operation } from './operation.js';

const CHOICES = ['first', 'last'];

const KEEP: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"first"',
  choices: CHOICES,
  computable: true,
  problem: (value) => (typeof value === 'string' && CHOICES.includes(value) ? undefined : 'is neither first nor last'),
};

/** The first (or last) item of each key, each in its own place. Keys are equal when their JSON is. */
export const DEDUPE: Operation = {
  name: 'dedupe',
  fields: {
    source: SOURCE,
    dedupe: { kind: 'template', isRequired: true, example: '"item.id"', variables: 'item' },
    keep: KEEP,
  },
  compile(args, build) {
    const items = compileItems(args, build);
    const key = build.template(argOf(args, 'dedupe'), 'args.dedupe', 'item');
    const keep = build.literal(args['keep'] ?? 'first', 'args.keep', KEEP);
    const references = [...items.source.references, ...key.references, ...keep.references];
    return jsonComputed(references, (evaluation) => {
      const isLast = keep.json(evaluation) === 'last';
      const kept = new Map<string, JsonValue>();
      items.each(evaluation, (item) => {
        const text = canonicalJson(key.json(evaluation));
        // Taken out first, so that the last item of a key stands in its own place, not in that of the first.
        if (isLast) kept.delete(text);
        if (!kept.has(text)) kept.set(text, item);
      });
      return [...kept.values()];
    });
  },
};
