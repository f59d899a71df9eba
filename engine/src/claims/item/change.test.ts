import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeItem, type ClaimVerb } from './change.js';
import { offerTo, type ClaimItem, type ClaimWave } from './claim-item.js';
import { firstOffer, lookAt, nextLookUs } from './look.js';

const WAVES: readonly ClaimWave[] = [
  { size: 1, afterUs: 0 },
  { size: 1, afterUs: 10 },
  { size: null, afterUs: 20 },
];

function itemOf(more: Partial<ClaimItem> = {}): ClaimItem {
  const claimants = ['a', 'b', 'c', 'd'].map((recipientId) => ({ recipientId, units: 1 }));
  const plain: ClaimItem = {
    ...{ opened: 0, visible: 0 },
    ...{ tenantId: 't', itemId: 'i', queueId: 'q', poolId: 'p', decisionId: 'i', routableId: 'r', routableType: '' },
    endsWith: null,
    ...{ channel: '', priority: 0, claimants, waves: WAVES, waiter: null, queuedUs: 100, expiresUs: 200 },
    terms: { allowsRelease: true, cooldownAfterReleaseUs: 0, budget: null },
    ...{
      state: 'open',
      declined: [],
      claimedBy: null,
      claimedFor: null,
      assignmentId: null,
      claimedUs: null,
      releasedBy: null,
    },
    ...{ endedUs: null, nextUs: null, ...more },
  };
  const fresh = { ...plain, ...firstOffer(plain) };
  return { ...fresh, nextUs: nextLookUs(fresh, 100) };
}

describe('an item', () => {
  it('opens its waves by time, all that are due at once, and expires', () => {
    const item = itemOf();
    expect([item.visible, item.nextUs]).toEqual([1, 110]);
    const opened = lookAt(item, 110, true);
    expect([opened.kind, opened.item.visible, opened.item.nextUs]).toEqual(['opened', 2, 120]);
    const all = lookAt(item, 150, true);
    expect([all.kind, all.item.visible, all.item.nextUs]).toEqual(['opened', 4, 200]);
    expect(lookAt(all.item, 199, true).kind).toBe('wait');
    expect(lookAt(all.item, 200, true).item).toMatchObject({ state: 'expired', endedUs: 200, nextUs: null });
    // Nothing begins where none may; time goes on.
    const paused = lookAt(item, 110, false);
    expect([paused.kind, paused.item.visible]).toEqual(['wait', 1]);
    expect(lookAt(item, 200, false).kind).toBe('expired');
  });

  it('goes on to the next wave when all have turned it down, and is over when nobody is left', () => {
    let item = itemOf();
    for (const [number, id] of ['a', 'b', 'c', 'd'].entries()) {
      const declined = changeItem('decline', item, id, 105);
      if (declined.kind !== 'changed') expect.unreachable(declined.kind);
      else ({ item } = declined);
      const look = lookAt(item, 105, true);
      ({ item } = look);
      expect(look.kind).toBe(['opened', 'opened', 'wait', 'expired'][number]);
    }
  });

  it('does what was done again, and nothing else, twice (2,000 histories)', () => {
    const verbs: readonly ClaimVerb[] = ['claim', 'release', 'complete', 'decline'];
    const step = fc.record({
      verb: fc.constantFrom(...verbs),
      who: fc.constantFrom('a', 'b', 'c', 'd', 'z'),
      by: fc.integer({ min: 0, max: 15 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let item = itemOf();
        let nowUs = 100;
        for (const { verb, who, by } of steps) {
          nowUs += by;
          ({ item } = lookAt(item, nowUs, true));
          const was = item;
          const changed = changeItem(verb, item, who, nowUs);
          if (changed.kind !== 'changed') continue;
          ({ item } = changed);
          expect(changeItem(verb, item, who, nowUs).kind).toBe('unchanged');
          if (verb === 'claim') {
            expect(was.state).toBe('open');
            expect(offerTo(was, who)).toBe('offered');
            expect(nowUs).toBeLessThan(was.expiresUs);
          }
          if (verb === 'release' || verb === 'complete') expect(was.claimedBy).toBe(who);
          for (const other of ['a', 'b', 'c', 'd'].filter((id) => id !== item.claimedBy)) {
            if (item.state !== 'claimed') continue;
            expect(changeItem('claim', item, other, nowUs).kind).toBe('rescinded');
            expect(['none', 'declined', 'rescinded']).toContain(offerTo(item, other));
          }
        }
      }),
      { numRuns: 2000 },
    );
  });
});
