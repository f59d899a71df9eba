import { describe, expect, it } from 'vitest';
import { claimerKey, NO_USAGE, teamKey, type BudgetTerms, type ClaimItem } from '../../claims/index.js';
import { Budgets } from './budgets.js';

const NOW_US = 1_783_766_700_000_000;

const itemOf = (budget: Partial<BudgetTerms>, more: Partial<ClaimItem> = {}): ClaimItem => ({
  ...{ tenantId: 't', itemId: 'i', queueId: 'q', poolId: 'p', decisionId: 'i', routableId: 'w', routableType: '' },
  ...{ channel: '', priority: 0, waves: [], opened: 1, visible: 1, declined: [], claimants: [], state: 'open' },
  ...{ waiter: null, endsWith: null, queuedUs: 1, expiresUs: 2, nextUs: 2, endedUs: null, assignmentId: null },
  ...{ claimedBy: null, claimedFor: null, claimedUs: null, releasedBy: null },
  terms: {
    ...{ allowsRelease: true, cooldownAfterReleaseUs: 0 },
    budget: {
      ...{ scope: 'team', maxClaims: 2, period: { rollingUs: 60_000_000 }, maxOpen: null, cooldownAfterClaimUs: 0 },
      ...{ refundsReleases: true, carryOver: 0, ...budget },
    },
  },
  ...more,
});

const fresh = (): Budgets => new Budgets({ nowUs: NOW_US, usage: new Map(), open: new Map() });

describe('the budget of a team', () => {
  it('is spent by all of them together, and nothing of what is their own', () => {
    const budgets = fresh();
    const kinds = ['ana', 'ben', 'cleo'].map((id) => budgets.spend(itemOf({}), id, 'west').kind);
    expect(kinds).toEqual(['granted', 'granted', 'exhausted']);
    expect(budgets.spend(itemOf({}), 'cleo', null).kind).toBe('granted');
    expect(budgets.usedByTeams.map(({ team, usage }) => [team, usage.rolling])).toEqual([
      ['west', { '60000000': [NOW_US, NOW_US] }],
    ]);
    expect(budgets.used.map(({ recipientId }) => recipientId)).toEqual(['cleo']);
  });

  it('bounds what they have open, until one of them ends its claim', () => {
    const budgets = new Budgets({ nowUs: NOW_US, usage: new Map(), open: new Map([[teamKey('q', 'west'), 1]]) });
    const item = itemOf({ maxOpen: 1 });
    expect(budgets.spend(item, 'ana', 'west')).toEqual({ kind: 'open', open: 1, limit: 1 });
    expect(budgets.spend(item, 'ana', 'east').kind).toBe('granted');
    budgets.ended({ ...item, claimedBy: 'ben', claimedFor: 'west' });
    expect(budgets.spend(item, 'ana', 'west').kind).toBe('granted');
  });

  it('takes back what was counted for it, whoever is in it by now; who released rests alone', () => {
    const budgets = fresh();
    const item = itemOf({});
    budgets.spend(item, 'ana', 'west');
    const was = { ...item, claimedBy: 'ana', claimedFor: 'west', claimedUs: NOW_US };
    budgets.giveBack({ ...was, terms: { ...was.terms, cooldownAfterReleaseUs: 5 } });
    expect(budgets.usedByTeams.map(({ usage }) => usage.rolling)).toEqual([{ '60000000': [] }]);
    expect(budgets.used).toEqual([
      { queueId: 'q', recipientId: 'ana', usage: { ...NO_USAGE, coolingUntilUs: NOW_US + 5 } },
    ]);
    expect(budgets.spend(item, 'ana', 'east').kind).toBe('cooling');
    expect(budgets.spend(item, 'ben', 'west').kind).toBe('granted');
  });

  it('has a key that no recipient has', () => {
    expect(teamKey('q', 'r')).not.toBe(claimerKey('q', 'r'));
  });
});
