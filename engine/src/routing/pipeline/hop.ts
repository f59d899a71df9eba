/** One pool of a decision: may it route, who may be chosen, who is, and is there room. */
import { DuctorError } from '../../kernel/index.js';
import type { Candidate, Change } from '../core/candidate.js';
import type { Seed } from '../core/stream.js';
import { headrooms } from '../strategies/sla-deadline.js';
import { select, type Selection } from '../strategies/select.js';
import { boundSeats } from '../strategies/seat-key.js';
import { singly, type Exclusion, type Strategy } from '../strategies/strategy.js';
import { fits as fitsOf } from './admission.js';
import type { Attempt, DecisionInput, Hop, PoolSnapshot } from './decision.js';
import { dueUsOf } from './due.js';
import { enrich, type Enrichments } from './enrich.js';
import { fallbackFor } from './fallback.js';
import { filter, type Filtered } from './filter.js';
import { isOpenAt } from './hours.js';
import type { Reason } from './outcomes.js';
import { Moment } from './moment.js';
import { Evaluator, ruleScope } from './scope.js';
import { firstWaveSize, MAX_CLAIMANTS } from './claimants.js';
import type { PoolView } from './view.js';

/** What a hop came to. */
export interface HopResult {
  readonly hop: Hop;
  readonly slate: readonly { readonly id: string; readonly units: number }[];
  readonly changes: readonly Change[];
  readonly retryAtUs?: number | undefined;
  /** Who may claim the work, best first, where it waits in the pool's claim queue. */
  readonly claimants?: HopResult['slate'];
}

/** Why a pool does not route this; undefined when it does. */
function poolReason(
  view: PoolView,
  { nowUs, spentUs = 0, isBreached }: DecisionInput,
  index: number,
): Reason | undefined {
  const { fields, isKilled } = view.document;
  if (isKilled) return 'pool_kill_switched';
  if (fields.status !== 'STATUS_ACTIVE') return 'pool_disabled';
  if (isBreached === true && index === 0) return 'sla_breached';
  if (!isOpenAt(view.hours, nowUs)) return 'pool_closed';
  return spentUs > view.settings.timeoutUs ? 'deadline_exceeded' : undefined;
}

/** A strategy that chooses one recipient by its id, or nobody. */
function direct(id: string): Strategy {
  return (candidates) => ({
    groups: singly(candidates.filter((each) => each.id === id)),
    notes: [`override_by ${id}`],
  });
}

/** A hop in progress. */
interface Hopping {
  readonly input: DecisionInput;
  readonly snapshot: PoolSnapshot;
  readonly enriched: Enrichments;
  readonly evaluator: Evaluator;
  readonly filtered: Filtered;
  readonly index: number;
  readonly direct: string | undefined;
  readonly dueUs: number | undefined;
  /** Whether those who are chosen claim the work by themselves: nothing is granted then. */
  readonly isClaim: boolean;
}

/** The moment of one attempt. */
function momentOf(
  { input, snapshot, evaluator, filtered, index, dueUs }: Hopping,
  candidates: readonly Candidate[],
  attempt: number,
): Moment {
  return new Moment(input, snapshot, evaluator, filtered.looked, {
    isCapped: candidates.every(({ cap }) => cap !== undefined),
    seed: () => input.seedOf(snapshot.view.id, index, attempt),
    dueUs,
  });
}

function unitsOf(filtered: Filtered, candidate: Candidate): number {
  return filtered.looked[candidate.place]?.units ?? 1;
}

function slateOf({ filtered }: Hopping, selection: Selection): HopResult['slate'] {
  return selection.slate.map((each) => ({ id: each.id, units: unitsOf(filtered, each) }));
}

/** Fewer than these are no choice. */
function leastOf({ holds }: DecisionInput): number {
  return Math.max(holds?.atLeast ?? 1, 1);
}

const NOTHING: Selection = { order: [], slate: [], ranking: { groups: [] }, changes: [] };

