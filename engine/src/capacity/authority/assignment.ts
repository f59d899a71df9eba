/**
 * The life of an assignment.
 *
 * States: offered → active → completed | released; offered → declined | released. An offered assignment takes nothing;
 * an active one has its units committed, under the limit as it is at that moment. The last three states are ends.
 * Invariants: 1. units are committed exactly when it becomes active, and given back exactly once, when it leaves
 * active; 2. the same verb again changes nothing; 3. no verb leads out of an end.
 */
import { admit, convert, uncommit, type Account, type Accounts, type Admission } from './decide.js';

/** State of an assignment. */
export type AssignmentState = 'offered' | 'active' | 'completed' | 'declined' | 'released';

/** An assignment, as far as capacity is concerned. */
export interface Assignment {
  readonly recipientId: string;
  readonly units: number;
  readonly state: AssignmentState;
  /** When its units were committed, microseconds since 1970; null: never. */
  readonly committedAtUs: number | null;
  /** Whether a workflow's reservation stands behind it: its units are then held already, and become committed. */
  readonly isReserved: boolean;
  /** Limit pinned by a definition; 0: none. */
  readonly pinned: number;
}

/** What may be done to an assignment. `accept` is said by the recipient, `confirm` by whoever sends the work. */
export type Verb = 'accept' | 'confirm' | 'decline' | 'complete' | 'release';

/** What came of a verb. */
export type Change =
  | { readonly kind: 'changed'; readonly assignment: Assignment; readonly accounts: Accounts }
  /** It was done before: nothing changes, and that is fine. */
  | { readonly kind: 'unchanged' }
  /** It cannot be done in this state. */
  | { readonly kind: 'conflict'; readonly state: AssignmentState }
  /** There is no room; it stays as it is. */
  | { readonly kind: 'refused'; readonly admission: Exclude<Admission, { kind: 'granted' }> };

/** State that a verb leads to. */
const LEADS_TO = {
  accept: 'active',
  confirm: 'active',
  decline: 'declined',
  complete: 'completed',
  release: 'released',
} as const satisfies Record<Verb, AssignmentState>;

/** States that a verb leads out of. */
const LEADS_FROM: Readonly<Record<Verb, readonly AssignmentState[]>> = {
  accept: ['offered'],
  confirm: ['offered'],
  decline: ['offered'],
  complete: ['active'],
  release: ['offered', 'active'],
};

function withAccount(accounts: Accounts, recipientId: string, change: (account: Account) => Account): Accounts {
  const account = accounts.get(recipientId);
  return account === undefined ? accounts : new Map(accounts).set(recipientId, change(account));
}

/** Commits the units of an assignment; the hard limit is asked unless they are held for it already. */
function activate(
  accounts: Accounts,
  assignment: Assignment,
  now: { readonly us: number; readonly today: number },
): Change {
  const { recipientId, units, pinned } = assignment;
  const active: Assignment = { ...assignment, state: 'active', committedAtUs: now.us };
  if (assignment.isReserved && accounts.has(recipientId)) {
    const converted = withAccount(accounts, recipientId, (account) => convert(account, units));
    return { kind: 'changed', assignment: active, accounts: converted };
  }
  const admission = admit(accounts, [{ recipientId, units, pinned }], now.today, 'commit');
  if (admission.kind !== 'granted') return { kind: 'refused', admission };
  return { kind: 'changed', assignment: active, accounts: admission.accounts };
}

/**
 * Does something to an assignment whose recipient's account is locked.
 *
 * @param now.us microseconds since 1970, `now.today` the UTC day, both by the database's clock
 */
export function change(
  accounts: Accounts,
  assignment: Assignment,
  verb: Verb,
  now: { readonly us: number; readonly today: number },
): Change {
  const { recipientId, state, units, committedAtUs } = assignment;
  const next = LEADS_TO[verb];
  if (state === next) return { kind: 'unchanged' };
  if (!LEADS_FROM[verb].includes(state)) return { kind: 'conflict', state };
  if (next === 'active') return activate(accounts, assignment, now);
  const isCommitted = state === 'active' && committedAtUs !== null;
  return {
    kind: 'changed',
    assignment: { ...assignment, state: next },
    accounts: isCommitted
      ? withAccount(accounts, recipientId, (account) => uncommit(account, units, committedAtUs))
      : accounts,
  };
}
