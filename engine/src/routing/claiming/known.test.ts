/** Answers without a lock: only to those who come too late for sure. */
import { describe, expect, it } from 'vitest';
import type { ClaimItem, ClaimVerb } from '../../claims/index.js';
import { DuctorError } from '../../kernel/index.js';
import type { ClaimCall } from './claim-call.js';
import { known } from './known.js';

const open: ClaimItem = {
  ...{ tenantId: 't', itemId: 'i', queueId: 'q', poolId: 'p', decisionId: 'i', routableId: 'w', routableType: '' },
  ...{ channel: '', priority: 0, waves: [{ size: null, afterUs: 0 }], opened: 1, visible: 2, declined: [] },
  claimants: [
    { recipientId: 'ana', units: 1 },
    { recipientId: 'ben', units: 1 },
  ],
  terms: { allowsRelease: true, cooldownAfterReleaseUs: 0, budget: null },
  ...{ state: 'open', waiter: null, endsWith: null, queuedUs: 10, expiresUs: 20, nextUs: 20 },
  ...{ claimedBy: null, claimedFor: null, assignmentId: null, claimedUs: null, releasedBy: null, endedUs: null },
};
const claimed: ClaimItem = { ...open, state: 'claimed', claimedBy: 'ana', assignmentId: 'a', claimedUs: 11 };

const call = (verb: ClaimVerb, recipientId: string, itemId = 'i'): ClaimCall => ({
  ...{ by: { tenantId: 't', principalId: 'k', name: 'k', scopes: new Set<never>() }, method: 'm', reason: '' },
  ...{ verb, recipientId, itemId },
});

/** 'ask': only a transaction can say; else the code. */
const answers = (calls: readonly ClaimCall[], item: ClaimItem): readonly string[] =>
  known(calls, new Map([['i', item]])).map((answer) =>
    answer === undefined ? 'ask' : answer instanceof DuctorError ? answer.code : 'item',
  );

describe('an answer without a lock', () => {
  it('goes to who wants what somebody else has, and to who wants what there is not', () => {
    const calls = [call('claim', 'ben'), call('decline', 'ben'), call('claim', 'ben', 'other')];
    expect(answers(calls, claimed)).toEqual(['claim_rescinded', 'claim_rescinded', 'not_found']);
    expect(answers([call('claim', 'ben')], { ...claimed, state: 'completed' })).toEqual(['claim_rescinded']);
  });

  it('goes to nobody who may have it', () => {
    const calls = [call('claim', 'ana'), call('complete', 'ana')];
    expect(answers(calls, claimed)).toEqual(['ask', 'ask']);
    expect(answers([call('claim', 'ben'), call('claim', 'nobody')], open)).toEqual(['ask', 'ask']);
    expect(answers([call('claim', 'ben')], { ...open, state: 'expired' })).toEqual(['ask']);
  });

  it('goes to nobody when the item is given back by a call of the same batch', () => {
    expect(answers([call('release', 'ana'), call('claim', 'ben')], claimed)).toEqual(['ask', 'ask']);
  });
});
