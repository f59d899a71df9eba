/**
 * Calls about claims being folded: accounts, budgets and items as they have become so far. Pure: it is given what was
 * read under the locks, and says at the end what has to be written.
 *
 * Invariants: 1. a call that is refused changes nothing; 2. capacity changes by `change` of an assignment alone, as for
 * every other door; 3. an item that is claimed has exactly one assignment, which is active as long as the claim is.
 */
import {
  change,
  notAdmitted,
  utcDay,
  type Accounts,
  type AccountChange,
  type Change,
  type StoredAssignment,
  type Verb,
} from '../../capacity/index.js';
import { changeItem, type ClaimEvent, type ClaimItem } from '../../claims/index.js';
import { DuctorError } from '../../kernel/index.js';
import type { PoolStatus, RecipientStatus } from '../../pools/index.js';
import { Budgets, type BudgetWorld } from './budgets.js';
import type { ClaimCall, ClaimResult } from './claim-call.js';
import { noItem, notChanged, notSpent, notWorking } from './claim-errors.js';

/** What was read under the locks. */
export interface ClaimWorld extends BudgetWorld {
  readonly items: ReadonlyMap<string, ClaimItem>;
  readonly accounts: Accounts;
  /** Of claimed items. */
  readonly assignments: ReadonlyMap<string, StoredAssignment>;
  readonly pools: ReadonlyMap<string, PoolStatus>;
  readonly recipients: ReadonlyMap<string, RecipientStatus>;
  readonly newId: () => string;
}

/** Recipients in these states take nothing new, though they are there. */
const RESTING: ReadonlySet<string> = new Set(['RECIPIENT_STATE_PAUSED', 'RECIPIENT_STATE_DRAINING']);

/** See above. */
export class Claiming {
  readonly #world: ClaimWorld;
  readonly #items: Map<string, ClaimItem>;
  readonly #changed = new Set<string>();
  readonly #assignments: Map<string, StoredAssignment>;
  readonly #made = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #assigned = new Set<string>();
  readonly #released = new Set<string>();
  readonly budgets: Budgets;
  #accounts: Accounts;
  readonly events: ClaimEvent[] = [];
  /** Calls that changed something. */
  readonly done: ClaimCall[] = [];

  constructor(world: ClaimWorld) {
    this.#world = world;
    this.#items = new Map(world.items);
    this.#assignments = new Map(world.assignments);
    this.budgets = new Budgets(world);
    this.#accounts = world.accounts;
  }

