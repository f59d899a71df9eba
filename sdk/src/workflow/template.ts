/**
 * Turns what a user wrote for an input or output (references, plain values, objects of both) into a definition's
 * template.
 */
import { celLiteral } from './cel-text.js';
import { DefinitionError } from './definition-error.js';
import type { Jsonify } from './jsonify.js';
import { type Reference, type StepRead, type Whole, referenceCore } from './reference.js';

/** JSON as definitions hold it; every string is a CEL expression. */
export type TemplateJson = string | number | boolean | null | TemplateJson[] | { [key: string]: TemplateJson };

/** What may be written where a value is expected: a reference, a plain value, or objects and lists of both. */
export type Template<T> =
  | Reference<T>
  | (T extends readonly (infer E)[]
      ? readonly Template<E>[]
      : T extends object
        ? { readonly [K in keyof T]: Template<T[K]> }
        : T);

/** The type a template has once its references are filled in. */
export type Resolved<X> =
  X extends Reference<infer T>
    ? T
    : X extends readonly (infer E)[]
      ? number extends X['length']
        ? Resolved<E>[]
        : { -readonly [K in keyof X]: Resolved<X[K]> }
      : X extends object
        ? { -readonly [K in keyof X]: Resolved<X[K]> }
        : X;

/** What arrives of a template: a whole value as it was, anything else as JSON. */
export type Arrives<X> = X extends Whole<infer T> ? T : Jsonify<Resolved<X>>;

/** A compiled template. */
export interface CompiledTemplate {
  readonly json: TemplateJson;
  readonly reads: readonly StepRead[];
}

/** Compiles a template. Throws DefinitionError naming the path of a value that cannot stand in a definition. */
export function compileTemplate(value: unknown, path: string): CompiledTemplate {
  const core = referenceCore(value);
  if (core !== undefined) return { json: core.cel, reads: core.reads };
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return { json: value, reads: [] };
  if (typeof value === 'string') return { json: celLiteral(value), reads: [] };
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => compileTemplate(item, `${path}[${index}]`));
    return { json: items.map((item) => item.json), reads: items.flatMap((item) => item.reads) };
  }
  if (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
    const fields = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, compileTemplate(item, `${path}.${key}`)] as const);
    return {
      json: Object.fromEntries(fields.map(([key, field]) => [key, field.json])),
      reads: fields.flatMap(([, field]) => field.reads),
    };
  }
  throw new DefinitionError(
    `${path} is ${typeof value}, which JSON cannot hold`,
    'use plain JSON values and references',
  );
}
