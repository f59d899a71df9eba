/** Tells runs what became of the claim items that their steps wait for, in the transaction that changes those. */
import type { ClaimEvent, ClaimWaiters } from '../../claims/index.js';
import { readRecipientNames, type RecipientNames } from '../../pools/index.js';
import type { Queryable } from '../../store/index.js';
import { waitingStep, type WaitingStep } from '../coordinator/claim-waiter.js';
import { encodeInput } from '../coordinator/run-logic.js';
import { jsonValue, type Value } from '../machine/index.js';
import { tellRuns } from './tell-runs.js';

/** News of an item, for the step that waits for it. */
export interface News {
  readonly step: WaitingStep;
  readonly event: ClaimEvent;
  readonly what: 'claimed' | 'completed' | 'expired' | 'withdrawn';
}

/** What a step is told of an event; nothing where it waits for more. */
export function newsOf(event: ClaimEvent): readonly News[] {
  const step = event.item.waiter === null ? undefined : waitingStep(event.item.waiter);
  const { kind: what } = event;
  if (step === undefined || what === 'released') return [];
  if ((what === 'claimed' || what === 'completed') && what !== step.until) return [];
  return [{ step, event, what }];
}

/** Items whose steps are over with what they are told: what is released then is work that nobody waits for. */
export function servedBy(news: readonly News[]): readonly string[] {
  return news.flatMap(({ what, event }) => (what === 'claimed' ? [event.item.itemId] : []));
}

/** The output of the step. */
export function outputOf({ item }: ClaimEvent, names: ReadonlyMap<string, RecipientNames>): Value | null {
  const { itemId, decisionId, assignmentId, claimedBy: id, claimants } = item;
  if (id === null || item.state === 'withdrawn') return null;
  const { name, externalId, type } = names.get(id) ?? { name: '', externalId: '', type: '' };
  const units = claimants.find(({ recipientId }) => recipientId === id)?.units ?? 0;
  const recipient = { id, name, external_id: externalId, type, units };
  return jsonValue({ item_id: itemId, decision_id: decisionId, recipient, assignment_id: assignmentId ?? '' });
}

/** Tells them. */
export const CLAIM_WAITERS: ClaimWaiters = {
  async told(tx: Queryable, tenantId: string, events: readonly ClaimEvent[]): Promise<readonly string[]> {
    const news = events.flatMap(newsOf);
    if (news.length === 0) return [];
    const ids = news.flatMap(({ event }) => event.item.claimedBy ?? []);
    const names = await readRecipientNames(tx, tenantId, ids);
    const told = news.map(({ step: { path, runId }, event, what }) => {
      const output = what === 'expired' ? null : outputOf(event, names);
      return { runId, body: encodeInput({ kind: 'claim_told', path, itemId: event.item.itemId, what, output }) };
    });
    await tellRuns(tx, tenantId, 'claim_told', told);
    return servedBy(news);
  },
};
