/** Pieces of requests for tests of what is refused. */
import type { JsonValue } from '@bufbuild/protobuf';
import type { JsonFields } from '../json/check-message.js';

/** JSON of a request. */
export type RequestJson = JsonFields & { readonly [key: string]: JsonValue };

/** A step that waits for an hour. */
export const WAIT = { ref: 'pause', type: 'STEP_TYPE_WAIT', args: { duration: '1h' } };
/** Some text of n characters. */
export const x = (n: number): string => 'x'.repeat(n);
/** 0 to n - 1. */
export const numbered = (n: number): number[] => Array.from({ length: n }, (_, index) => index);

/** JSON nested n deep. */
export function nested(n: number): JsonValue {
  let value: JsonValue = 1;
  for (let depth = 0; depth < n; depth += 1) value = [value];
  return value;
}

/** A trigger of the workflow `waits`. */
export const trigger = (more: RequestJson): RequestJson => ({ family_slug: 'waits', ...more });
/** A new workflow. */
export const create = (more: RequestJson): RequestJson => ({
  family_slug: 'broken',
  steps: [WAIT],
  ...more,
});
/** A new workflow with a changed step. */
export const step = (more: RequestJson): RequestJson => create({ steps: [{ ...WAIT, ...more }] });
