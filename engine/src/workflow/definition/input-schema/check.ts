/** A compiled JSON Schema at work on one input. */

/** Values that one input may be compared with parts of its schema; schemas that branch and recur can multiply them. */
const BUDGET = 1_000_000;
/** Schemas at work inside each other: eight for each level of JSON of the deepest allowed nesting. */
const MAX_NESTING = 512;
/** Problems of one input that are listed. */
const MAX_FOUND = 50;

/** One pass over one input. */
export interface Visit {
  /** Problems in order, `input.lead.id: is missing`. */
  readonly found: string[];
  /** Shared with the passes that try alternatives. */
  readonly costs: { left: number; nesting: number };
}

/** Whether a value conforms; what is wrong goes to the visit. */
export type Check = (visit: Visit, value: unknown, place: string) => boolean;

/** Never leaves this file. */
class SchemaTooCostly extends Error {}

/** Notes a problem; answers false. */
export function fail(visit: Visit, place: string, problem: string): false {
  if (visit.found.length < MAX_FOUND) visit.found.push(`${place}: ${problem}`);
  return false;
}

/** A pass whose problems nobody hears: for alternatives. */
export function silently(visit: Visit): Visit {
  return { found: [], costs: visit.costs };
}

/** All checks, without stopping at the first that fails. Throws SchemaTooCostly. */
export function allOf(checks: readonly Check[]): Check {
  return (visit, value, place) => {
    const { costs } = visit;
    costs.left -= 1 + checks.length;
    costs.nesting += 1;
    if (costs.left < 0 || costs.nesting > MAX_NESTING) throw new SchemaTooCostly();
    let isFine = true;
    for (const check of checks) isFine = check(visit, value, place) && isFine;
    costs.nesting -= 1;
    return isFine;
  };
}

/**
 * Everything wrong with a value; empty when it conforms.
 *
 * @param place what the value is called. Default: input
 */
export function checkInputValue(check: Check, value: unknown, place = 'input'): readonly string[] {
  const visit: Visit = { found: [], costs: { left: BUDGET, nesting: 0 } };
  try {
    check(visit, value, place);
  } catch (caught) {
    if (!(caught instanceof SchemaTooCostly)) throw caught;
    return [`${place}: is too costly to compare with its schema; its references recur without end, or it is too large`];
  }
  return visit.found;
}

/** What a value is, with its article. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
