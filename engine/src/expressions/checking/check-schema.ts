/** Schemas are written by the engine, not by users: a bad one is a fault of ours. */
import { impossible } from '../../kernel/index.js';
import { NAMESPACES } from '../syntax/macros.js';
import type { CelSchema } from '../types.js';

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The names a schema declares.
 * @throws DuctorError `internal` for a name no expression could use, or one that hides a namespace or what every
 *   JavaScript object inherits; names of types may be hidden
 */
export function variablesOf(schema: CelSchema): ReadonlySet<string> {
  const names = Object.keys(schema.variables);
  for (const name of names) {
    const isTaken = NAMESPACES.has(name) || name in Object.prototype;
    if (isTaken || !IDENTIFIER.test(name)) impossible('expr-schema', `"${name}" cannot be a variable (${schema.id})`);
  }
  return new Set(names);
}
