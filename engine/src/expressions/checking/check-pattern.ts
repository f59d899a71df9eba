/** Regular expressions that stand in the text are compiled with it, so that a bad one is told at once. */
import type { PatternCache } from '../functions/pattern-cache.js';
import { compilePattern } from '../functions/patterns.js';
import { childrenOf, type Expr } from '../syntax/expr.js';
import type { Finding } from '../syntax/syntax-problem.js';
import { CelFailure } from '../values/failure.js';

/** What is wrong with the literal patterns of an expression. Good ones are in the cache afterwards. */
export function checkPatterns(expr: Expr, cache: PatternCache): readonly Finding[] {
  const inside = childrenOf(expr).flatMap((child) => checkPatterns(child, cache));
  const pattern = expr.kind === 'call' && expr.name === 'matches' ? expr.args.at(-1) : undefined;
  if (pattern?.kind !== 'literal' || typeof pattern.value !== 'string') return inside;
  try {
    compilePattern(cache, pattern.value);
    return inside;
  } catch (caught) {
    if (!(caught instanceof CelFailure)) throw caught;
    return [...inside, { at: pattern.at, problem: caught.problem, remedy: caught.remedy ?? 'Mend the pattern.' }];
  }
}
