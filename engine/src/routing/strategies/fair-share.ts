/**
 * Whoever is furthest behind its share of the weights, within a day, week or month. State: `of`, how many each had, and
 * `at`, the window they were counted in. A newcomer begins with what its share would have been, so nobody is flooded.
 */
import { localTime, type ParamsOf } from '../../pools/index.js';
import type { Candidate, Context, NodeState } from '../core/candidate.js';
import { grouped, stateOf, type Strategy } from './strategy.js';

type Params = ParamsOf<'fair_share'>;

/** Year and month of a number of days since 1970 (civil_from_days of Howard Hinnant). */
function monthOf(day: number): string {
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const ofEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const month = (Math.floor((5 * ofYear + 2) / 153) + 2) % 12;
  return `${yearOfEra + era * 400 + (month < 2 ? 1 : 0)}-${month + 1}`;
}

/** Name of the window an instant belongs to, by the wall clock of a zone. */
function windowAt({ window, timezone }: Params, nowUs: number): string {
  if (window === 'forever') return 'forever';
  const { day } = localTime(timezone, nowUs);
  if (window === 'day') return `d${day}`;
  // 1970-01-01 was a Thursday; weeks begin on Mondays.
  return window === 'week' ? `w${Math.floor((day + 3) / 7)}` : `m${monthOf(day)}`;
}

/** What each had in this window; newcomers have what their share of the others' count would have been. */
function countsNow(
  candidates: readonly Candidate[],
  context: Context,
  state: NodeState,
  window: string,
): Map<string, number> {
  const known = state.at === window ? Object.entries(state.of ?? {}) : [];
  const counts = new Map<string, number>(known.filter(([id]) => context.members.has(id)));
  const old = candidates.filter(({ id }) => counts.has(id));
  const had = old.reduce((sum, { id }) => sum + (counts.get(id) ?? 0), 0);
  const weight = old.reduce((sum, { weightMilli }) => sum + weightMilli, 0);
  for (const { id, weightMilli } of candidates) {
    if (!counts.has(id)) counts.set(id, weight === 0 ? 0 : Math.floor((had * weightMilli) / weight));
  }
  return counts;
}

/** fair_share */
export function fairShare(params: Params): Strategy {
  return (candidates, context, key) => {
    const window = windowAt(params, context.nowUs);
    const counts = countsNow(candidates, context, stateOf(context, key), window);
    const total = BigInt(candidates.reduce((sum, { id }) => sum + (counts.get(id) ?? 0), 0));
    const weight = BigInt(candidates.reduce((sum, { weightMilli }) => sum + weightMilli, 0));
    const deficits = new Map(
      candidates.map((each) => {
        const due = BigInt(each.weightMilli) * (total + 1n);
        return [each, due - BigInt(counts.get(each.id) ?? 0) * weight];
      }),
    );
    return {
      groups: grouped(candidates, (a, b) => {
        const [left, right] = [deficits.get(a) ?? 0n, deficits.get(b) ?? 0n];
        if (left === right) return 0;
        return left > right ? -1 : 1;
      }),
      settle: (winners) => {
        const after = new Map(counts);
        for (const { id } of winners) after.set(id, (after.get(id) ?? 0) + 1);
        return [{ key, state: { at: window, of: Object.fromEntries(after) } }];
      },
    };
  };
}
