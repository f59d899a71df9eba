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
import { changeItem, claimerKey, cooled, NO_USAGE, refund, spend } from '../../claims/index.js';
import type { ClaimEvent, Claimer, ClaimItem, Usage } from '../../claims/index.js';
import { DuctorError } from '../../kernel/index.js';
import { localTime, type PoolStatus, type RecipientStatus } from '../../pools/index.js';
import type { ClaimCall, ClaimResult } from './claim-call.js';
import { noItem, notChanged, notSpent, notWorking } from './claim-errors.js';

/** What was read under the locks. */
export interface ClaimWorld {
  readonly nowUs: number;
  readonly items: ReadonlyMap<string, ClaimItem>;
  readonly accounts: Accounts;
  /** Of claimed items. */
  readonly assignments: ReadonlyMap<string, StoredAssignment>;
  /** By claimerKey. */
  readonly usage: ReadonlyMap<string, Usage>;
  /** Claims that have not ended, by claimerKey. */
  readonly open: ReadonlyMap<string, number>;
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
  readonly #usage: Map<string, Usage>;
  readonly #used = new Map<string, Claimer>();
  readonly #open: Map<string, number>;
  readonly #assigned = new Set<string>();
  readonly #released = new Set<string>();
  #accounts: Accounts;
  readonly events: ClaimEvent[] = [];
  /** Calls that changed something. */
  readonly done: ClaimCall[] = [];

  constructor(world: ClaimWorld) {
    this.#world = world;
    this.#items = new Map(world.items);
    this.#assignments = new Map(world.assignments);
    this.#usage = new Map(world.usage);
    this.#open = new Map(world.open);
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

  get usage(): readonly (Claimer & { readonly usage: Usage })[] {
    return [...this.#used].map(([key, claimer]) => ({ ...claimer, usage: this.#usage.get(key) ?? NO_USAGE }));
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
    const key = claimerKey(item.queueId, call.recipientId);
    const [usage, open] = [this.#usage.get(key) ?? NO_USAGE, this.#open.get(key) ?? 0];
    const spending = spend(item.terms.budget, usage, nowUs, open, localTime);
    if (spending.kind !== 'granted') return notSpent(call, item.queueId, spending, nowUs);
    this.#setUsage(item.queueId, call.recipientId, spending.usage);
    this.#open.set(key, open + 1);
    this.#accounts = admitted.accounts;
    this.#assigned.add(call.recipientId);
    this.#assignments.set(assignment.assignmentId, { ...assignment, ...admitted.assignment });
    this.#made.add(assignment.assignmentId);
    const claimed = { ...item, assignmentId: assignment.assignmentId };
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
    const recipientId = was.claimedBy ?? '';
    const key = claimerKey(was.queueId, recipientId);
    this.#open.set(key, Math.max(0, (this.#open.get(key) ?? 0) - 1));
    if (verb === 'release') this.#giveBack(was, recipientId, key);
    // Who waits for a released item has to know whose it was.
    this.events.push({ kind: verb === 'release' ? 'released' : 'completed', item });
    return item;
  }

  /** What a release does to the budget of who releases. */
  #giveBack({ terms, claimedUs, queueId }: ClaimItem, recipientId: string, key: string): void {
    const { nowUs } = this.#world;
    const usage = this.#usage.get(key) ?? NO_USAGE;
    const refunded = refund(terms.budget, usage, claimedUs ?? nowUs, nowUs, localTime);
    const restsUs = terms.cooldownAfterReleaseUs;
    const after = restsUs === 0 ? refunded : cooled(refunded, nowUs + restsUs);
    if (after !== usage) this.#setUsage(queueId, recipientId, after);
  }

  #setUsage(queueId: string, recipientId: string, usage: Usage): void {
    const key = claimerKey(queueId, recipientId);
    if (this.#usage.get(key) === usage) return;
    this.#usage.set(key, usage);
    this.#used.set(key, { queueId, recipientId });
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
