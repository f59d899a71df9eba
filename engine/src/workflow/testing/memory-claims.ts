/**
 * Claim items in memory, decided by the same pure parts as in the database. Each call is one transaction: what becomes
 * of an item, of the account of who claims it and of the box of who waits happens at one instant.
 */
import { onDay, utcDay, type Account, type StoredAssignment } from '../../capacity/index.js';
import { claimerKey, freshItem, lookAt, teamKey, type ClaimEvent, type ClaimItem } from '../../claims/index.js';
import type { NewClaimItem, Usage } from '../../claims/index.js';
import { teamNamed } from '../../pools/index.js';
import {
  Claiming,
  everybody,
  type ClaimCall,
  type ClaimResult,
  type ClaimWorld,
  type PoolView,
} from '../../routing/index.js';
import type { InboxMessage } from '../coordinator/ports.js';
import { encodeInput } from '../coordinator/run-logic.js';
import { newsOf, outputOf, servedBy } from '../store-postgres/claim-waiters.js';
import type { Counters } from './memory-counters.js';

/** What it stands on. */
export interface ClaimGround {
  readonly accounts: Map<string, Counters>;
  /** All pools there are. */
  readonly views: () => readonly PoolView[];
}

/** What a call or a look came to, with the messages that were written with it. */
export interface Told<T> {
  readonly value: T;
  readonly messages: readonly Omit<InboxMessage, 'id'>[];
}

const NO_NAMES = new Map<string, never>();

function messagesOf(events: readonly ClaimEvent[]): readonly Omit<InboxMessage, 'id'>[] {
  return events.flatMap(newsOf).map(({ step: { runId, path }, event, what }) => {
    const output = what === 'expired' ? null : outputOf(event, NO_NAMES);
    const { tenantId, itemId } = event.item;
    const body = encodeInput({ kind: 'claim_told', path, itemId, what, output });
    return { tenantId, runId, kind: 'claim_told', body };
  });
}

/** The tables. */
export class MemoryClaims {
  readonly items = new Map<string, ClaimItem>();
  readonly assignments = new Map<string, StoredAssignment>();
  readonly #usage = new Map<string, Usage>();

  constructor(readonly ground: ClaimGround) {}

  /** Puts an item in its queue. */
  put(item: NewClaimItem): void {
    this.items.set(item.itemId, freshItem(item));
  }

  /** Takes items out that are open. */
  withdraw(itemIds: readonly string[], nowUs: number): void {
    for (const id of itemIds) {
      const item = this.items.get(id);
      if (item?.state === 'open') this.items.set(id, { ...item, state: 'withdrawn', endedUs: nowUs, nextUs: null });
    }
  }

  /** What calls are decided by. */
  read(nowUs: number, newId: () => string): ClaimWorld {
    const views = this.ground.views();
    const members = new Map(views.flatMap((view) => everybody(view).map((member) => [member.id, member] as const)));
    const accounts = [...this.ground.accounts].map(([id, account]): [string, Account] => {
      const { maxConcurrent = 0, dailyLimit = 0 } = members.get(id) ?? {};
      return [id, onDay({ ...account, maxConcurrent, dailyLimit }, utcDay(nowUs))];
    });
    const open = new Map<string, number>();
    for (const { state, queueId, claimedBy, claimedFor } of this.items.values()) {
      if (state !== 'claimed' || claimedBy === null) continue;
      const keys = [claimerKey(queueId, claimedBy), ...(claimedFor === null ? [] : [teamKey(queueId, claimedFor)])];
      for (const key of keys) open.set(key, (open.get(key) ?? 0) + 1);
    }
    return {
      ...{ nowUs, newId, open, items: new Map(this.items), accounts: new Map(accounts) },
      ...{ assignments: new Map(this.assignments), usage: new Map(this.#usage) },
      pools: new Map(views.map(({ id, document }) => [id, { status: 'STATUS_ACTIVE', isKilled: document.isKilled }])),
      recipients: new Map(
        [...members].map(([id, { state, isActive, scope }]) => [
          id,
          {
            ...{ state, status: isActive ? 'STATUS_ACTIVE' : 'STATUS_INACTIVE' },
            team: teamNamed(scope.attributes['team']),
          },
        ]),
      ),
    };
  }

  /** Does something to items, in order. */
  act(calls: readonly ClaimCall[], world: ClaimWorld): Told<readonly ClaimResult[]> {
    const claiming = new Claiming(world);
    const value = calls.map((call) => claiming.act(call));
    for (const item of claiming.items) this.items.set(item.itemId, item);
    for (const each of [...claiming.made, ...claiming.ended]) this.assignments.set(each.assignmentId, each);
    const { used, usedByTeams } = claiming.budgets;
    for (const { queueId, recipientId, usage } of used) this.#usage.set(claimerKey(queueId, recipientId), usage);
    for (const { queueId, team, usage } of usedByTeams) this.#usage.set(teamKey(queueId, team), usage);
    for (const { recipientId, account } of claiming.accounts) this.ground.accounts.set(recipientId, account);
    for (const itemId of servedBy(claiming.events.flatMap(newsOf))) {
      const item = this.items.get(itemId);
      if (item !== undefined) this.items.set(itemId, { ...item, waiter: null });
    }
    return { value, messages: messagesOf(claiming.events) };
  }

  /** Looks at items that are due: their next wave begins, or they expire. */
  look(nowUs: number): Told<readonly ClaimItem[]> {
    const due = [...this.items.values()].filter(({ nextUs }) => nextUs !== null && nextUs <= nowUs);
    const looks = due.map((item) => lookAt(item, nowUs, true));
    for (const { item } of looks) this.items.set(item.itemId, item);
    const expired = looks.flatMap(({ kind, item }) => (kind === 'expired' ? [{ kind, item }] : []));
    return { value: expired.map(({ item }) => item), messages: messagesOf(expired) };
  }
}
