/**
 * The less loaded of a few drawn at random (Mitzenmacher): nearly as even as the least loaded, without the herd. No
 * state.
 */
import type { ParamsOf } from '../../pools/index.js';
import type { Candidate, Context } from '../core/candidate.js';
import { drawPlaces, takeByWeight } from './draws.js';
import { compareRequests } from './least-request.js';
import { singly, type Strategy } from './strategy.js';

/** Takes the best of `d` drawn; among equals the one drawn first, so that no id is favoured. */
export function takeBestOf(
  left: Candidate[],
  d: number,
  context: Context,
  rule: {
    readonly compare: (a: Candidate, b: Candidate) => number;
    readonly weightOf: (candidate: Candidate) => number;
  },
): Candidate | undefined {
  const pot = [...left];
  let best: Candidate | undefined;
  for (let draw = 0; draw < d && pot.length > 0; draw += 1) {
    const drawn = takeByWeight(pot, rule.weightOf, context);
    if (drawn === undefined) break;
    if (best === undefined || rule.compare(drawn, best) < 0) best = drawn;
  }
  if (best !== undefined) left.splice(left.indexOf(best), 1);
  return best;
}

/** power_of_two_choices */
export function powerOfTwoChoices({ d }: ParamsOf<'power_of_two_choices'>): Strategy {
  const rule = { compare: compareRequests, weightOf: ({ weightMilli }: Candidate) => weightMilli };
  return (candidates, context) => ({
    groups: singly(drawPlaces(candidates, context, (left) => takeBestOf(left, d, context, rule))),
  });
}
