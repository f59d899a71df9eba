/** STEP_TYPE_DATAFLOW: a deterministic transform in the engine; one operation per step. */
import type { ExpressionChecks } from '../../checking/expressions.js';
import { field, type JsonObject } from '../../checking/shape.js';
import { createBuilder } from '../../computing/builder.js';
import type { LiteralField } from '../../computing/field-spec.js';
import { didYouMean } from '../../suggest.js';
import { overScope, type StepType } from '../step-type.js';
import { impossible } from '../../../../kernel/index.js';
import { AGGREGATE } from './aggregate.js';
import { ASSERT } from './assert.js';
import { DEDUPE } from './dedupe.js';
import { FILTER } from './filter.js';
import { FLAT_MAP } from './flat-map.js';
import { MAP } from './map.js';
import { MERGE } from './merge.js';
import type { Operation } from './operation.js';
import { PROJECT } from './project.js';
import { SORT } from './sort.js';

/** Operations by name. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  [PROJECT, FILTER, MAP, FLAT_MAP, MERGE, AGGREGATE, SORT, DEDUPE, ASSERT].map((operation) => [
    operation.name,
    operation,
  ]),
);

const NAMES = [...OPERATIONS.keys()];

const OPERATION: LiteralField = {
  kind: 'literal',
  isRequired: true,
  example: '"project"',
  choices: NAMES,
  computable: { why: 'the other fields depend on it' },
  // Which operation it is has been decided before its fields are checked.
  problem: () => undefined,
};

function operationOf(args: JsonObject): Operation | undefined {
  const name = field(args, 'operation');
  return typeof name === 'string' ? OPERATIONS.get(name) : undefined;
}

function refuseOperation({ problems }: ExpressionChecks, path: string, args: JsonObject): void {
  const name = field(args, 'operation');
  const known = `Operations: ${NAMES.join(', ')}.`;
  if (name === undefined) {
    problems.add(`${path}.operation`, undefined, 'is missing', `Add it, such as "operation": "project". ${known}`);
    return;
  }
  const hint = typeof name === 'string' ? didYouMean(name, NAMES) : ' It is a literal and cannot be computed.';
  problems.add(`${path}.operation`, name, 'is no operation of a DATAFLOW step', `${known}${hint}`);
}

/** args: operation, and the fields of that operation; the one named like the operation says what it does. */
export const DATAFLOW: StepType = {
  name: 'STEP_TYPE_DATAFLOW',
  options: new Set(),
  fieldsOf(args) {
    const operation = operationOf(args);
    return operation === undefined ? undefined : { operation: OPERATION, ...operation.fields };
  },
  check(checks, path, args) {
    const operation = operationOf(args);
    if (operation === undefined) refuseOperation(checks, path, args);
    else operation.check?.(checks, path, args);
  },
  canFail: () => true,
  compile({ args = {} }, cel) {
    const operation = operationOf(args) ?? impossible('dataflow-operation', 'a validated step has no operation');
    const computed = operation.compile(args, createBuilder(cel));
    return { type: 'DATAFLOW', transform: overScope(computed, (evaluation) => computed.json(evaluation)) };
  },
};
