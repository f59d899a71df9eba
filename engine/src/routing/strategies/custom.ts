/**
 * A strategy in the app's code. Its answer was asked for before the choice and is an input of it: replay needs no app.
 */
import type { ParamsOf } from '../../pools/index.js';
import type { Candidate } from '../core/candidate.js';
import { roundRobin } from './round-robin.js';
import { singly, type Strategy } from './strategy.js';

/**
 * custom. Names in the answer that are no candidates do not count; without an answer it is round_robin, and says so.
 */
export function custom({ name }: ParamsOf<'custom'>): Strategy {
  return (candidates, context, key) => {
    const byId = new Map(candidates.map((each) => [each.id, each]));
    const chosen = new Set<Candidate>();
    for (const id of context.answers.get(name) ?? []) {
      const candidate = byId.get(id);
      if (candidate !== undefined) chosen.add(candidate);
    }
    if (chosen.size > 0) return { groups: singly([...chosen]) };
    const why = context.answers.has(name) ? 'named no candidate' : 'did not answer';
    return { ...roundRobin(candidates, context, key), notes: [`${name} ${why}: round_robin instead`] };
  };
}
