/** What an expression reads of its scope. */
import { childrenOf, type Expr } from '../syntax/expr.js';
import type { CelReference } from '../types.js';

/**
 * Every path an expression may read, without doubles, in order of the text. A path ends where a computed key, an index
 * of a list or a function begins; variables of macros are no paths.
 * @param variables names the scope holds
 */
export function referencesOf(expr: Expr, variables: ReadonlySet<string>): readonly CelReference[] {
  const found = new Map<string, CelReference>();
  collect(expr, new Set(), variables, found);
  return [...found.values()];
}

function collect(
  expr: Expr,
  hidden: ReadonlySet<string>,
  variables: ReadonlySet<string>,
  found: Map<string, CelReference>,
): void {
  const path = pathOf(expr);
  const [root] = path ?? [];
  if (path !== undefined && root !== undefined) {
    if (variables.has(root) && !hidden.has(root)) found.set(JSON.stringify(path), path);
    return;
  }
  if (expr.kind === 'range') {
    collect(expr.range, hidden, variables, found);
    const inner = new Set([...hidden, ...expr.variables]);
    if (expr.filter !== undefined) collect(expr.filter, inner, variables, found);
    collect(expr.body, inner, variables, found);
    return;
  }
  if (expr.kind === 'bind') {
    collect(expr.value, hidden, variables, found);
    collect(expr.body, new Set([...hidden, expr.variable]), variables, found);
    return;
  }
  for (const child of childrenOf(expr)) collect(child, hidden, variables, found);
}

/** The path an expression is, undefined when it is more than that. */
function pathOf(expr: Expr): CelReference | undefined {
  switch (expr.kind) {
    case 'name':
      return [expr.name];
    case 'select':
    case 'has':
      return extend(expr.operand, expr.field);
    case 'index':
      return expr.key.kind === 'literal' && typeof expr.key.value === 'string'
        ? extend(expr.operand, expr.key.value)
        : undefined;
    default:
      return undefined;
  }
}

function extend(owner: Expr, field: string): CelReference | undefined {
  const path = pathOf(owner);
  return path === undefined ? undefined : [...path, field];
}
