/** What signals and approvals have in common: a name, a schema, a deadline. */
import { impossible } from '../../../kernel/index.js';
import type { ExpressionScope } from '../../machine/plan.js';
import { CODEC_PREFIX, jsonOfValue } from '../../machine/typed-json.js';
import type { Value } from '../../machine/value.js';
import type { ExpressionChecks } from '../checking/expressions.js';
import { childPath, collectProblems } from '../checking/problems.js';
import { field, isJsonObject, jsonKind, type JsonObject } from '../checking/shape.js';
import type { Builder } from '../computing/builder.js';
import type { LiteralField } from '../computing/field-spec.js';
import type { StepDefinition } from '../definition.js';
import { checkInputValue, compileInputSchema } from '../input-schema/index.js';
import { TASK_NAME } from '../names.js';
import { compileDuration } from './duration-arg.js';

/** A name of a signal. */
export const SIGNAL_NAME: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"payment-received"',
  computable: { why: 'senders name their signal, which must be known before a run' },
  problem: (value) =>
    typeof value === 'string' && TASK_NAME.test(value)
      ? undefined
      : 'is not a name of letters, digits, "_", "-", ".", "/" and ":", at most 128',
};

/** A JSON Schema of what is sent. */
export const SCHEMA: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '{"type": "object"}',
  computable: { why: 'what is sent is checked before the run sees it' },
  problem: (value) => (isJsonObject(value) ? undefined : `is ${jsonKind(value)}, not a JSON Schema`),
};

/** The name of the signal that a step waits for: its arg, or the ref of the step. */
export function signalName({ ref, args = {} }: Pick<StepDefinition, 'ref' | 'args'>): string {
  const name = field(args, 'name');
  return typeof name === 'string' && name !== '' ? name : ref;
}

/** Says what is wrong with the schema in args. */
export function checkSchema({ problems }: ExpressionChecks, path: string, args: JsonObject, key: string): void {
  const schema = field(args, key);
  if (isJsonObject(schema)) compileInputSchema(problems, childPath(path, key), schema);
}

function parsed(value: Value, place: string): { readonly json: unknown } | { readonly problem: string } {
  try {
    return jsonOfValue(value) ?? { problem: `${place}: is encoded as ${value.encoding}; its schema needs json` };
  } catch {
    return { problem: `${place}: is not JSON` };
  }
}

/** Compiles the schema in args, where there is one: problems of a value, each beginning with its place. */
export function compileCheck(
  { args = {} }: StepDefinition,
  key: string,
  place: string,
): (value: Value) => readonly string[] {
  const schema = field(args, key);
  return compileSchema(isJsonObject(schema) ? schema : undefined, key, place);
}

/** Compiles a schema of what is sent; undefined: anything may be. */
export function compileSchema(
  schema: JsonObject | undefined,
  key: string,
  place: string,
): (value: Value) => readonly string[] {
  if (schema === undefined) return () => [];
  const collector = collectProblems(1);
  const check = compileInputSchema(collector, key, schema);
  if (collector.found().length > 0) impossible('plan-signal-schema', 'a validated schema does not compile');
  return (value) => {
    // Nobody but the app can read it: whoever sends it has to check it.
    if (value.encoding.startsWith(CODEC_PREFIX)) return [];
    const read = parsed(value, place);
    return 'problem' in read ? [read.problem] : checkInputValue(check, read.json, place);
  };
}

/** Compiles a duration in args to the instant at which it is over; null where there is none. */
export function compileDeadline(
  args: JsonObject,
  key: string,
  build: Builder,
): (scope: ExpressionScope, nowUs: number) => number | null {
  const value = field(args, key);
  if (value === undefined) return () => null;
  const us = compileDuration(value, `args.${key}`, build);
  return (scope, nowUs) => nowUs + us(scope);
}
