/** Types of calls. */
import { findFunction, functionNames } from '../functions/catalogue.js';
import { accepts, type CelFunction, type ParameterType, type Signature } from '../functions/define.js';
import type { CallExpr } from '../syntax/expr.js';
import { MACRO_NAMES } from '../syntax/macros.js';
import type { Finding } from '../syntax/syntax-problem.js';
import { nearestName } from './nearest.js';
import { describe, join, sameType, type StaticType } from './static-type.js';

/** The type a call yields, or what is wrong with it. */
export function callType(expr: CallExpr, args: readonly StaticType[]): StaticType | Finding {
  const found = findFunction(expr.name, expr.isMethod);
  if (found === undefined) return unknownFunction(expr);
  const fitting = found.signatures.filter((signature) => fits(signature, args));
  const results = fitting.map((signature) => resultOf(signature, args));
  const [first] = results;
  if (first === undefined) return noSignature(expr, found, args);
  return results.every((result) => sameType(result, first)) ? first : results.reduce(join);
}

function fits(signature: Signature, args: readonly StaticType[]): boolean {
  const { parameters, isVariadic } = signature;
  if (isVariadic ? args.length < parameters.length : args.length !== parameters.length) return false;
  return args.every((arg, index) => {
    const parameter = parameters[Math.min(index, parameters.length - 1)];
    return parameter !== undefined && accepts(parameter, arg);
  });
}

function resultOf(signature: Signature, args: readonly StaticType[]): StaticType {
  return signature.result === 'same' ? (args[0] ?? 'dyn') : signature.result;
}

function unknownFunction(expr: CallExpr): Finding {
  const what = expr.isMethod ? 'method' : 'function';
  const isOtherKind = findFunction(expr.name, !expr.isMethod) !== undefined;
  if (isOtherKind) {
    const form = expr.isMethod ? `${expr.name}(x)` : `x.${expr.name}()`;
    return { at: expr.at, problem: `"${expr.name}" is no ${what}`, remedy: `Write ${form}.` };
  }
  if (expr.isMethod && MACRO_NAMES.has(expr.name)) {
    const problem = `${expr.name}() takes a variable and an expression`;
    return { at: expr.at, problem, remedy: `Write list.${expr.name}(e, e.x == 1).` };
  }
  const known = ELSEWHERE.get(expr.name);
  if (known !== undefined)
    return { at: expr.at, problem: `there is no ${what} "${expr.name}"`, remedy: `Write ${known}.` };
  const hint = nearestName(expr.name, functionNames(expr.isMethod));
  const remedy = hint === undefined ? 'See docs/expressions.md for what there is.' : `Did you mean "${hint}"?`;
  return { at: expr.at, problem: `there is no ${what} "${expr.name}"`, remedy };
}

/** What authors know from other languages. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['length', 'size(x)'],
  ['len', 'size(x)'],
  ['count', 'size(x)'],
  ['toLowerCase', 'x.lowerAscii()'],
  ['toUpperCase', 'x.upperAscii()'],
  ['lower', 'x.lowerAscii()'],
  ['upper', 'x.upperAscii()'],
  ['includes', 'x.contains("text"), or e in list'],
  ['some', 'list.exists(e, e > 0)'],
  ['any', 'list.exists(e, e > 0)'],
  ['every', 'list.all(e, e > 0)'],
  ['find', 'list.filter(e, e > 0)[0]'],
  ['slice', 'x.substring(0, 3)'],
  ['concat', 'a + b'],
  ['test', 'x.matches("^a+$")'],
  ['match', 'x.matches("^a+$")'],
  ['toString', 'string(x)'],
  ['str', 'string(x)'],
  ['number', 'double(x)'],
  ['float', 'double(x)'],
  ['parseInt', 'int(x)'],
  ['parseFloat', 'double(x)'],
  ['abs', 'math.abs(x)'],
  ['round', 'math.round(x)'],
  ['floor', 'math.floor(x)'],
  ['ceil', 'math.ceil(x)'],
  ['max', 'math.greatest(a, b)'],
  ['min', 'math.least(a, b)'],
  ['now', 'a timestamp that is passed in: an expression has no clock'],
]);

function noSignature(expr: CallExpr, found: CelFunction, args: readonly StaticType[]): Finding {
  const given = args.length === 0 ? 'nothing' : args.map(describe).join(', ');
  const forms = found.signatures.map((signature) => describeSignature(found, signature));
  return { at: expr.at, problem: `${expr.name}() does not take ${given}`, remedy: `It is ${forms.join(' or ')}.` };
}

/** A signature as the documentation writes it: `string.charAt(int)`. */
export function describeSignature(found: CelFunction, signature: Signature): string {
  const words = signature.parameters.map(describeParameter);
  if (signature.isVariadic) words.push(`${words.pop() ?? ''}...`);
  return found.isMethod
    ? `${words[0] ?? ''}.${found.name}(${words.slice(1).join(', ')})`
    : `${found.name}(${words.join(', ')})`;
}

function describeParameter(parameter: ParameterType): string {
  if (parameter === 'index') return 'int';
  return typeof parameter === 'string' ? parameter : 'list<string>';
}
