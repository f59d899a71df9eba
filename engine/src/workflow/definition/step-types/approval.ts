/** STEP_TYPE_APPROVAL: waits until somebody decides. */
import type { JsonValue } from '../../../expressions/index.js';
import type { ExpressionScope } from '../../machine/plan.js';
import { childPath } from '../checking/problems.js';
import { field, isJsonList, isJsonObject, type JsonObject } from '../checking/shape.js';
import { createBuilder, type Builder } from '../computing/builder.js';
import { kindOfValue, valueFailed } from '../computing/computed.js';
import type { LiteralField, TemplateField } from '../computing/field-spec.js';
import type { Json } from '../definition.js';
import { isStepRef } from '../names.js';
import { durationField } from './duration-arg.js';
import { checkSchema, compileCheck, compileDeadline, SCHEMA, SIGNAL_NAME, signalName } from './signal-arg.js';
import { overScope, type StepType } from './step-type.js';

const DEFAULT_OPTIONS = ['approve', 'reject'];
const MAX_OPTIONS = 20;
const MAX_ASSIGNEES = 100;
const MAX_ASSIGNEE_CHARS = 256;

const OPTION: LiteralField = {
  kind: 'literal',
  isRequired: true,
  example: '"approve"',
  computable: { why: 'whoever decides names an option, which must be known before a run' },
  problem: (value) =>
    typeof value === 'string' && isStepRef(value)
      ? undefined
      : 'is not a name of letters, digits, "_" and "-", at most 64',
};

const ASSIGNEES: TemplateField = {
  kind: 'template',
  isRequired: false,
  example: '["\\"ada@example.com\\"", "input.manager"]',
  variables: 'step',
};

function optionsOf(args: JsonObject): readonly string[] {
  const list = field(args, 'options');
  return isJsonList(list) ? list.filter((option) => typeof option === 'string') : DEFAULT_OPTIONS;
}

/** Names of people out of a computed value. Throws expression_failed. */
function namesIn(value: JsonValue, path: string): readonly string[] {
  const list = Array.isArray(value) ? value : [value];
  if (list.length === 0 || list.length > MAX_ASSIGNEES) {
    return valueFailed(`${path} has ${list.length} names`, `Name 1 to ${MAX_ASSIGNEES}.`);
  }
  return list.map((name) => {
    if (typeof name === 'string' && name !== '' && name.length <= MAX_ASSIGNEE_CHARS) return name;
    return valueFailed(`${path} holds ${kindOfValue(name)} that is no name`, 'Give texts of 1 to 256 characters.');
  });
}

/** Compiles a template that yields names; null where there is none. */
function compileNames(
  value: Json | undefined,
  path: string,
  build: Builder,
): (scope: ExpressionScope) => readonly string[] | null {
  if (value === undefined) return () => null;
  const computed = build.template(value, path, 'step');
  return overScope(computed, (evaluation) => namesIn(computed.json(evaluation), path));
}

/** args: name, assignees (template), options (literals), form (schema), deadline, escalation {after, assignees}. */
export const APPROVAL: StepType = {
  name: 'STEP_TYPE_APPROVAL',
  options: new Set(),
  fieldsOf: () => ({
    name: SIGNAL_NAME,
    assignees: ASSIGNEES,
    options: { kind: 'list', isRequired: false, example: '["approve", "reject"]', item: OPTION },
    form: SCHEMA,
    deadline: durationField('"1d"'),
    escalation: {
      kind: 'object',
      isRequired: false,
      example: '{"after": "4h", "assignees": ["\\"boss@example.com\\""]}',
      fields: {
        after: { ...durationField('"4h"'), isRequired: true },
        assignees: { ...ASSIGNEES, isRequired: true },
      },
    },
  }),
  check(checks, path, args) {
    checkSchema(checks, path, args, 'form');
    const options = optionsOf(args);
    const at = childPath(path, 'options');
    if (options.length > MAX_OPTIONS) {
      checks.problems.add(at, undefined, `has ${options.length} options, more than ${MAX_OPTIONS}`, 'Offer fewer.');
    }
    if (new Set(options).size < options.length) {
      checks.problems.add(at, undefined, 'names an option twice', 'Name each option once.');
    }
  },
  canFail: () => true,
  canTimeOut: (args) => field(args, 'deadline') !== undefined,
  signalOf: (step) => ({
    name: signalName(step),
    options: optionsOf(step.args ?? {}),
    check: compileCheck(step, 'form', 'decision.form'),
  }),
  compile(step, cel) {
    const { args = {} } = step;
    const build = createBuilder(cel);
    const escalation = field(args, 'escalation');
    const inner = isJsonObject(escalation) ? escalation : {};
    const assignees = compileNames(field(args, 'assignees'), 'args.assignees', build);
    const others = compileNames(field(inner, 'assignees'), 'args.escalation.assignees', build);
    const escalateAtUs = compileDeadline(inner, 'after', build);
    const options = optionsOf(args);
    return {
      type: 'APPROVAL',
      signal: signalName(step),
      deadlineUs: compileDeadline(args, 'deadline', build),
      open: (scope, nowUs) => {
        const [atUs, names] = [escalateAtUs(scope, nowUs), others(scope)];
        const later = atUs === null || names === null ? null : { atUs, assignees: names };
        return { assignees: assignees(scope), options, escalation: later };
      },
    };
  },
};