  act(call: ClaimCall): ClaimResult {
    const was = this.#items.get(call.itemId);
    if (was === undefined) return noItem(call.itemId);
    const changed = changeItem(call.verb, was, call.recipientId, this.#world.nowUs);
    if (changed.kind === 'unchanged') return was;
    if (changed.kind !== 'changed') return notChanged(call, changed);
    const item = this.#settle(call, was, changed.item);
    if (item instanceof DuctorError) return item;
    this.#items.set(item.itemId, item);
    this.#changed.add(item.itemId);
    this.done.push(call);
    return item;
  }

  /** Items that are to be written. */
  get items(): readonly ClaimItem[] {
    return [...this.#changed].flatMap((id) => this.#items.get(id) ?? []);
  }

  /** Assignments that claims have made. */
  get made(): readonly StoredAssignment[] {
    return [...this.#made].flatMap((id) => this.#assignments.get(id) ?? []);
  }

  /** Assignments that have ended, those too that these calls have made. */
  get ended(): readonly StoredAssignment[] {
    return [...this.#ended].flatMap((id) => this.#assignments.get(id) ?? []);
  }

  get accounts(): readonly AccountChange[] {
    const { nowUs } = this.#world;
    return [...new Set([...this.#assigned, ...this.#released])].flatMap((recipientId) => {
      const account = this.#accounts.get(recipientId);
      if (account === undefined) return [];
      const lastAssignedUs = this.#assigned.has(recipientId) ? nowUs : null;
      return [{ recipientId, account, lastAssignedUs, lastReleasedUs: this.#released.has(recipientId) ? nowUs : null }];
    });
  }

  /** What goes with the change of the item. */
  #settle(call: ClaimCall, was: ClaimItem, item: ClaimItem): ClaimItem | DuctorError {
    switch (call.verb) {
      case 'decline':
        return item;
      case 'claim':
        return this.#claim(call, item);
      case 'release':
      case 'complete':
        return this.#end(call.verb, was, item);
    }
  }

  #claim(call: ClaimCall, item: ClaimItem): ClaimItem | DuctorError {
    const { nowUs, newId } = this.#world;
    const refusal = this.#barred(call, item);
    if (refusal !== undefined) return refusal;
    const assignment = offerOf(item, call.recipientId, newId(), nowUs);
    const admitted = this.#change(assignment, 'accept');
    if (admitted.kind !== 'changed') {
      return notAdmitted(`item ${item.itemId}`, admitted.kind === 'refused' ? admitted.admission : undefined);
    }
    const claimedFor = teamOf(item, this.#world.recipients.get(call.recipientId));
    const spending = this.budgets.spend(item, call.recipientId, claimedFor);
    if (spending.kind !== 'granted') return notSpent(call, item.queueId, spending, { nowUs, team: claimedFor });
    this.#accounts = admitted.accounts;
    this.#assigned.add(call.recipientId);
    this.#assignments.set(assignment.assignmentId, { ...assignment, ...admitted.assignment });
    this.#made.add(assignment.assignmentId);
    const claimed = { ...item, claimedFor, assignmentId: assignment.assignmentId };
    this.events.push({ kind: 'claimed', item: claimed });
    return claimed;
  }

  /** Ends the assignment of a claim. */
  #end(verb: 'release' | 'complete', was: ClaimItem, item: ClaimItem): ClaimItem {
    const { nowUs } = this.#world;
    const assignment = this.#assignments.get(was.assignmentId ?? '');
    const ended = assignment === undefined ? undefined : this.#change(assignment, verb);
    if (assignment !== undefined && ended?.kind === 'changed') {
      this.#accounts = ended.accounts;
      this.#released.add(assignment.recipientId);
      this.#assignments.set(assignment.assignmentId, { ...assignment, ...ended.assignment, endedAtUs: nowUs });
      this.#ended.add(assignment.assignmentId);
    }
    this.budgets.ended(was);
    if (verb === 'release') this.budgets.giveBack(was);
    // Who waits for a released item has to know whose it was.
    this.events.push({ kind: verb === 'release' ? 'released' : 'completed', item });
    return item;
  }

  #change(assignment: StoredAssignment, verb: Verb): Change {
    const { nowUs } = this.#world;
    return change(this.#accounts, assignment, verb, { us: nowUs, today: utcDay(nowUs) });
  }

  /** Whether pool and recipient take part. Items of a paused pool may be claimed, not those of one switched off. */
  #barred(call: ClaimCall, { poolId }: ClaimItem): DuctorError | undefined {
    const recipient = this.#world.recipients.get(call.recipientId);
    if (recipient === undefined) return new DuctorError('not_found', `there is no recipient ${call.recipientId}`);
    if (recipient.status !== 'STATUS_ACTIVE') return notWorking(call, `it has ${recipient.status}`);
    if (RESTING.has(recipient.state)) return notWorking(call, `it has ${recipient.state}`);
    const pool = this.#world.pools.get(poolId);
    if (pool === undefined) return notWorking(call, `there is no pool ${poolId} any more`);
    if (pool.isKilled) return notWorking(call, `the kill switch of pool ${poolId} is on`);
    const isOff = pool.status !== 'STATUS_ACTIVE' && pool.status !== 'STATUS_PAUSED';
    return isOff ? notWorking(call, `pool ${poolId} has ${pool.status}`) : undefined;
  }
}

/** The team whose budget a claim of the item counts for; null: the recipient's own, or none. */
export function teamOf({ terms }: ClaimItem, recipient: RecipientStatus | undefined): string | null {
  return terms.budget?.scope === 'team' ? (recipient?.team ?? null) : null;
}

/** The assignment that a claim makes, before it is accepted. */
function offerOf(item: ClaimItem, recipientId: string, assignmentId: string, nowUs: number): StoredAssignment {
  const { tenantId, poolId, decisionId, routableId, itemId: claimItemId, claimants, endsWith } = item;
  const units = claimants.find((each) => each.recipientId === recipientId)?.units ?? 1;
  return {
    ...{ tenantId, assignmentId, recipientId, poolId, decisionId, routableId, claimItemId, units },
    ...{ state: 'offered', isReserved: false, pinned: 0, createdAtUs: nowUs },
    ...{ committedAtUs: null, respondedAtUs: null, endedAtUs: null, runId: null },
    ...{ workState: null, endsWith },
  };
}
