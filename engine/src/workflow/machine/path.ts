/**
 * Addresses of steps. A step of the plan's top level has its ref as its path; one in a body has the path of the scope
 * before it: `offer[3]/post` is step `post` of the body that step `offer` runs for its item 3. A scope is one run of a
 * body, named `offer[3]`; the top level is the scope with the empty name. Refs hold neither `/` nor `[`.
 */

/** The scope of a step, `offer[3]` of `offer[3]/post`; empty for the top level. */
export function scopeOfPath(path: string): string {
  const cut = path.lastIndexOf('/');
  return cut === -1 ? '' : path.slice(0, cut);
}

/** The ref of a step, `post` of `offer[3]/post`. */
export function refOfPath(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The path of a step in a scope. */
export function pathIn(scope: string, ref: string): string {
  return scope === '' ? ref : `${scope}/${ref}`;
}

/** The scope of a body that a step runs for an item or iteration, from 0. */
export function scopeName(path: string, index: number): string {
  return `${path}[${index}]`;
}

/** The path of the step that runs the body of a scope: `offer` of `offer[3]`. */
export function ownerOfScope(scope: string): string {
  return scope.slice(0, scope.lastIndexOf('['));
}

/** The item or iteration a scope is for: 3 of `offer[3]`. */
export function indexOfScope(scope: string): number {
  return Number(scope.slice(scope.lastIndexOf('[') + 1, -1));
}
