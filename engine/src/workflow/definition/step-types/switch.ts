/** STEP_TYPE_SWITCH: the first case that holds decides which edges fire. */
import { isJsonList, isJsonObject, field, type JsonObject } from '../checking/shape.js';
import { childPath } from '../checking/problems.js';
import { createBuilder } from '../computing/builder.js';
import { kindOfValue, valueFailed } from '../computing/computed.js';
import type { ExprField, LiteralField } from '../computing/field-spec.js';
import { DEFINITION_LIMITS } from '../limits.js';
import { isStepRef } from '../names.js';
import { overScope, type StepType } from './step-type.js';

const NAME: LiteralField = {
  kind: 'literal',
  isRequired: true,
  example: '"gold"',
  computable: { why: 'edges name their cases, which must be known before a run' },
  problem: (value) =>
    typeof value === 'string' && isStepRef(value)
      ? undefined
      : 'is not a name of letters, digits, "_" and "-", at most 64',
};

const WHEN: ExprField = {
  kind: 'expr',
  isRequired: true,
  example: '"input.amount > 1000.0"',
  variables: 'step',
  result: 'bool',
};

const EXAMPLE = '[{"name": "gold", "when": "input.amount > 1000.0"}]';

/** The cases in their order; those that are malformed have problems of their own and are left out. */
function casesOf(args: JsonObject): readonly { readonly name: string; readonly when: string | boolean }[] {
  const list = field(args, 'cases');
  if (!isJsonList(list)) return [];
  return list.flatMap((entry) => {
    const name = isJsonObject(entry) ? field(entry, 'name') : undefined;
    const when = isJsonObject(entry) ? field(entry, 'when') : undefined;
    const isWhole = typeof name === 'string' && (typeof when === 'string' || typeof when === 'boolean');
    return isWhole ? [{ name, when }] : [];
  });
}

function defaultOf(args: JsonObject): string | null {
  const name = field(args, 'default');
  return typeof name === 'string' && name !== '' ? name : null;
}

/** args: cases (name literal, when expr), default (literal). Its output is `{"case": name}`, null when none holds. */
export const SWITCH: StepType = {
  name: 'STEP_TYPE_SWITCH',
  options: new Set(),
  fieldsOf: () => ({
    cases: {
      kind: 'list',
      isRequired: true,
      example: EXAMPLE,
      item: { kind: 'object', isRequired: true, example: EXAMPLE, fields: { name: NAME, when: WHEN } },
    },
    default: { ...NAME, isRequired: false },
  }),
  check({ problems }, path, args) {
    const cases = casesOf(args);
    if (cases.length > DEFINITION_LIMITS.switchCases) {
      const problem = `has ${cases.length} cases, more than ${DEFINITION_LIMITS.switchCases}`;
      problems.add(childPath(path, 'cases'), undefined, problem, 'Split the switch, or compute the case in a step.');
    }
    const seen = new Set<string>();
    for (const { name } of cases) {
      const remedy = 'Give each case its own name; join conditions with ||.';
      if (seen.has(name)) problems.add(childPath(path, 'cases'), name, 'names two cases', remedy);
      seen.add(name);
    }
  },
  canFail: () => true,
  casesOf: (args) => [...casesOf(args).map(({ name }) => name), ...[defaultOf(args) ?? []].flat()],
  compile({ args = {} }, cel) {
    const build = createBuilder(cel);
    const cases = casesOf(args).map(({ name, when }, index) => {
      const place = `args.cases[${index}].when`;
      return { name, place, when: build.expr(when, place, WHEN) };
    });
    const fallback = defaultOf(args);
    const references = cases.flatMap(({ when }) => when.references);
    return {
      type: 'SWITCH',
      choose: overScope({ references }, (evaluation) => {
        for (const { name, place, when } of cases) {
          const holds = when.json(evaluation);
          if (typeof holds !== 'boolean') {
            return valueFailed(
              `${place} is ${kindOfValue(holds)}, not true or false`,
              'Compare, such as input.a > 5.0.',
            );
          }
          if (holds) return name;
        }
        return fallback;
      }),
    };
  },
};
