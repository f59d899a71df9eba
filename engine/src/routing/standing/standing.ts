/**
 * Where pools stand at one moment of the database: their versions, and the counters and facts of their members. What
 * changes with each decision, as against a view, which changes with its pool.
 */
import { onDay, type Account } from '../../capacity/index.js';
import type { RecipientFacts } from '../core/candidate.js';
import type { Member, PoolView } from '../pipeline/view.js';

/** Where one recipient stands. */
export interface MemberStanding {
  /** record_version of the recipient. */
  readonly version: number;
  /** Without its limits, which its view knows; undefined: the authority does not know it. */
  readonly account: Omit<Account, 'maxConcurrent' | 'dailyLimit'> | undefined;
  /** What is known besides what the account says. */
  readonly learned: Omit<RecipientFacts, 'held' | 'committed' | 'admittedToday' | 'committedToday'>;
}

/** Where a pool stands; its members are those that it falls back to, too. */
export interface PoolStanding {
  readonly version: number;
  readonly isKilled: boolean;
  readonly members: ReadonlyMap<string, MemberStanding>;
}

/** Where pools stand; those that there are not are absent. */
export interface Standing {
  readonly nowUs: number;
  readonly pools: ReadonlyMap<string, PoolStanding>;
}

/** Members of a pool and those that it falls back to. */
export function everybody({ members, standbys }: PoolView): readonly Member[] {
  return standbys.length === 0 ? members : [...members, ...standbys];
}

/** Whether a view is of this version of its pool and of all its members. */
export function isCurrent(view: PoolView | undefined, standing: PoolStanding | undefined): boolean {
  if (view === undefined || standing === undefined) return view === standing;
  if (view.version !== standing.version || view.document.isKilled !== standing.isKilled) return false;
  const { members, standbys } = view;
  if (members.length + standbys.length !== standing.members.size) return false;
  const isSame = ({ id, version }: Member): boolean => standing.members.get(id)?.version === version;
  return members.every(isSame) && standbys.every(isSame);
}

/** The facts of a recipient by its account and what else is known of it. */
export function factsOf(
  account: MemberStanding['account'],
  learned: MemberStanding['learned'],
  today: number,
): RecipientFacts {
  if (account === undefined) return { held: 0, committed: 0, admittedToday: 0, committedToday: 0, ...learned };
  const isToday = account.day >= today;
  return {
    held: account.held,
    committed: account.committed,
    admittedToday: isToday ? account.dailyAdmitted : 0,
    committedToday: isToday ? account.dailyCommitted : 0,
    ...learned,
  };
}

/** The accounts of a view's members with their limits, on a day. */
export function accountsOf(view: PoolView, standing: PoolStanding, today: number): ReadonlyMap<string, Account> {
  const accounts = new Map<string, Account>();
  for (const { id, maxConcurrent, dailyLimit } of everybody(view)) {
    const account = standing.members.get(id)?.account;
    if (account !== undefined) accounts.set(id, onDay({ ...account, maxConcurrent, dailyLimit }, today));
  }
  return accounts;
}