/** One selection, and the answer of admission; `isError` when an expression of the strategy failed on these values. */
function attempt(hopping: Hopping, candidates: readonly Candidate[], number: number): Attempt & { isError: boolean } {
  const { input, snapshot } = hopping;
  const { view } = snapshot;
  const moment = momentOf(hopping, candidates, number);
  const strategy = hopping.direct === undefined ? view.compiled.strategy : direct(hopping.direct);
  const slateSize = hopping.isClaim ? firstWaveSize(view.settings, candidates.length) : view.settings.slateSize;
  const options = { slateSize, tieBreak: view.tieBreak };
  try {
    const selection = select(strategy, candidates, moment, options);
    const isAsked = selection.slate.length >= leastOf(input) && !hopping.isClaim;
    const admission = isAsked ? input.admit?.(view.id, slateOf(hopping, selection)) : undefined;
    return { moment, draws: moment.draws, selection, admission, isError: false };
  } catch (caught) {
    // A key or score that fails on these values is the pool's fault, not the engine's: the decision says so.
    if (!(caught instanceof DuctorError) || !caught.code.startsWith('expression_')) throw caught;
    return { moment, draws: moment.draws, selection: NOTHING, admission: undefined, isError: true };
  }
}

/** Why there is nobody: all who could take it have been offered it, or there is none. */
function nobody({ input, filtered, index }: Hopping): Reason {
  const isOffered = index === 0 && (input.offers ?? 0) > 0;
  const hasDeclined = filtered.looked.some(({ verdicts }) => {
    return verdicts.length === 1 && verdicts[0]?.code === 'excluded_previous';
  });
  return isOffered && hasDeclined ? 'offers_exhausted' : 'no_eligible_recipient';
}

/** Whether the pool has offered it as often as it may. Work that waits is offered to whoever else comes. */
function isOffered(
  { view: { settings } }: PoolSnapshot,
  { offers = 0, waited }: DecisionInput,
  index: number,
): boolean {
  return index === 0 && settings.requiresAcceptance && offers >= settings.maxOffers && waited?.queueOf === undefined;
}

/** Selects and asks for admission, again and again without those that were refused, as often as the pool allows. */
function attemptAll(hopping: Hopping): { attempts: readonly Attempt[]; reason: Reason | undefined } {
  const attempts: Attempt[] = [];
  let candidates = hopping.filtered.candidates;
  for (let number = 0; number < hopping.snapshot.view.settings.maxAttempts; number += 1) {
    const made = attempt(hopping, candidates, number);
    attempts.push(made);
    if (made.isError) return { attempts, reason: 'strategy_error' };
    if (made.selection.slate.length < leastOf(hopping.input)) {
      return { attempts, reason: number === 0 ? nobody(hopping) : 'recipient_capacity_exhausted' };
    }
    const { admission } = made;
    if (admission === undefined || admission.kind === 'granted') return { attempts, reason: undefined };
    if (admission.kind === 'unavailable') return { attempts, reason: 'capacity_authority_unavailable' };
    const refused = new Set(admission.usage.filter((each) => !fitsOf(each)).map(({ id }) => id));
    candidates = candidates.filter(({ id }) => !refused.has(id));
  }
  return { attempts, reason: 'recipient_capacity_exhausted' };
}

/**
 * Runs one pool.
 *
 * @param directId chooses a recipient by name, past the pool's strategy
 * @param isFallback whether the pool falls back to that one, which then need not belong to it
 */
export function runHop(
  input: DecisionInput,
  snapshot: PoolSnapshot,
  rules: Readonly<Record<string, unknown>>,
  index: number,
  directId: string | undefined,
  isFallback = false,
): HopResult {
  const { view } = snapshot;
  const untouched = { snapshot, filtered: undefined, attempts: [], direct: directId, fell: undefined };
  const ended = (hop: Partial<Hop> & Pick<Hop, 'reason'>, retryAtUs?: number): HopResult => {
    return { hop: { ...untouched, ...hop }, slate: [], changes: [], retryAtUs };
  };
  const closed = poolReason(view, input, index) ?? (isOffered(snapshot, input, index) ? 'offers_exhausted' : undefined);
  // Who may claim the work is looked at although the pool is shut.
  const isClaimed = closed !== undefined && fallbackFor(view, closed, input.tried ?? 0)?.kind === 'claim';
  if (closed !== undefined && !isClaimed) return ended({ reason: closed });
  const enriched = enrich(view.enrichers, rules);
  if (enriched.isMissing) return ended({ reason: closed ?? 'enrichment_failed', enriched });
  const evaluator = new Evaluator(view.reads, rules, input.nowUs, enriched.values);
  const filtered = filterIn(input, snapshot, evaluator, isFallback ? directId : undefined);
  const none = { enriched, filtered };
  if (closed !== undefined) return ended({ ...none, reason: closed });
  if (index === 0 && (input.expiredIn ?? []).length > 0) return ended({ ...none, reason: 'claim_expired' });
  if (filtered.retryAtUs !== undefined) return ended({ ...none, reason: 'all_cooling_down' }, filtered.retryAtUs);
  const dueUs = dueUsOf(snapshot, input);
  const isClaim = view.settings.isClaim && directId === undefined;
  const hopping = { input, snapshot, enriched, evaluator, filtered, index, direct: directId, dueUs, isClaim };
  return isLate(hopping) ? ended({ ...none, reason: 'sla_breach_predicted', dueUs }) : chooseIn(hopping);
}

