/** What expressions of a definition may read, and its types. */
import type { CelSchema, CelType } from '../../../expressions/index.js';

/** Which variables an expression has: those of its step, or also `item` and `index` of a list. */
export type VariableSet = 'step' | 'item';

const FAILURE: CelType = {
  object: { code: 'string', message: 'string', step: 'string', attempt: 'double', retryable: 'bool' },
};

/**
 * `steps` is a map, not an object of the declared refs, so that one schema serves all definitions (and one cache all
 * their expressions); that a ref exists and stands before its reader is checked from the references.
 */
const STEP_VARIABLES: Readonly<Record<string, CelType>> = {
  input: 'dyn',
  steps: { map: { object: { output: 'dyn', error: FAILURE } } },
  run: {
    object: {
      id: 'string',
      family_slug: 'string',
      version: 'double',
      started_at: 'string',
      attributes: { map: 'string' },
    },
  },
};

const SCHEMAS: Readonly<Record<VariableSet, CelSchema>> = {
  step: { id: 'workflow-step', variables: STEP_VARIABLES },
  item: { id: 'workflow-item', variables: { ...STEP_VARIABLES, item: 'dyn', index: 'int' } },
};

/** The schema of a set of variables. */
export function celSchemaOf(variables: VariableSet): CelSchema {
  return SCHEMAS[variables];
}
