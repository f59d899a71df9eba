/** Calls that are not calls: macros, and functions of a namespace. */
import type { Expr, RangeMacro } from './expr.js';
import { SyntaxFailure } from './syntax-problem.js';

/** Names that stand for a group of functions, `math.abs(x)`, and can be no variable's name. */
export const NAMESPACES: ReadonlySet<string> = new Set(['math', 'strings', 'base64', 'cel']);

/** `has(x.y)`, or a plain call. Throws SyntaxFailure. */
export function expandCall(at: number, name: string, args: readonly Expr[]): Expr {
  if (name !== 'has') return { kind: 'call', at, name, isMethod: false, args };
  const [field, ...rest] = args;
  if (field?.kind !== 'select' || rest.length > 0) {
    throw new SyntaxFailure({ at, problem: 'has() takes one field', remedy: 'Write has(a.b).' });
  }
  return { kind: 'has', at: field.at, operand: field.operand, field: field.field };
}

/** A macro over a range, `cel.bind`, a function of a namespace, or a plain method. Throws SyntaxFailure. */
export function expandMethod(at: number, name: string, receiver: Expr, args: readonly Expr[]): Expr {
  if (receiver.kind === 'name' && NAMESPACES.has(receiver.name)) {
    const full = `${receiver.name}.${name}`;
    return full === 'cel.bind' ? expandBind(at, args) : { kind: 'call', at, name: full, isMethod: false, args };
  }
  const form = FORMS[`${name}/${args.length}`];
  if (form === undefined) return { kind: 'call', at, name, isMethod: true, args: [receiver, ...args] };
  const variables = args.slice(0, form.variables).map((arg) => variableName(arg, name));
  if (new Set(variables).size < variables.length) {
    throw new SyntaxFailure({ at, problem: `${name}() names one variable twice`, remedy: 'Name them differently.' });
  }
  const filter = form.hasFilter ? args[form.variables] : undefined;
  const body = args[args.length - 1];
  if (body === undefined) throw new SyntaxFailure({ at, problem: `${name}() has no body`, remedy: 'Add one.' });
  return { kind: 'range', at, macro: form.macro, range: receiver, variables, filter, body };
}

interface MacroForm {
  readonly macro: RangeMacro;
  readonly variables: 1 | 2;
  readonly hasFilter?: true;
}

/** Macros by name and number of arguments; the forms of two variables are those of CEL's comprehension extension. */
const FORMS: Readonly<Record<string, MacroForm>> = {
  'all/2': { macro: 'all', variables: 1 },
  'all/3': { macro: 'all', variables: 2 },
  'exists/2': { macro: 'exists', variables: 1 },
  'exists/3': { macro: 'exists', variables: 2 },
  'exists_one/2': { macro: 'exists_one', variables: 1 },
  'existsOne/2': { macro: 'exists_one', variables: 1 },
  'exists_one/3': { macro: 'exists_one', variables: 2 },
  'existsOne/3': { macro: 'exists_one', variables: 2 },
  'map/2': { macro: 'map', variables: 1 },
  'map/3': { macro: 'map', variables: 1, hasFilter: true },
  'filter/2': { macro: 'filter', variables: 1 },
  'transformList/3': { macro: 'transformList', variables: 2 },
  'transformList/4': { macro: 'transformList', variables: 2, hasFilter: true },
  'transformMap/3': { macro: 'transformMap', variables: 2 },
  'transformMap/4': { macro: 'transformMap', variables: 2, hasFilter: true },
  'transformMapEntry/3': { macro: 'transformMapEntry', variables: 2 },
  'transformMapEntry/4': { macro: 'transformMapEntry', variables: 2, hasFilter: true },
};

/** Names of the macros over a range, with whatever number of arguments. */
export const MACRO_NAMES: ReadonlySet<string> = new Set(Object.keys(FORMS).map((form) => form.split('/')[0] ?? ''));

function expandBind(at: number, args: readonly Expr[]): Expr {
  const [variable, value, body] = args;
  if (variable === undefined || value === undefined || body === undefined || args.length !== 3) {
    throw new SyntaxFailure({
      at,
      problem: 'cel.bind() takes a name, a value and an expression',
      remedy: 'Write cel.bind(x, a + b, x * x).',
    });
  }
  return { kind: 'bind', at, variable: variableName(variable, 'cel.bind'), value, body };
}

function variableName(arg: Expr, macro: string): string {
  if (arg.kind === 'name') return arg.name;
  throw new SyntaxFailure({
    at: arg.at,
    problem: `${macro}() needs the name of a variable here`,
    remedy: 'Write a plain name.',
  });
}
