/** The schema of a workflow's input. */
export { checkInputValue, type Check as InputCheck } from './check.js';
export { compileInputSchema } from './compile-input-schema.js';
