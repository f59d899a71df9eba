/** Why nothing came of a claim, in codes and numbers. */
import type { ItemChange, Spending } from '../../claims/index.js';
import { DuctorError } from '../../kernel/index.js';
import type { ClaimCall } from './claim-call.js';

const instant = (us: number): string => new Date(Math.ceil(us / 1000)).toISOString();

/** There is no such item, or it is another tenant's. */
export function noItem(itemId: string): DuctorError {
  return new DuctorError('not_found', `there is no claim item ${itemId}`);
}

/** The item does not lead on to what was asked for. */
export function notChanged(
  { itemId, recipientId, verb }: ClaimCall,
  change: Exclude<ItemChange, { kind: 'changed' | 'unchanged' }>,
): DuctorError {
  const name = `recipient ${recipientId} cannot ${verb} item ${itemId}`;
  switch (change.kind) {
    case 'rescinded':
      return new DuctorError('claim_rescinded', `${name}: somebody else has claimed it`);
    case 'not_offered':
      return new DuctorError('claim_not_offered', `${name}: ${change.why}`);
    case 'conflict':
      return new DuctorError('claim_state_conflict', `${name}: ${change.why}`);
  }
}

/** The pool of the item, or the recipient, takes part in nothing now. */
export function notWorking({ itemId, recipientId }: ClaimCall, why: string): DuctorError {
  return new DuctorError('claim_not_offered', `recipient ${recipientId} cannot claim item ${itemId}: ${why}`);
}

/**
 * The budget lets the recipient claim no more.
 *
 * @param at.team whose budget it is; null: the recipient's own
 */
export function notSpent(
  { recipientId }: ClaimCall,
  queueId: string,
  spending: Exclude<Spending, { kind: 'granted' }>,
  { nowUs, team }: { readonly nowUs: number; readonly team: string | null },
): DuctorError {
  const who = `recipient ${recipientId}`;
  const name = team === null ? who : `the team ${JSON.stringify(team)} of ${who}`;
  const code = 'claim_budget_exhausted';
  if (spending.kind === 'open') {
    const text = `${spending.open} of ${spending.limit} claims of queue ${queueId} open (budget.max_open)`;
    return new DuctorError(code, `${name} has ${text}`);
  }
  const retryAfterMs = Math.max(1, Math.ceil((spending.untilUs - nowUs) / 1000));
  const until = instant(spending.untilUs);
  if (spending.kind === 'cooling') {
    return new DuctorError(code, `${who} claims nothing of queue ${queueId} until ${until}`, { retryAfterMs });
  }
  const text = `${spending.used} of ${spending.limit} claims of queue ${queueId} (budget.max_claims)`;
  return new DuctorError(code, `${name} has used ${text}; the period ends at ${until}`, { retryAfterMs });
}
