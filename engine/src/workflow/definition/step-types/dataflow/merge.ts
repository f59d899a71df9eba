/** merge: joins objects (shallow, deep) or lists (concat). Parts that are null are left out. */
import type { JsonValue } from '../../../../expressions/index.js';
import { jsonComputed, kindOfValue, valueFailed, type Evaluation } from '../../computing/computed.js';
import type { LiteralField } from '../../computing/field-spec.js';
import { argOf, isList, isObject, type Operation } from './operation.js';

const MODES = ['shallow', 'deep', 'concat'];

const MODE: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"shallow"',
  choices: MODES,
  computable: true,
  problem: (value) =>
    typeof value === 'string' && MODES.includes(value) ? undefined : `is none of ${MODES.join(', ')}`,
};

type JsonObjectValue = { readonly [key: string]: JsonValue };

/** Two objects as one: later fields win; when deep, objects in the same place are merged too. */
function mergeObjects(
  base: JsonObjectValue,
  over: JsonObjectValue,
  isDeep: boolean,
  evaluation: Evaluation,
): JsonObjectValue {
  const fields = new Map(Object.entries(base));
  const added = Object.entries(over);
  evaluation.meter.spend(fields.size + added.length);
  for (const [key, value] of added) {
    const before = fields.get(key) ?? null;
    const isNested = isDeep && isObject(before) && isObject(value);
    fields.set(key, isNested ? mergeObjects(before, value, isDeep, evaluation) : value);
  }
  return Object.fromEntries(fields);
}

function mergeAll(parts: readonly JsonValue[], isDeep: boolean, evaluation: Evaluation): JsonValue {
  let merged: JsonObjectValue = {};
  for (const [index, part] of parts.entries()) {
    if (part === null) continue;
    if (!isObject(part)) {
      return valueFailed(
        `args.merge[${index}] is ${kindOfValue(part)}, not an object`,
        'Join lists with "mode": "concat".',
      );
    }
    merged = mergeObjects(merged, part, isDeep, evaluation);
  }
  return merged;
}

function concat(parts: readonly JsonValue[], evaluation: Evaluation): JsonValue {
  const joined: JsonValue[] = [];
  for (const [index, part] of parts.entries()) {
    if (part === null) continue;
    if (!isList(part)) {
      return valueFailed(
        `args.merge[${index}] is ${kindOfValue(part)}, not a list`,
        'Remove "mode": "concat", or wrap it: [x].',
      );
    }
    evaluation.meter.spend(part.length);
    for (const item of part) joined.push(item);
  }
  return joined;
}

/** All parts as one. */
export const MERGE: Operation = {
  name: 'merge',
  fields: {
    merge: {
      kind: 'list',
      isRequired: true,
      example: '["input.defaults", "steps.load.output"]',
      item: { kind: 'template', isRequired: true, example: '"input.defaults"', variables: 'step' },
    },
    mode: MODE,
  },
  compile(args, build) {
    const list = argOf(args, 'merge');
    const parts = (isList(list) ? list : []).map((part, index) => build.template(part, `args.merge[${index}]`, 'step'));
    const mode = build.literal(args['mode'] ?? 'shallow', 'args.mode', MODE);
    const references = [...mode.references, ...parts.flatMap((part) => part.references)];
    return jsonComputed(references, (evaluation) => {
      const chosen = mode.json(evaluation);
      const values = parts.map((part) => part.json(evaluation));
      return chosen === 'concat' ? concat(values, evaluation) : mergeAll(values, chosen === 'deep', evaluation);
    });
  },
};
