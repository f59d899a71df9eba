/**
 * A strategy in the app's code. Its answer was asked for before the choice and is an input of it: replay needs no app.
 */
import type { ParamsOf } from '../../pools/index.js';
import { answerKey } from '../core/answer.js';
import type { Candidate } from '../core/candidate.js';
import { singly, type Strategy } from './strategy.js';

/**
 * custom. Whom the answer names is ranked as far as they may still be chosen, and nobody else; without an answer that
 * counts the other strategy chooses, and the explanation says so.
 *
 * @param other the strategy that chooses then, and its name
 */
export function custom(params: ParamsOf<'custom'>, other: Strategy, otherName: string): Strategy {
  const name = answerKey(params);
  return (candidates, context, key) => {
    const answer = context.answers.get(name);
    if (answer?.ids === undefined) {
      const ranking = other(candidates, context, `${key}/0`);
      const why = `${name} ${answer?.note ?? 'was not asked'}: ${otherName} instead`;
      return { ...ranking, notes: [why, ...(ranking.notes ?? [])] };
    }
    const byId = new Map(candidates.map((each) => [each.id, each]));
    const chosen = new Set<Candidate>();
    for (const id of answer.ids) {
      const candidate = byId.get(id);
      if (candidate !== undefined) chosen.add(candidate);
    }
    return { groups: singly([...chosen]), notes: [`${name} ${answer.note}`] };
  };
}
