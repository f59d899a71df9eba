/** Whoever has the skills, in rings that ask for less the longer the work waits. No state: waiting time is given. */
import { msOf, type ParamsOf } from '../../pools/index.js';
import type { Candidate } from '../core/candidate.js';
import { grouped, type Exclusion, type Strategy } from './strategy.js';

type Params = ParamsOf<'skills_match'>;

/** Rings reached after a wait, and what they drop together. */
function ringAt(params: Params, waitedUs: number): { index: number; drop: ReadonlySet<string>; minTotal: number } {
  const reached = params.rings.filter(({ after }) => msOf(after) * 1000 <= waitedUs);
  return {
    index: reached.length,
    drop: new Set(reached.flatMap(({ drop }) => drop)),
    minTotal: reached.at(-1)?.min_total ?? 0,
  };
}

/** skills_match */
export function skillsMatch(params: Params): Strategy {
  return (candidates, { routable, nowUs }) => {
    const ring = ringAt(params, Math.max(0, nowUs - (routable.receivedUs ?? nowUs)));
    const required = params.required.filter(({ name }) => !ring.drop.has(name));
    const scores = new Map<Candidate, number>();
    const excluded: (readonly [Candidate, Exclusion])[] = [];
    for (const candidate of candidates) {
      const has = (skill: Params['required'][number]): boolean =>
        (candidate.skills.get(skill.name) ?? 0) >= skill.min_level;
      const total = params.preferred
        .filter(has)
        .reduce((sum, { name, weight }) => sum + weight * (candidate.skills.get(name) ?? 0), 0);
      if (required.every(has) && total >= ring.minTotal) scores.set(candidate, total * 1_000_000);
      else excluded.push([candidate, 'skill_missing']);
    }
    const groups = grouped([...scores.keys()], (a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0));
    return { groups, scores, excluded, notes: [`ring ${ring.index}`] };
  };
}
