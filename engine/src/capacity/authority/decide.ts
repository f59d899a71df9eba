/**
 * Who may take how much: arithmetic over accounts whose rows the caller has locked. One function for every door
 * (routing, workflows, assignments, claims), so that no door has a rule of its own.
 *
 * Invariants: 1. after an admission, held + committed of every recipient of the slate is within its limit at that
 * moment; 2. a slate is taken whole or not at all, and a refusal changes nothing; 3. what was admitted on a day stays
 * counted on that day, whatever is released; 4. the day never goes back; 5. converting a reservation counts it a
 * second time nowhere.
 */
import type { Counters } from './counters.js';

/** What one recipient has in use, and how much it may. */
export interface Account extends Counters {
  /** UTC day that the daily counters count, days since 1970. */
  readonly day: number;
  /** Live limits, units; 0: unlimited. */
  readonly maxConcurrent: number;
  readonly dailyLimit: number;
}

/** Accounts by recipient. */
export type Accounts = ReadonlyMap<string, Account>;

/** One recipient of a slate. */
export interface Wanted {
  readonly recipientId: string;
  /** 1 or more. */
  readonly units: number;
  /** Limit that a published definition has pinned, units; 0: none. The smaller positive one of both counts. */
  readonly pinned: number;
}

/** The numbers by which one recipient was decided. */
export interface Decided extends Wanted {
  readonly used: number;
  /** Effective limit; 0: unlimited. */
  readonly limit: number;
  readonly usedToday: number;
  readonly dailyLimit: number;
  readonly fits: boolean;
}

/** The answer for a slate; granted with the accounts as they are then. */
export type Admission =
  | { readonly kind: 'granted'; readonly decided: readonly Decided[]; readonly accounts: Accounts }
  /** recipient_capacity_exhausted */
  | { readonly kind: 'refused'; readonly decided: readonly Decided[] }
  /** capacity_authority_unavailable: a recipient has no account. This is no answer about capacity. */
  | { readonly kind: 'unavailable'; readonly missing: readonly string[] };

/** What is taken: held by a workflow until its family has ended, or committed by an assignment. */
export type Taking = 'hold' | 'commit';

/** The smaller positive limit; 0 when neither is one. An unlimited value never beats a limit. */
export function effectiveLimit(pinned: number, live: number): number {
  if (pinned === 0 || live === 0) return Math.max(pinned, live);
  return Math.min(pinned, live);
}

/** The UTC day of a moment, days since 1970. */
export function utcDay(us: number): number {
  return Math.floor(us / 86_400_000_000);
}

/** The account on a day: a new day begins at 0, an older one than the account's counts as the account's. */
export function onDay(account: Account, today: number): Account {
  return today <= account.day ? account : { ...account, day: today, dailyAdmitted: 0, dailyCommitted: 0 };
}

function decideOne(account: Account, wanted: Wanted): Decided {
  const used = account.held + account.committed;
  const limit = effectiveLimit(wanted.pinned, account.maxConcurrent);
  const usedToday = account.dailyAdmitted + account.dailyCommitted;
  const { dailyLimit } = account;
  const fits =
    (limit === 0 || used + wanted.units <= limit) && (dailyLimit === 0 || usedToday + wanted.units <= dailyLimit);
  const { recipientId, units, pinned } = wanted;
  return { recipientId, units, pinned, used, limit, usedToday, dailyLimit, fits };
}

function taken(account: Account, units: number, taking: Taking): Account {
  if (taking === 'hold') {
    return { ...account, held: account.held + units, dailyAdmitted: account.dailyAdmitted + units };
  }
  return { ...account, committed: account.committed + units, dailyCommitted: account.dailyCommitted + units };
}

/**
 * Decides about a slate. The last unit of a limit still fits.
 *
 * @param slate each recipient at most once
 * @param today UTC day by the database's clock, asked for after the locks were taken
 */
export function admit(accounts: Accounts, slate: readonly Wanted[], today: number, taking: Taking): Admission {
  const missing = slate.filter(({ recipientId }) => !accounts.has(recipientId)).map(({ recipientId }) => recipientId);
  if (missing.length > 0) return { kind: 'unavailable', missing };
  const decided: Decided[] = [];
  const after = new Map(accounts);
  for (const wanted of slate) {
    const before = accounts.get(wanted.recipientId);
    if (before === undefined) continue;
    const account = onDay(before, today);
    decided.push(decideOne(account, wanted));
    after.set(wanted.recipientId, taken(account, wanted.units, taking));
  }
  if (decided.every(({ fits }) => fits)) return { kind: 'granted', decided, accounts: after };
  return { kind: 'refused', decided };
}

/** Turns units held into units committed: occupancy stays, and the day has counted them already. */
export function convert(account: Account, units: number): Account {
  return { ...account, held: Math.max(0, account.held - units), committed: account.committed + units };
}

/** Gives back units that were held. What was admitted that day stays counted. */
export function release(account: Account, units: number): Account {
  return { ...account, held: Math.max(0, account.held - units) };
}

/**
 * Gives back units that were committed.
 *
 * @param committedAtUs when they were; units from before the counters were set to 0 by hand have been given back then
 */
export function uncommit(account: Account, units: number, committedAtUs: number): Account {
  if (account.resetAtUs !== null && committedAtUs <= account.resetAtUs) return account;
  return { ...account, committed: Math.max(0, account.committed - units) };
}
