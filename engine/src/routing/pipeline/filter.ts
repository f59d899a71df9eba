/**
 * Filter: who may be chosen. Every predicate is asked in one order and every verdict is kept; only ejections are taken
 * back, when too few are left without. The test of capacity says "probably full": only Assign decides.
 */
import type { CelExpression } from '../../expressions/index.js';
import { DuctorError } from '../../kernel/index.js';
import type { Candidate, RecipientFacts } from '../core/candidate.js';
import type { Routable } from '../core/routable.js';
import { slowStartWeight } from '../strategies/combinators.js';
import { isPanic } from './health.js';
import { isOpenAt } from './hours.js';
import type { Evaluator } from './scope.js';
import type { Verdict } from './verdicts.js';
import type { Member, PoolView } from './view.js';

/** Facts of a recipient that nothing is known of. */
export const NO_FACTS: RecipientFacts = { held: 0, committed: 0, admittedToday: 0, committedToday: 0 };

/** What a hop is filtered by. */
export interface FilterInput {
  readonly view: PoolView;
  readonly facts: ReadonlyMap<string, RecipientFacts>;
  readonly routable: Routable;
  readonly nowUs: number;
  readonly evaluator: Evaluator;
  /** Limits that a definition has pinned; the smaller positive one of pinned and live counts. */
  readonly pinned: ReadonlyMap<string, number>;
  readonly excluded: ReadonlySet<string>;
  /** Recipients that had this work, by its dedupe key. */
  readonly conflicting: ReadonlySet<string>;
  /** Recipients to whose seats this work is bound: they may go on with it. */
  readonly bound: ReadonlySet<string>;
  /** A recipient that the pool falls back to: it is looked at although it does not belong to the pool. */
  readonly standbyId: string | undefined;
}

/** A recipient that was looked at. */
export interface Looked {
  readonly member: Member;
  readonly facts: RecipientFacts;
  /** Units of this job. */
  readonly units: number;
  /** Units it may have in use; undefined: unlimited. */
  readonly cap: number | undefined;
  /** Empty: a candidate. */
  readonly verdicts: readonly Verdict[];
}

/** What Filter came to. */
export interface Filtered {
  /** All members, in order of their ids. */
  readonly looked: readonly Looked[];
  /** Each knows its place in `looked`. */
  readonly candidates: readonly Candidate[];
  readonly isPanic: boolean;
  /** When all that stands against anybody is a cooldown: the first moment at which one ends. */
  readonly retryAtUs: number | undefined;
}

const OK: readonly Verdict[] = [];

/** The smaller positive limit; undefined when neither is one. */
function effectiveLimit(pinned: number, live: number): number | undefined {
  if (pinned > 0 && live > 0) return Math.min(pinned, live);
  return pinned > 0 || live > 0 ? Math.max(pinned, live) : undefined;
}

/** Units that a job takes of a recipient. */
function unitsOf({ unitCosts }: Member, channel: string): number {
  if (unitCosts.size === 0) return 1;
  return unitCosts.get(channel) ?? unitCosts.get('default') ?? 1;
}

/** Whether somebody else tries the seat, now that its rate limit has passed. */
function isProbed({ limitEpisode = 0, probeUntilUs = 0 }: RecipientFacts, { view, nowUs }: FilterInput): boolean {
  return limitEpisode > 0 && probeUntilUs > nowUs && view.compiled.seats?.recovery === 'probe';
}

function stateVerdict(input: FilterInput, member: Member, facts: RecipientFacts): Verdict | undefined {
  const { nowUs } = input;
  const { state, stateUntilUs } = member;
  if (state !== 'RECIPIENT_STATE_AVAILABLE' && (stateUntilUs === undefined || stateUntilUs > nowUs)) {
    return { code: state === 'RECIPIENT_STATE_COOLDOWN' ? 'cooling_down' : 'state_not_available', detail: state };
  }
  const isCooling = facts.cooldownUntilUs !== undefined && facts.cooldownUntilUs > nowUs && facts.isEjected !== true;
  if (isCooling) return { code: 'cooling_down', detail: `until ${facts.cooldownUntilUs}` };
  if (!isProbed(facts, input) || input.bound.has(member.id)) return undefined;
  return { code: 'cooling_down', detail: `tried by somebody else until ${facts.probeUntilUs}` };
}

