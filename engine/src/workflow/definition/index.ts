/** Definitions: what users write, what is wrong with it, and the plan it becomes. Pure. */
export { canonicalDefinition, definitionDigest, normaliseDefinition, printDefinition } from './canonical.js';
export { compilePlan } from './compile.js';
export { diffDefinitions, type DefinitionChange } from './diff.js';
export type { Definition, EdgeDefinition, JoinDefinition, Json } from './definition.js';
export type { RetryDefinition, StepDefinition } from './definition.js';
export { DEFINITION_LIMITS } from './limits.js';
export { isFamilySlug, isStepRef, TASK_NAME } from './names.js';
export { STEP_DEFAULTS } from './retry.js';
export { checkStorable, validateDefinition, type Validation } from './validate.js';
