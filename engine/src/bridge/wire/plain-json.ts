/** JSON that arrived as google.protobuf.Value or Struct, made plain and checked. */
import { checkJson, DuctorError, type Problem } from '../../kernel/index.js';
import type { Json } from '../ports.js';

/** Whether an object in it has another prototype: that is what a field named __proto__ became. */
function hasForeignPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasForeignPrototype);
  if (Object.getPrototypeOf(value) !== Object.prototype) return true;
  return Object.values(value).some(hasForeignPrototype);
}

function isChecked(value: unknown, problems: readonly Problem[]): value is Json {
  return value !== undefined && problems.length === 0;
}

/**
 * The value as JSON.
 *
 * @param value what the generated code decoded
 * @param path where it stands in the request
 *
 * Throws invalid_argument, with details, when it is deeper, longer or stranger than JSON from outside may be.
 */
export function plainJson(value: unknown, path: string): Json {
  const problems = [...checkJson(value, path)];
  if (problems.length === 0 && hasForeignPrototype(value)) {
    const problem = 'an object has a field named __proto__';
    problems.push({ path, value: '__proto__', problem, remedy: 'give the field another name' });
  }
  if (isChecked(value, problems)) return value;
  throw new DuctorError('invalid_argument', `${path} is not acceptable JSON`, { details: problems });
}

function isObject(json: Json): json is { readonly [key: string]: Json } {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** Like plainJson, for a Struct: the answer is an object. */
export function plainObject(value: object, path: string): { readonly [key: string]: Json } {
  const json = plainJson(value, path);
  if (isObject(json)) return json;
  throw new DuctorError('invalid_argument', `${path} is not a JSON object`);
}
