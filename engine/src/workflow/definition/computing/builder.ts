/** Compiles what computes. The definition has been validated: what does not compile here throws. */
import { toJsonValue, type CelCompiler, type CelReference, type CelType } from '../../../expressions/index.js';
import { DuctorError } from '../../../kernel/index.js';
import { isJsonList, isJsonObject } from '../checking/shape.js';
import { childPath } from '../checking/problems.js';
import type { Json } from '../definition.js';
import { celSchemaOf, type VariableSet } from './cel-schemas.js';
import { jsonComputed, located, valueFailed, type Computed, type Evaluation } from './computed.js';
import type { ExprField, LiteralField } from './field-spec.js';

/** Compiles fields; paths are those of the step, `args.project`, for messages at run time. */
export interface Builder {
  /** Throws DuctorError expression_invalid, expression_too_costly. */
  expression(text: string, path: string, variables: VariableSet, result?: CelType): Computed;
  /** An expr field. */
  expr(value: Json, path: string, spec: ExprField): Computed;
  /** A template field. */
  template(value: Json, path: string, variables: VariableSet): Computed;
  /** A literal field; one that is computed is checked as a literal would be. */
  literal(value: Json, path: string, spec: LiteralField): Computed;
}

/** A rough count of the parts of an expression: its names, numbers, texts and operators. At least 1. */
function weightOf(text: string): number {
  return Math.max(1, text.match(/[A-Za-z_][A-Za-z0-9_]*|[0-9.]+|"[^"]*"|'[^']*'|[^\s\w]/g)?.length ?? 1);
}

/** `{"expr": "…"}`: the expression, or undefined when the value is something else. */
export function computedLiteral(value: Json): string | undefined {
  if (!isJsonObject(value) || Object.keys(value).length !== 1) return undefined;
  const text = Object.hasOwn(value, 'expr') ? value['expr'] : undefined;
  return typeof text === 'string' ? text : undefined;
}

function compileExpression(
  cel: CelCompiler,
  text: string,
  path: string,
  variables: VariableSet,
  result: CelType,
): Computed {
  const expression = located(path, () => cel.compile(text, celSchemaOf(variables), result));
  const weight = weightOf(text);
  const evaluate = ({ meter, variables: values }: Evaluation): unknown => {
    meter.spend(weight);
    return expression.evaluate(values, meter.budget);
  };
  return {
    references: expression.references,
    value: (evaluation) => located(path, () => evaluate(evaluation)),
    json: (evaluation) => located(path, () => toJsonValue(evaluate(evaluation))),
  };
}

function referencesOf(parts: readonly Computed[]): readonly CelReference[] {
  return parts.flatMap((part) => part.references);
}

/** A builder on a compiler. */
export function createBuilder(cel: CelCompiler): Builder {
  const expression: Builder['expression'] = (text, path, variables, result = 'dyn') =>
    compileExpression(cel, text, path, variables, result);

  const template: Builder['template'] = (value, path, variables) => {
    if (typeof value === 'string') return expression(value, path, variables);
    if (isJsonList(value)) {
      const items = value.map((item, index) => template(item, childPath(path, index), variables));
      return jsonComputed(referencesOf(items), (evaluation) => items.map((item) => item.json(evaluation)));
    }
    if (!isJsonObject(value)) return jsonComputed([], () => value);
    const fields = Object.entries(value).map(
      ([key, field]) => [key, template(field, childPath(path, key), variables)] as const,
    );
    return jsonComputed(referencesOf(fields.map(([, field]) => field)), (evaluation) =>
      Object.fromEntries(fields.map(([key, field]) => [key, field.json(evaluation)] as const)),
    );
  };

  const literal: Builder['literal'] = (value, path, spec) => {
    const text = spec.computable === true ? computedLiteral(value) : undefined;
    if (text === undefined) return jsonComputed([], () => value);
    const computed = expression(text, path, 'step');
    return jsonComputed(computed.references, (evaluation) => {
      const result = computed.json(evaluation);
      const problem = spec.problem(result);
      if (problem === undefined) return result;
      return valueFailed(`${path}: the computed value ${problem}`, `It must be such as ${spec.example}.`);
    });
  };

  return {
    expression,
    template,
    literal,
    expr(value, path, spec) {
      if (typeof value === 'string') return expression(value, path, spec.variables, spec.result);
      if (typeof value !== 'object' || value === null) return jsonComputed([], () => value);
      throw new DuctorError('internal', `${path} was validated as an expression but is none`);
    },
  };
}
