/**
 * How much of its cases a long test goes through: a part in `npm test`, which every change waits for, and all of them
 * where DUCTOR_TEST_LENGTH is "full", as in `.ci/run`.
 */

/** @returns the first number, or in full the second */
export function cases(part: number, full: number): number {
  return process.env['DUCTOR_TEST_LENGTH'] === 'full' ? full : part;
}
