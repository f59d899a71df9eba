/** Expressions: CEL behind an own interface. Pure: synchronous, no clock, no IO. */
export { nearestName } from './checking/nearest.js';
export { createCelCompiler } from './compiler.js';
export { toJsonValue } from './json-value.js';
export type {
  CelBudget,
  CelCompiler,
  CelExpression,
  CelProblem,
  CelReference,
  CelSchema,
  CelType,
  JsonValue,
} from './types.js';
