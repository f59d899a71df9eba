/** What expressions of a definition may read, and its types. */
import type { CelCompiler, CelSchema, CelType } from '../../../expressions/index.js';

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

/** What only expressions of a body may read, or of a step that takes an update. */
export type BodyVariable = 'item' | 'index' | 'vars' | 'update';

const BODY_VARIABLES: Readonly<Record<BodyVariable, CelType>> = {
  item: 'dyn',
  index: 'int',
  vars: 'dyn',
  update: 'dyn',
};

const EXTENDED = new Map<string, CelSchema>();

function extended(schema: CelSchema, names: readonly BodyVariable[]): CelSchema {
  const id = [schema.id, ...names].join('+');
  const known = EXTENDED.get(id);
  if (known !== undefined) return known;
  const own = Object.fromEntries(names.map((name) => [name, BODY_VARIABLES[name]]));
  // An operation over a list has an item of its own, which hides that of the body.
  const schemaOfBody = { ...schema, id, variables: { ...own, ...schema.variables } };
  EXTENDED.set(id, schemaOfBody);
  return schemaOfBody;
}

/** A compiler for the expressions of a body, which may read these variables too. */
export function compilerWithin(cel: CelCompiler, names: readonly BodyVariable[]): CelCompiler {
  if (names.length === 0) return cel;
  return {
    compile: (text, schema, result) => cel.compile(text, extended(schema, names), result),
    check: (text, schema, result) => cel.check(text, extended(schema, names), result),
  };
}

/** The schema of a set of variables. */
export function celSchemaOf(variables: VariableSet): CelSchema {
  return SCHEMAS[variables];
}
