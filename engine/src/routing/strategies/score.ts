/** The best score of an expression over routable and recipient. No state. */
import { toJsonValue, type CelExpression } from '../../expressions/index.js';
import { DuctorError } from '../../kernel/index.js';
import type { ParamsOf } from '../../pools/index.js';
import type { Candidate, Context } from '../core/candidate.js';
import { roundHalfEven } from '../core/fixed-point.js';
import { groupedBy, type Exclusion, type Strategy } from './strategy.js';

/** Scores beyond this are no scores: their millionths would not fit 64 bits. */
const SCORE_MAX = 9e12;

/** Score in millionths; undefined when the expression fails or yields no finite number. */
function scoreOf(expression: CelExpression, candidate: Candidate, context: Context): number | undefined {
  try {
    const value = context.evaluate(expression, candidate);
    const score = Number(typeof value === 'number' ? value : toJsonValue(value));
    return Math.abs(score) <= SCORE_MAX ? roundHalfEven(score * 1_000_000) : undefined;
  } catch (caught) {
    if (caught instanceof DuctorError && caught.code !== 'internal') return undefined;
    throw caught;
  }
}

/**
 * score
 * @throws DuctorError `expression_failed` when a score fails and the pool says `on_error: fail`
 */
export function score(params: ParamsOf<'score'>, expression: CelExpression): Strategy {
  const sign = params.direction === 'max' ? 1 : -1;
  const least = params.min_score === undefined ? undefined : roundHalfEven(params.min_score * 1_000_000);
  return (candidates, context) => {
    const scores = new Map<Candidate, number>();
    const excluded: (readonly [Candidate, Exclusion])[] = [];
    for (const candidate of candidates) {
      const value = scoreOf(expression, candidate, context);
      if (value === undefined && params.on_error === 'fail') {
        throw new DuctorError('expression_failed', `the score of recipient ${candidate.id} failed`);
      }
      if (value === undefined) excluded.push([candidate, 'score_error']);
      else if (least !== undefined && value * sign < least * sign) excluded.push([candidate, 'below_min_score']);
      else scores.set(candidate, value);
    }
    return { groups: groupedBy([...scores.keys()], (each) => -(scores.get(each) ?? 0) * sign), scores, excluded };
  };
}
