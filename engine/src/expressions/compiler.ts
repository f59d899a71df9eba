/** Text and schema to a checked expression; what was compiled once is kept. */
import { LRUCache } from 'lru-cache';
import { DuctorError } from '../kernel/index.js';
import { check } from './checking/check.js';
import { checkPatterns } from './checking/check-pattern.js';
import { variablesOf } from './checking/check-schema.js';
import { referencesOf } from './checking/references.js';
import { describe, isAssignable, plain } from './checking/static-type.js';
import { build } from './evaluating/build.js';
import { createExpression } from './expression.js';
import type { PatternCache } from './functions/pattern-cache.js';
import { createPatternCache } from './functions/patterns.js';
import { parse } from './syntax/parse.js';
import { type Finding, SyntaxFailure, toCelProblem } from './syntax/syntax-problem.js';
import type { CelCompiler, CelExpression, CelSchema, CelType } from './types.js';

/** An expression, or what is wrong with it. */
type Outcome = CelExpression | readonly Finding[];

/** Compiled expressions are some 10 to 100 kB each. */
const DEFAULT_CACHE_SIZE = 2_000;

/**
 * A compiler with a cache of its own, by text, schema id and expected type. Failures are kept too.
 * @param options.cacheSize expressions kept; default 2,000
 */
export function createCelCompiler(options: { readonly cacheSize?: number } = {}): CelCompiler {
  const outcomes = new LRUCache<string, { readonly outcome: Outcome }>({
    max: options.cacheSize ?? DEFAULT_CACHE_SIZE,
  });
  const patterns = createPatternCache();
  const outcomeOf = (text: string, schema: CelSchema, expected: CelType): Outcome => {
    const key = JSON.stringify([schema.id, expected, text]);
    const known = outcomes.get(key);
    if (known !== undefined) return known.outcome;
    const outcome = compileOnce(text, schema, expected, patterns);
    outcomes.set(key, { outcome });
    return outcome;
  };
  return {
    compile: (text, schema, expected = 'dyn') => {
      const outcome = outcomeOf(text, schema, expected);
      if (isExpression(outcome)) return outcome;
      throw toError(text, outcome);
    },
    check: (text, schema, expected = 'dyn') => {
      const outcome = outcomeOf(text, schema, expected);
      return isExpression(outcome) ? [] : outcome.map((finding) => toCelProblem(text, finding));
    },
  };
}

function isExpression(outcome: Outcome): outcome is CelExpression {
  return 'evaluate' in outcome;
}

function compileOnce(text: string, schema: CelSchema, expected: CelType, patterns: PatternCache): Outcome {
  const variables = variablesOf(schema);
  try {
    const expr = parse(text);
    const { type, findings } = check(expr, schema);
    const literalPatterns: PatternCache = new Map();
    const all = [...findings, ...checkPatterns(expr, literalPatterns)];
    if (all.length > 0) return all.toSorted((a, b) => a.at - b.at);
    if (!isAssignable(type, expected)) return [notExpected(describe(type), describe(expected))];
    return createExpression({
      text,
      built: build(expr, variables),
      resultType: plain(type),
      expected,
      references: referencesOf(expr, variables),
      literalPatterns,
      patterns,
    });
  } catch (caught) {
    if (caught instanceof SyntaxFailure) return [caught.finding];
    if (caught instanceof RangeError) return [TOO_DEEP];
    throw caught;
  }
}

const TOO_DEEP: Finding = {
  at: 0,
  problem: 'it is nested too deeply',
  remedy: 'Nest less, or split it.',
  isTooCostly: true,
};

function notExpected(actual: string, expected: string): Finding {
  return { at: 0, problem: `it yields ${actual}, and ${expected} is wanted`, remedy: 'Compare or convert its result.' };
}

function toError(text: string, findings: readonly Finding[]): DuctorError {
  const isTooCostly = findings.some((finding) => finding.isTooCostly === true);
  const details = findings.map((finding) => {
    const { position, problem, remedy } = toCelProblem(text, finding);
    return {
      path: '',
      value: text.slice(0, 200),
      problem: `line ${position.line}, column ${position.column}: ${problem}`,
      remedy,
    };
  });
  const first = details[0];
  return new DuctorError(
    isTooCostly ? 'expression_too_costly' : 'expression_invalid',
    first?.problem ?? 'it is invalid',
    {
      details,
      ...(first === undefined ? {} : { remedy: first.remedy }),
    },
  );
}
