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
  readonly candidates: readonly Candidate[];
  /** Looked-at ones by candidate. */
  readonly origin: ReadonlyMap<Candidate, Looked>;
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
  const cost = (name: string): number | undefined => (Object.hasOwn(unitCosts, name) ? unitCosts[name] : undefined);
  return cost(channel) ?? cost('default') ?? 1;
}

function stateVerdict(member: Member, facts: RecipientFacts, nowUs: number): Verdict | undefined {
  const { state, stateUntilUs } = member;
  const isOver = stateUntilUs !== undefined && stateUntilUs <= nowUs;
  if (state !== 'RECIPIENT_STATE_AVAILABLE' && !isOver) {
    return { code: state === 'RECIPIENT_STATE_COOLDOWN' ? 'cooling_down' : 'state_not_available', detail: state };
  }
  const isCooling = (facts.cooldownUntilUs ?? 0) > nowUs && facts.isEjected !== true;
  return isCooling ? { code: 'cooling_down', detail: `until ${facts.cooldownUntilUs}` } : undefined;
}

/** What an eligibility rule says of a member. */
function ruleVerdict(rule: CelExpression, input: FilterInput, looked: Omit<Looked, 'verdicts'>): Verdict | undefined {
  try {
    const isTrue = input.evaluator.recipient(rule, looked.member, looked.facts, looked.cap) === true;
    return isTrue ? undefined : { code: 'rule_false' };
  } catch (caught) {
    if (!(caught instanceof DuctorError) || caught.code === 'internal') throw caught;
    return { code: 'rule_error', detail: caught.code };
  }
}

function skillVerdict({ skills }: Member, required: readonly string[]): Verdict | undefined {
  const missing = required.filter((name) => !skills.has(name));
  return missing.length === 0 ? undefined : { code: 'skill_missing', detail: missing.join(', ') };
}

/** What is kept free of a limit, for work that is not urgent enough to have it. */
function keptFree(limit: number, { view, routable }: FilterInput): number {
  const { headroom } = view.settings;
  return headroom === undefined || routable.priority >= headroom.priority ? 0 : Math.ceil((limit * headroom.pct) / 100);
}

function capacityVerdicts(
  input: FilterInput,
  { member, facts, units, cap }: Omit<Looked, 'verdicts'>,
): readonly Verdict[] {
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

/** All verdicts on one member, in their order. */
function verdictsOn(input: FilterInput, looked: Omit<Looked, 'verdicts'>): readonly Verdict[] {
  const { member, facts } = looked;
  const { nowUs, view } = input;
  const found: Verdict[] = [];
  if (!member.isActive) found.push({ code: 'status_inactive' });
  const state = stateVerdict(member, facts, nowUs);
  if (state !== undefined) found.push(state);
  if (!isOpenAt(member.hours, nowUs)) found.push({ code: 'outside_schedule' });
  if (member.weightMilli === 0) found.push({ code: 'weight_zero' });
  if (input.excluded.has(member.id)) found.push({ code: 'excluded_previous' });
  const rule = view.eligibility === undefined ? undefined : ruleVerdict(view.eligibility, input, looked);
  if (rule !== undefined) found.push(rule);
  const skill = skillVerdict(member, input.routable.requiredSkills);
  if (skill !== undefined) found.push(skill);
  if (input.conflicting.has(member.id)) found.push({ code: 'dedupe_conflict' });
  found.push(...capacityVerdicts(input, looked));
  if (facts.isEjected === true && (facts.cooldownUntilUs ?? 0) > nowUs) {
    found.push({ code: 'ejected', detail: `until ${facts.cooldownUntilUs}` });
  }
  return found.length === 0 ? OK : found;
}

function lookAt(input: FilterInput, member: Member): Looked {
  const facts = input.facts.get(member.id) ?? NO_FACTS;
  const pinned = input.pinned.size === 0 ? 0 : (input.pinned.get(member.id) ?? 0);
  const looked = {
    member,
    facts,
    units: unitsOf(member, input.routable.channel),
    cap: effectiveLimit(pinned, member.maxConcurrent),
  };
  return { ...looked, verdicts: verdictsOn(input, looked) };
}

function isOnly(verdicts: readonly Verdict[], code: Verdict['code']): boolean {
  return verdicts.length === 1 && verdicts[0]?.code === code;
}

/** Makes a candidate of a member. */
function candidateOf(
  { member, facts, cap }: Looked,
  { view, nowUs }: Pick<FilterInput, 'view' | 'nowUs'>,
): Candidate {
  const { slowStart } = view.settings;
  const sinceUs = nowUs - (facts.inRotationSinceUs ?? Number.NEGATIVE_INFINITY);
  const weightMilli =
    slowStart === undefined
      ? member.weightMilli
      : slowStartWeight(member.weightMilli, sinceUs, slowStart.windowUs, slowStart.minPct);
  return {
    id: member.id,
    words: member.words,
    weightMilli,
    tier: member.tier,
    order: member.order,
    costMicros: member.costMicros,
    load: facts.held + facts.committed,
    cap,
    facts,
    skills: member.skills,
    attributes: member.scope.attributes,
  };
}

/** The end of a cooldown, as far as it is known. */
function endOfCooldown({ member, facts }: Looked): number {
  return Math.max(
    facts.cooldownUntilUs ?? 0,
    member.state === 'RECIPIENT_STATE_COOLDOWN' ? (member.stateUntilUs ?? 0) : 0,
  );
}

/** Looks at every member of a pool. */
export function filter(input: FilterInput): Filtered {
  const looked = input.view.members.map((member) => lookAt(input, member));
  const ejected = looked.filter(({ verdicts }) => isOnly(verdicts, 'ejected'));
  const healthy = looked.filter(({ verdicts }) => verdicts.length === 0);
  const panics = isPanic(healthy.length, healthy.length + ejected.length, input.view.settings.panicPct);
  const passed = panics
    ? looked.filter(({ verdicts }) => verdicts.length === 0 || isOnly(verdicts, 'ejected'))
    : healthy;
  const origin = new Map(passed.map((each) => [candidateOf(each, input), each]));
  const cooling = looked.filter(({ verdicts }) => isOnly(verdicts, 'cooling_down'));
  const ends = cooling.map(endOfCooldown).filter((end) => end > input.nowUs);
  return {
    looked,
    candidates: [...origin.keys()],
    origin,
    isPanic: panics,
    retryAtUs: origin.size === 0 && ends.length > 0 ? Math.min(...ends) : undefined,
  };
}
