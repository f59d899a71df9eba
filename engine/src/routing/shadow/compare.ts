/**
 * What a shadow would have chosen for a decision, and how that compares. Pure. The shadow chooses among those who were
 * candidates when the decision was made, without those whose room turned out to be gone; it is granted nothing.
 */
import { DuctorError } from '../../kernel/index.js';
import type { Candidate, Change, PoolState } from '../core/candidate.js';
import type { Seed } from '../core/stream.js';
import { fits } from '../pipeline/admission.js';
import type { Decision, Hop } from '../pipeline/decision.js';
import { fallbackFor } from '../pipeline/fallback.js';
import { momentOfShadow } from '../pipeline/hop.js';
import { select } from '../strategies/select.js';
import { headrooms as headroomsOf } from '../strategies/sla-deadline.js';
import type { Shadow } from './shadow.js';

/** Rankings are compared by so many first places. */
const TOP = 5;
/** Longest rankings whose pairs are counted: the rest of longer ones is left out. */
const MAX_PAIRED = 200;

/** How a shadow compares with a decision. */
export interface Comparison {
  readonly ranking: readonly string[];
  readonly liveWinner: string | undefined;
  readonly shadowWinner: string | undefined;
  readonly agrees: boolean;
  /** From 1. */
  readonly liveRankInShadow: number | undefined;
  readonly shadowRankInLive: number | undefined;
  readonly jaccardMilli: number;
  readonly kendallTauMilli: number | undefined;
  /** Whether the pool's fallback would have been asked, as nobody was chosen. */
  readonly wouldFallBack: boolean;
  readonly liveCostMicros: bigint | undefined;
  readonly shadowCostMicros: bigint | undefined;
  /** Time left until the response is due once it is expected, by the pool's SLA; negative: a breach is predicted. */
  readonly liveHeadroomUs: number | undefined;
  readonly shadowHeadroomUs: number | undefined;
  /** Load of the shadow's winner less that of the live one. */
  readonly loadDelta: number | undefined;
  readonly error: string | undefined;
  /** What becomes of the shadow's own state. */
  readonly changes: readonly Change[];
}

/** Share that two lists have in common among their first places, thousandths. */
export function jaccardMilli(a: readonly string[], b: readonly string[]): number {
  const [first, second] = [new Set(a.slice(0, TOP)), new Set(b.slice(0, TOP))];
  const common = [...first].filter((id) => second.has(id)).length;
  const all = new Set([...first, ...second]).size;
  return all === 0 ? 1000 : Math.round((1000 * common) / all);
}

/** Kendall's tau over what both lists hold, thousandths: 1000 in the same order, -1000 in reverse. */
export function kendallTauMilli(a: readonly string[], b: readonly string[]): number | undefined {
  const places = new Map(b.map((id, place) => [id, place]));
  const common = a.flatMap((id) => places.get(id) ?? []).slice(0, MAX_PAIRED);
  const pairs = (common.length * (common.length - 1)) / 2;
  if (pairs === 0) return undefined;
  let inOrder = 0;
  for (const [at, place] of common.entries()) {
    for (let other = at + 1; other < common.length; other += 1) if ((common[other] ?? 0) > place) inOrder += 1;
  }
  return Math.round((1000 * (2 * inOrder - pairs)) / pairs);
}

/** Candidates whose room was there. */
function candidatesOf(hop: Hop): readonly Candidate[] {
  const refused = new Set(
    hop.attempts.flatMap(({ admission }) =>
      admission?.kind === 'refused' ? admission.usage.filter((each) => !fits(each)).map(({ id }) => id) : [],
    ),
  );
  return (hop.filtered?.candidates ?? []).filter(({ id }) => !refused.has(id));
}

function rankOf(order: readonly Candidate[], id: string | undefined): number | undefined {
  const place = order.findIndex((each) => each.id === id);
  return place < 0 ? undefined : place + 1;
}

/** Whether a hop is one that shadows can be compared with: its own strategy was asked, and there was somebody. */
export function isComparable(hop: Hop): boolean {
  return hop.direct === undefined && hop.attempts.length > 0 && candidatesOf(hop).length > 0;
}

/**
 * Compares.
 *
 * @param state of the shadow's own
 * @param seed of the shadow's own
 */
export function compareShadow(
  { input }: Decision,
  hop: Hop,
  shadow: Shadow,
  own: { readonly state: PoolState; readonly seed: Seed },
): Comparison {
  const candidates = candidatesOf(hop);
  const live = hop.attempts.at(-1)?.selection.order ?? [];
  const liveFirst = hop.reason === undefined ? live[0] : undefined;
  const { view } = hop.snapshot;
  const moment = momentOfShadow(input, hop, candidates, own);
  let order: readonly Candidate[] = [];
  let [changes, error]: [readonly Change[], string | undefined] = [[], undefined];
  try {
    const options = { slateSize: view.settings.slateSize, tieBreak: view.tieBreak };
    ({ order, changes } = select(shadow.compiled.strategy, candidates, moment, options));
  } catch (caught) {
    const { code, message } = DuctorError.from(caught);
    if (code === 'internal') throw caught;
    error = `${code}: ${message}`;
  }
  const [first] = order;
  const headrooms = moment.dueUs === undefined ? undefined : headroomsOf(candidates, moment.dueUs - input.nowUs);
  const headroomOf = (each: Candidate | undefined): number | undefined => each && headrooms?.get(each);
  const [ids, liveIds] = [order.map(({ id }) => id), live.map(({ id }) => id)];
  return {
    ...{ ranking: ids.slice(0, 20), liveWinner: liveFirst?.id, shadowWinner: first?.id, error, changes },
    agrees: liveFirst?.id === first?.id,
    liveRankInShadow: rankOf(order, liveFirst?.id),
    shadowRankInLive: rankOf(live, first?.id),
    jaccardMilli: jaccardMilli(ids, liveIds),
    kendallTauMilli: kendallTauMilli(ids, liveIds),
    wouldFallBack: first === undefined && fallbackFor(view, 'no_eligible_recipient', input.tried ?? 0) !== undefined,
    ...{ liveCostMicros: liveFirst?.costMicros, shadowCostMicros: first?.costMicros },
    ...{ liveHeadroomUs: headroomOf(liveFirst), shadowHeadroomUs: headroomOf(first) },
    loadDelta: liveFirst === undefined || first === undefined ? undefined : first.load - liveFirst.load,
  };
}