function filterIn(
  input: DecisionInput,
  { view, facts, bindings }: PoolSnapshot,
  evaluator: Evaluator,
  standbyId: string | undefined,
): Filtered {
  // Written out: an object that is spread together here made a decision cost half as much again.
  return filter({
    view,
    facts,
    evaluator,
    standbyId,
    routable: input.routable,
    nowUs: input.nowUs,
    pinned: input.pinned ?? NO_LIMITS,
    excluded: input.excluded ?? NOBODY,
    conflicting: input.conflicting ?? NOBODY,
    bound: view.compiled.seats === undefined ? NOBODY : boundSeats(bindings, input.nowUs),
  });
}

const NO_LIMITS: ReadonlyMap<string, number> = new Map();
const NOBODY: ReadonlySet<string> = new Set();

/**
 * Whether everybody would be late, where a fallback of the pool answers to that. Without one the work goes to somebody
 * all the same.
 */
function isLate({ input, snapshot: { view }, filtered: { candidates }, direct: chosen, dueUs }: Hopping): boolean {
  if (dueUs === undefined || chosen !== undefined || candidates.length === 0) return false;
  if (fallbackFor(view, 'sla_breach_predicted', input.tried ?? 0) === undefined) return false;
  const leastUs = view.settings.sla?.minHeadroomUs ?? 0;
  return [...headrooms(candidates, dueUs - input.nowUs).values()].every((headroom) => headroom < leastUs);
}

function chooseIn(hopping: Hopping): HopResult {
  const { attempts, reason } = attemptAll(hopping);
  const chosen = reason === undefined ? attempts.at(-1)?.selection : undefined;
  const { snapshot, enriched, filtered, direct: directId, dueUs, isClaim } = hopping;
  const hop: Hop = { snapshot, enriched, filtered, attempts, direct: directId, reason, fell: undefined, dueUs };
  const changes = chosen?.changes ?? [];
  if (chosen !== undefined && isClaim) {
    return { hop, slate: [], changes, claimants: rankedClaimants(hopping, chosen) };
  }
  return { hop, slate: chosen === undefined ? [] : slateOf(hopping, chosen), changes };
}

function rankedClaimants({ filtered }: Hopping, { order }: Selection): HopResult['slate'] {
  return order.slice(0, MAX_CLAIMANTS).map((each) => ({ id: each.id, units: unitsOf(filtered, each) }));
}

/** What a shadow of the pool is given: the moment of the hop, with a state and dice of its own. */
export function momentOfShadow(
  input: DecisionInput,
  { snapshot, enriched, filtered, dueUs }: Hop,
  candidates: readonly Candidate[],
  own: { readonly state: PoolSnapshot['state']; readonly seed: Seed },
): Moment {
  const { view } = snapshot;
  const rules = ruleScope(input.routable, input.nowUs);
  const evaluator = new Evaluator(view.reads, rules, input.nowUs, enriched?.values ?? {});
  return new Moment(input, { ...snapshot, state: own.state }, evaluator, filtered?.looked ?? [], {
    isCapped: candidates.every(({ cap }) => cap !== undefined),
    seed: () => own.seed,
    dueUs,
  });
}

/** Verdicts of strategies on candidates that Filter had let through. */
export function exclusionsOf(hop: Hop): ReadonlyMap<string, Exclusion> {
  const excluded = hop.attempts[0]?.selection.ranking.excluded ?? [];
  return new Map(excluded.map(([{ id }, why]) => [id, why]));
}
