/** Values of a definition that compute: expressions, templates of them, literals that may be computed. */
import type { CelReference, JsonValue } from '../../../expressions/index.js';
import { DuctorError } from '../../../kernel/index.js';
import type { CelVariables } from './cel-scope.js';
import type { Meter } from './meter.js';

/** One evaluation of the expressions of a step. */
export interface Evaluation {
  readonly variables: CelVariables;
  readonly meter: Meter;
}

/** Something compiled. */
export interface Computed {
  readonly references: readonly CelReference[];
  /**
   * The value as CEL yields it: ints are bigint.
   * @throws DuctorError expression_failed, expression_too_costly
   */
  value(evaluation: Evaluation): unknown;
  /** The value as plain JSON. Throws as `value` does, and expression_failed for what JSON cannot hold. */
  json(evaluation: Evaluation): JsonValue;
}

/** Something that yields JSON by itself. */
export function jsonComputed(
  references: readonly CelReference[],
  json: (evaluation: Evaluation) => JsonValue,
): Computed {
  return { references, value: json, json };
}

/** Runs something and says where it failed: `place: message`. */
export function located<T>(place: string, run: () => T): T {
  try {
    return run();
  } catch (caught) {
    if (!(caught instanceof DuctorError)) throw caught;
    const { code, details, remedy } = caught;
    throw new DuctorError(code, `${place}: ${caught.message}`, { details, remedy, cause: caught });
  }
}

/** A failure of values met at run time. Throws expression_failed. */
export function valueFailed(message: string, remedy: string): never {
  throw new DuctorError('expression_failed', message, { remedy });
}

/** What a value of CEL is, with its article; never the value itself, which may be secret. */
export function kindOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'boolean':
      return 'a boolean';
    case 'number':
    case 'bigint':
      return 'a number';
    case 'string':
      return 'a string';
    default:
      return 'an object';
  }
}
