/** Patterns of the names in a definition. */
import { isUuid } from '../../kernel/index.js';

const FAMILY_SLUG = /^[a-z][a-z0-9-]{0,127}$/;

/**
 * Whether a text can name a workflow: lower-case letters, digits and hyphens, begins with a letter, at most 128. A UUID
 * is refused, because calls take an id or a slug in one field.
 */
export function isFamilySlug(text: string): boolean {
  return FAMILY_SLUG.test(text) && !isUuid(text);
}

/** Name of a handler or queue: letters, digits, `_`, `-`, `.`, `/` and `:`, at most 128. */
export const TASK_NAME = /^[A-Za-z0-9_][A-Za-z0-9_./:-]{0,127}$/;

const STEP_REF = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Whether a text can name a step: letters, digits, `_` and `-`, at most 64. CEL reads `steps.my_ref`; a ref with a
 * hyphen or with a digit first is read as `steps["my-ref"]`. `__proto__` is refused: no object can hold it safely.
 */
export function isStepRef(text: string): boolean {
  return STEP_REF.test(text) && text !== '__proto__';
}

/** How CEL reads a step of this ref. */
export function stepExpression(ref: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(ref) ? `steps.${ref}` : `steps[${JSON.stringify(ref)}]`;
}
