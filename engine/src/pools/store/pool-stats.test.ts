import { describe, expect, it } from 'vitest';
import { statsOf } from './pool-stats.js';

const counters = (committed: number, held: number) => ({
  ...{ committed, held, dailyCommitted: 0, dailyAdmitted: 0, resetAtUs: null },
});

describe('statsOf', () => {
  it('adds up members with a limit, and tells the others apart', () => {
    const members = [
      { recipientId: 'a', isActive: true, maxConcurrent: 10 },
      { recipientId: 'b', isActive: false, maxConcurrent: 30 },
      { recipientId: 'c', isActive: true, maxConcurrent: 0 },
    ];
    const counted = new Map([
      ['a', counters(3, 1)],
      ['b', counters(10, 0)],
      ['c', counters(50, 7)],
    ]);
    expect(statsOf(members, counted)).toEqual({
      ...{ totalRecipients: 3, activeRecipients: 2, unlimitedRecipients: 1 },
      ...{ totalCapacity: 40, usedCapacity: 14, held: 8, utilization: 0.35 },
    });
  });

  it('has no utilization without a limit', () => {
    expect(statsOf([], new Map())).toMatchObject({ totalCapacity: 0, utilization: null });
  });

  it('fails rather than count 0 for a member that nothing is known of', () => {
    const members = [{ recipientId: 'a', isActive: true, maxConcurrent: 10 }];
    expect(() => statsOf(members, new Map())).toThrow(/nothing is counted for recipient a/);
  });
});
