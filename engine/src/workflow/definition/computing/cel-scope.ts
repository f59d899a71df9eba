/** The scope of a tick as CEL reads it: only what an expression refers to is looked up and parsed. */
import type { CelReference } from '../../../expressions/index.js';
import type { ExpressionScope } from '../../machine/plan.js';

/** Variables by name, as the evaluator reads them. */
export type CelVariables = Record<string, unknown>;

interface StepNeeds {
  output: boolean;
  error: boolean;
}

/** What a set of expressions refers to. */
export interface Needs {
  readonly input: boolean;
  readonly run: boolean;
  /** Variables of bodies; an operation over a list sets its own item and index over them. */
  readonly item: boolean;
  readonly index: boolean;
  readonly vars: boolean;
  /** The input of an update. */
  readonly update: boolean;
  readonly steps: ReadonlyMap<string, Readonly<StepNeeds>>;
}

/** What these references need; a step read as a whole needs both of its fields. */
export function needsOf(references: readonly CelReference[]): Needs {
  const steps = new Map<string, StepNeeds>();
  for (const [root, ref, part] of references) {
    if (root !== 'steps' || ref === undefined) continue;
    const needs = steps.get(ref) ?? { output: false, error: false };
    if (part !== 'error') needs.output = true;
    if (part !== 'output') needs.error = true;
    steps.set(ref, needs);
  }
  const reads = (name: string): boolean => references.some(([root]) => root === name);
  const [item, index, vars] = [reads('item'), reads('index'), reads('vars')];
  return { input: reads('input'), run: reads('run'), item, index, vars, update: reads('update'), steps };
}

/** `{ output, error }` of a step; what it does not have is absent, so that has() tells. */
function stepValue(scope: ExpressionScope, ref: string, needs: StepNeeds): unknown {
  const value: CelVariables = {};
  const output = needs.output ? scope.stepOutput(ref) : undefined;
  if (output !== undefined) value['output'] = output;
  const error = needs.error ? scope.stepError(ref) : undefined;
  if (error !== undefined) value['error'] = error;
  return value;
}

/** Outside of bodies there is no such variable. */
function set(variables: CelVariables, name: string, value: unknown): void {
  if (value !== undefined) variables[name] = value;
}

/** A fresh set of variables; the caller may add `item` and `index`. */
export function celVariables(scope: ExpressionScope, needs: Needs): CelVariables {
  const variables: CelVariables = {};
  if (needs.input) variables['input'] = scope.input();
  if (needs.run) variables['run'] = scope.run;
  if (needs.item) set(variables, 'item', scope.item?.());
  if (needs.vars) set(variables, 'vars', scope.vars?.());
  if (needs.update) set(variables, 'update', scope.update?.());
  const index = needs.index ? scope.index?.() : undefined;
  if (index !== undefined) variables['index'] = BigInt(index);
  if (needs.steps.size > 0) {
    const steps = [...needs.steps].map(([ref, fields]) => [ref, stepValue(scope, ref, fields)] as const);
    variables['steps'] = Object.fromEntries(steps);
  }
  return variables;
}
