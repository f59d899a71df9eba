/**
 * How much a recipient, or all of a team together, may claim from one queue: arithmetic over what has been used, whose
 * row is locked. Pure.
 *
 * Invariants: 1. within a fixed period, claims granted less those refunded are at most `maxClaims` and what was carried
 * over; within a rolling one, those of any stretch of that length are at most `maxClaims`; 2. a refusal changes
 * nothing; 3. the period never goes back, whatever the clock does.
 */
import { periodEndUs, periodNumber, type FixedPeriod, type WallClock } from './period.js';

/** A budget. */
export interface BudgetTerms {
  /** Whose it is; absent in items that were queued before teams had budgets: of the recipient. */
  readonly scope?: 'recipient' | 'team';
  readonly maxClaims: number;
  readonly period: { readonly fixed: FixedPeriod; readonly timezone: string } | { readonly rollingUs: number };
  /** Claims that have not ended; null: any number. */
  readonly maxOpen: number | null;
  readonly cooldownAfterClaimUs: number;
  /** Whether a claim that is released counts no more. */
  readonly refundsReleases: boolean;
  /** What is left of the period before counts for the next one, up to so many. */
  readonly carryOver: number;
}

/** Claims of a fixed period and of the one before. */
export interface FixedUse {
  readonly number: number;
  readonly used: number;
  readonly before: number;
}

/**
 * What a recipient or a team has used of a queue; by kind of period, since items of different pools may count
 * differently.
 */
export interface Usage {
  /** Until then it claims nothing; 0: it may. Teams do not rest, whoever is in them does. */
  readonly coolingUntilUs: number;
  readonly fixed: Readonly<Record<string, FixedUse>>;
  /** Moments of claims, oldest first. */
  readonly rolling: Readonly<Record<string, readonly number[]>>;
}

/** Nothing yet. */
export const NO_USAGE: Usage = { coolingUntilUs: 0, fixed: {}, rolling: {} };

/** The answer to a claim. */
export type Spending =
  | { readonly kind: 'granted'; readonly usage: Usage }
  | { readonly kind: 'exhausted'; readonly used: number; readonly limit: number; readonly untilUs: number }
  | { readonly kind: 'open'; readonly open: number; readonly limit: number }
  | { readonly kind: 'cooling'; readonly untilUs: number };

/** What a period is kept under. */
function keyOf({ period }: BudgetTerms): string {
  return 'fixed' in period ? `${period.fixed}/${period.timezone}` : `${period.rollingUs}`;
}

/** The use as it stands in the period of an instant. */
function fixedUse(
  { fixed, timezone }: { readonly fixed: FixedPeriod; readonly timezone: string },
  was: FixedUse | undefined,
  nowUs: number,
  wall: WallClock,
): FixedUse {
  const number = periodNumber(fixed, timezone, nowUs, wall);
  if (was === undefined || number > was.number + 1) return { number, used: 0, before: 0 };
  return number === was.number + 1 ? { number, used: 0, before: was.used } : was;
}

function spendFixed(
  terms: BudgetTerms,
  period: { readonly fixed: FixedPeriod; readonly timezone: string },
  usage: Usage,
  nowUs: number,
  wall: WallClock,
): Spending {
  const key = keyOf(terms);
  const use = fixedUse(period, usage.fixed[key], nowUs, wall);
  const limit = terms.maxClaims + Math.min(terms.carryOver, Math.max(0, terms.maxClaims - use.before));
  if (use.used >= limit) {
    const untilUs = periodEndUs(period.fixed, period.timezone, nowUs, use.number, wall);
    return { kind: 'exhausted', used: use.used, limit, untilUs };
  }
  return { kind: 'granted', usage: { ...usage, fixed: { ...usage.fixed, [key]: { ...use, used: use.used + 1 } } } };
}

function spendRolling(terms: BudgetTerms, rollingUs: number, usage: Usage, nowUs: number): Spending {
  const key = keyOf(terms);
  const within = (usage.rolling[key] ?? []).filter((us) => us > nowUs - rollingUs);
  const limit = terms.maxClaims;
  if (within.length >= limit) {
    // The oldest ones that are too many have to be past.
    const oldest = within[within.length - limit] ?? nowUs;
    return { kind: 'exhausted', used: within.length, limit, untilUs: oldest + rollingUs };
  }
  return { kind: 'granted', usage: { ...usage, rolling: { ...usage.rolling, [key]: [...within, nowUs] } } };
}

/**
 * Spends a claim.
 *
 * @param terms null: there is no budget; what a recipient rests after a release counts all the same
 * @param open claims of the recipient, or of its team, in the queue that have not ended
 */
export function spend(terms: BudgetTerms | null, usage: Usage, nowUs: number, open: number, wall: WallClock): Spending {
  if (usage.coolingUntilUs > nowUs) return { kind: 'cooling', untilUs: usage.coolingUntilUs };
  if (terms === null) return { kind: 'granted', usage };
  if (terms.maxOpen !== null && open >= terms.maxOpen) return { kind: 'open', open, limit: terms.maxOpen };
  const { period } = terms;
  const spent =
    'fixed' in period
      ? spendFixed(terms, period, usage, nowUs, wall)
      : spendRolling(terms, period.rollingUs, usage, nowUs);
  if (spent.kind !== 'granted' || terms.cooldownAfterClaimUs === 0) return spent;
  return { kind: 'granted', usage: { ...spent.usage, coolingUntilUs: nowUs + terms.cooldownAfterClaimUs } };
}

/** What is used once a claim was released: it counts no more, where the budget says so. */
export function refund(
  terms: BudgetTerms | null,
  usage: Usage,
  claimedUs: number,
  nowUs: number,
  wall: WallClock,
): Usage {
  if (terms?.refundsReleases !== true) return usage;
  const { period } = terms;
  const key = keyOf(terms);
  if (!('fixed' in period)) {
    const moments = usage.rolling[key] ?? [];
    const place = moments.indexOf(claimedUs);
    return place === -1 ? usage : { ...usage, rolling: { ...usage.rolling, [key]: moments.toSpliced(place, 1) } };
  }
  const use = fixedUse(period, usage.fixed[key], nowUs, wall);
  const number = periodNumber(period.fixed, period.timezone, claimedUs, wall);
  const [used, before] = [use.used - (number >= use.number ? 1 : 0), use.before - (number === use.number - 1 ? 1 : 0)];
  const after = { ...use, used: Math.max(0, used), before: Math.max(0, before) };
  return { ...usage, fixed: { ...usage.fixed, [key]: after } };
}

/** What is used once the recipient has to rest for a while. */
export function cooled(usage: Usage, untilUs: number): Usage {
  return untilUs <= usage.coolingUntilUs ? usage : { ...usage, coolingUntilUs: untilUs };
}
