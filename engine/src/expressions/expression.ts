/** A compiled expression, and the one place where what happens inside becomes errors for the outside. */
import { DuctorError } from '../kernel/index.js';
import { describe, isNumeric } from './checking/static-type.js';
import type { Built } from './evaluating/build.js';
import type { Frame } from './evaluating/frame.js';
import type { PatternCache } from './functions/pattern-cache.js';
import { LIMITS } from './limits.js';
import { positionOf } from './syntax/syntax-problem.js';
import type { CelExpression, CelReference, CelType } from './types.js';
import { CelFailure, CostExceeded } from './values/failure.js';
import { describeKind, kindOf } from './values/values.js';

/** What a compiled expression is made of. */
export interface ExpressionParts {
  readonly text: string;
  readonly built: Built;
  readonly resultType: CelType;
  /** Type the result must have; looked at again on the value when the checker could not know it. */
  readonly expected: CelType;
  readonly references: readonly CelReference[];
  readonly literalPatterns: PatternCache;
  readonly patterns: PatternCache;
}

/** Puts the parts together. */
export function createExpression(parts: ExpressionParts): CelExpression {
  const { text, built, resultType, expected, references, literalPatterns, patterns } = parts;
  const mustLook = expected !== 'dyn' && expected !== resultType;
  return {
    text,
    resultType,
    references,
    evaluate: (scope, budget) => {
      const steps = Math.min(LIMITS.cost, budget?.left ?? LIMITS.cost);
      const locals = new Array<unknown>(built.slots);
      const frame: Frame = { scope, locals, literalPatterns, patterns, budget: steps };
      try {
        const result = built.run(frame);
        if (mustLook && !isOfType(result, expected)) throw unexpected(result, expected);
        return result;
      } catch (caught) {
        throw toError(text, caught);
      } finally {
        if (budget !== undefined) budget.left -= steps - frame.budget;
      }
    },
  };
}

/** Whether a value is of a type, without looking into lists and maps. */
function isOfType(value: unknown, expected: CelType): boolean {
  const kind = kindOf(value);
  if (typeof expected === 'object') return kind === ('list' in expected ? 'list' : 'map');
  if (expected === 'double') return isNumeric(kind === 'list' || kind === 'map' ? 'dyn' : kind);
  if (expected === 'int' || expected === 'uint') return isWhole(value, kind);
  return kind === expected;
}

/** An int, or a double without decimals: JSON has no ints. */
function isWhole(value: unknown, kind: string): boolean {
  return kind === 'int' || kind === 'uint' || (typeof value === 'number' && Number.isSafeInteger(value));
}

function unexpected(value: unknown, expected: CelType): CelFailure {
  const failure = new CelFailure(
    `it yields ${describeKind(kindOf(value))}, and ${describe(expected)} is wanted`,
    'Compare or convert it.',
  );
  failure.at = 0;
  return failure;
}

/** No cause is kept: what the runtime throws may quote values of the scope, and causes end in logs. */
function toError(text: string, caught: unknown): DuctorError {
  if (caught instanceof CelFailure) {
    const { line, column } = positionOf(text, Math.max(0, caught.at));
    const problem = `line ${line}, column ${column}: ${caught.problem}`;
    return new DuctorError('expression_failed', problem, {
      details: [{ path: '', value: text.slice(0, 200), problem, remedy: caught.remedy ?? DEFAULT_REMEDY }],
      ...(caught.remedy === undefined ? {} : { remedy: caught.remedy }),
    });
  }
  if (caught instanceof CostExceeded || caught instanceof RangeError) {
    const message = `the expression takes more than ${LIMITS.cost} steps on these values`;
    return new DuctorError('expression_too_costly', message, { details: [] });
  }
  const what = caught instanceof Error ? caught.name : typeof caught;
  return new DuctorError('internal', `impossible state [expr-evaluate]: ${what} in an expression`);
}

const DEFAULT_REMEDY = 'Guard the expression with has() or a condition, or mend the value.';