/** What an eligibility rule says of a member. */
function ruleVerdict(rule: CelExpression, input: FilterInput, looked: Looked): Verdict | undefined {
  try {
    const isTrue = input.evaluator.recipient(rule, looked.member, looked.facts, looked.cap) === true;
    return isTrue ? undefined : { code: 'rule_false' };
  } catch (caught) {
    if (!(caught instanceof DuctorError) || caught.code === 'internal') throw caught;
    return { code: 'rule_error', detail: caught.code };
  }
}

function skillVerdict({ skills }: Member, required: readonly string[]): Verdict | undefined {
  if (required.length === 0) return undefined;
  const missing = required.filter((name) => !skills.has(name));
  return missing.length === 0 ? undefined : { code: 'skill_missing', detail: missing.join(', ') };
}

/** What is kept free of a limit, for work that is not urgent enough to have it. */
function keptFree(limit: number, { view, routable }: FilterInput): number {
  const { headroom } = view.settings;
  return headroom === undefined || routable.priority >= headroom.priority ? 0 : Math.ceil((limit * headroom.pct) / 100);
}

function capacityVerdicts(input: FilterInput, { member, facts, units, cap }: Looked): readonly Verdict[] {
  const used = facts.held + facts.committed;
  const today = facts.admittedToday + facts.committedToday;
  const room =
    cap === undefined ? Number.POSITIVE_INFINITY : cap - keptFree(cap, input) + input.view.settings.overCapacity;
  const isFull = used + units > room;
  const isSpent = member.dailyLimit > 0 && today + units > member.dailyLimit;
  if (!isFull && !isSpent) return OK;
  return [
    ...(isFull ? [{ code: 'at_concurrency', detail: `${used} of ${cap}` } as const] : []),
    ...(isSpent ? [{ code: 'at_daily', detail: `${today} of ${member.dailyLimit}` } as const] : []),
  ];
}

/** Verdicts that need no more than a look: nothing is allocated for one that passes. */
function addPlainVerdicts(found: Verdict[], input: FilterInput, { member, facts }: Looked): void {
  if (!member.isActive) found.push({ code: 'status_inactive' });
  const state = stateVerdict(input, member, facts);
  if (state !== undefined) found.push(state);
  if (!isOpenAt(member.hours, input.nowUs)) found.push({ code: 'outside_schedule' });
  if (member.weightMilli === 0 && !input.bound.has(member.id)) found.push({ code: 'weight_zero' });
  if (input.excluded.has(member.id)) found.push({ code: 'excluded_previous' });
}

/** All verdicts on one member, in their order. */
function verdictsOn(input: FilterInput, looked: Looked, found: Verdict[]): readonly Verdict[] {
  const { member, facts } = looked;
  addPlainVerdicts(found, input, looked);
  const { eligibility } = input.view;
  const rule = eligibility === undefined ? undefined : ruleVerdict(eligibility, input, looked);
  if (rule !== undefined) found.push(rule);
  const skill = skillVerdict(member, input.routable.requiredSkills);
  if (skill !== undefined) found.push(skill);
  if (input.conflicting.has(member.id)) found.push({ code: 'dedupe_conflict' });
  for (const verdict of capacityVerdicts(input, looked)) found.push(verdict);
  if (facts.isEjected === true && facts.cooldownUntilUs !== undefined && facts.cooldownUntilUs > input.nowUs) {
    found.push({ code: 'ejected', detail: `until ${facts.cooldownUntilUs}` });
  }
  return found.length === 0 ? OK : found.splice(0);
}

