/** Checks the fields of a step type by its table. */
import { computedLiteral } from '../computing/builder.js';
import type { ExprField, Fields, FieldSpec, LiteralField, ObjectField } from '../computing/field-spec.js';
import type { Json } from '../definition.js';
import { didYouMean } from '../suggest.js';
import { checkExpression, checkTemplate, type ExpressionChecks } from './expressions.js';
import { childPath } from './problems.js';
import { field, isJsonList, isJsonObject, jsonKind, readObject, refuseUnknown } from './shape.js';

function checkLiteral(checks: ExpressionChecks, path: string, value: Json, spec: LiteralField): void {
  const { problems } = checks;
  const text = computedLiteral(value);
  if (text !== undefined) {
    if (spec.computable === true) checkExpression(checks, childPath(path, 'expr'), text, 'step');
    else
      problems.add(path, value, `cannot be computed: ${spec.computable.why}`, `Write it out, such as ${spec.example}.`);
    return;
  }
  const problem = spec.problem(value);
  if (problem === undefined) return;
  const hint = typeof value === 'string' && spec.choices !== undefined ? didYouMean(value, spec.choices) : '';
  const computed = spec.computable === true ? ' To compute it, write {"expr": "..."}.' : '';
  problems.add(path, value, problem, `Write it such as ${spec.example}.${hint}${computed}`);
}

/** Whether a value that is no text may stand for an expression of this result. */
function isScalarFor(value: Json, spec: ExprField): boolean {
  if (typeof value === 'object' && value !== null) return false;
  return spec.result === 'dyn' || (spec.result === 'bool' && typeof value === 'boolean');
}

function checkExpr(checks: ExpressionChecks, path: string, value: Json, spec: ExprField): void {
  if (typeof value === 'string') checkExpression(checks, path, value, spec.variables, spec.result);
  else if (!isScalarFor(value, spec)) {
    const problem = `is ${jsonKind(value)}, not a CEL expression`;
    checks.problems.add(path, value, problem, `Write it such as ${spec.example}.`);
  }
}

function checkObject(checks: ExpressionChecks, path: string, value: Json, spec: ObjectField): void {
  const names = Object.keys(spec.fields);
  if (spec.isChoice === true && isJsonObject(value)) {
    const present = Object.keys(value);
    const [only] = present;
    if (present.length !== 1 || only === undefined || !names.includes(only)) {
      const hint = only === undefined ? '' : didYouMean(only, names);
      const problem = `does not have exactly one of ${names.join(', ')}`;
      checks.problems.add(path, value, problem, `Write it such as ${spec.example}.${hint}`);
      return;
    }
  }
  checkFields(checks, path, value, spec.fields, 'it');
}

function checkField(checks: ExpressionChecks, path: string, value: Json, spec: FieldSpec): void {
  switch (spec.kind) {
    case 'literal':
      return checkLiteral(checks, path, value, spec);
    case 'expr':
      return checkExpr(checks, path, value, spec);
    case 'template':
      return checkTemplate(checks, path, value, spec.variables);
    case 'object':
      return checkObject(checks, path, value, spec);
    case 'list':
      if (!isJsonList(value) || value.length === 0) {
        const problem = isJsonList(value) ? 'is empty' : `is ${jsonKind(value)}, not a list`;
        return checks.problems.add(path, value, problem, `Write it such as ${spec.example}.`);
      }
      return value.forEach((item, index) => checkField(checks, childPath(path, index), item, spec.item));
    case 'record':
      if (!isJsonObject(value) || Object.keys(value).length === 0) {
        const problem = isJsonObject(value) ? 'is empty' : `is ${jsonKind(value)}, not an object`;
        return checks.problems.add(path, value, problem, `Write it such as ${spec.example}.`);
      }
      for (const [key, item] of Object.entries(value)) checkField(checks, childPath(path, key), item, spec.value);
  }
}

/** Checks an object against a table of fields. `owner` is what the fields belong to, for "is not a field of …". */
export function checkFields(checks: ExpressionChecks, path: string, value: Json, fields: Fields, owner: string): void {
  const reader = readObject(checks.problems, path, value);
  if (reader === undefined) return;
  refuseUnknown(reader, Object.keys(fields), owner);
  for (const [name, spec] of Object.entries(fields)) {
    const found = field(reader.object, name);
    if (found !== undefined) checkField(checks, childPath(path, name), found, spec);
    else if (spec.isRequired) {
      const remedy = `Add it, such as ${JSON.stringify(name)}: ${spec.example}.`;
      checks.problems.add(childPath(path, name), undefined, 'is missing', remedy);
    }
  }
}