/** @param found an empty list to collect in: nearly everybody passes, and then nothing is allocated */
function lookAt(input: FilterInput, member: Member, found: Verdict[]): Looked {
  const facts = input.facts.get(member.id) ?? NO_FACTS;
  const pinned = input.pinned.size === 0 ? 0 : (input.pinned.get(member.id) ?? 0);
  const units = unitsOf(member, input.routable.channel);
  const looked = { member, facts, units, cap: effectiveLimit(pinned, member.maxConcurrent), verdicts: OK };
  looked.verdicts = verdictsOn(input, looked, found);
  return looked;
}

function isOnly(verdicts: readonly Verdict[], code: Verdict['code']): boolean {
  return verdicts.length === 1 && verdicts[0]?.code === code;
}

/** Makes a candidate of a member. */
function candidateOf({ member, facts, cap }: Looked, place: number, input: FilterInput): Candidate {
  const { view, nowUs } = input;
  return {
    id: member.id,
    place,
    words: member.words,
    weightMilli: view.settings.slowStart === undefined ? member.weightMilli : slowedWeight(member, facts, view, nowUs),
    tier: member.tier,
    order: member.order,
    costMicros: member.costMicros,
    load: facts.held + facts.committed,
    cap,
    facts,
    skills: member.skills,
    isKept: member.weightMilli === 0 && input.bound.has(member.id),
    attributes: member.scope.attributes,
  };
}

/** Weight of a member that may have come into the rotation a while ago. */
function slowedWeight({ weightMilli }: Member, facts: RecipientFacts, { settings }: PoolView, nowUs: number): number {
  const sinceUs = nowUs - (facts.inRotationSinceUs ?? Number.NEGATIVE_INFINITY);
  return slowStartWeight(weightMilli, sinceUs, settings.slowStart?.windowUs ?? 0, settings.slowStart?.minPct ?? 100);
}

/** The end of a cooldown, as far as it is known. */
function endOfCooldown({ member, facts }: Looked, input: FilterInput): number {
  return Math.max(
    facts.cooldownUntilUs ?? 0,
    isProbed(facts, input) ? (facts.probeUntilUs ?? 0) : 0,
    member.state === 'RECIPIENT_STATE_COOLDOWN' ? (member.stateUntilUs ?? 0) : 0,
  );
}

/** The first moment at which a cooldown ends that is all there is against somebody. */
function retryAt(looked: readonly Looked[], input: FilterInput): number | undefined {
  const cooling = looked.filter(({ verdicts }) => isOnly(verdicts, 'cooling_down'));
  const ends = cooling.map((each) => endOfCooldown(each, input));
  const ahead = ends.filter((end) => end > input.nowUs);
  return ahead.length === 0 ? undefined : Math.min(...ahead);
}

/** Who is looked at, in order of their ids. */
function lookedAt({ view, standbyId }: FilterInput): readonly Member[] {
  const standby = view.standbys.find(({ id }) => id === standbyId);
  if (standby === undefined) return view.members;
  return [...view.members, standby].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Looks at every member of a pool. */
export function filter(input: FilterInput): Filtered {
  const found: Verdict[] = [];
  const looked = lookedAt(input).map((member) => lookAt(input, member, found));
  let [healthy, ejected] = [0, 0];
  for (const { verdicts } of looked) {
    if (verdicts.length === 0) healthy += 1;
    else if (isOnly(verdicts, 'ejected')) ejected += 1;
  }
  const panics = isPanic(healthy, healthy + ejected, input.view.settings.panicPct);
  const candidates: Candidate[] = [];
  for (const [place, each] of looked.entries()) {
    const passes = each.verdicts.length === 0 || (panics && isOnly(each.verdicts, 'ejected'));
    if (passes) candidates.push(candidateOf(each, place, input));
  }
  const retryAtUs = candidates.length === 0 ? retryAt(looked, input) : undefined;
  return { looked, candidates, isPanic: panics, retryAtUs };
}
