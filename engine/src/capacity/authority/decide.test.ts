import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  admit,
  convert,
  effectiveLimit,
  onDay,
  release,
  uncommit,
  type Account,
  type Accounts,
  type Wanted,
} from './decide.js';

const RUNS = { numRuns: 500 };

function accountOf(fields: Partial<Account> = {}): Account {
  return {
    committed: 0,
    held: 0,
    dailyCommitted: 0,
    dailyAdmitted: 0,
    resetAtUs: null,
    day: 100,
    maxConcurrent: 0,
    dailyLimit: 0,
    ...fields,
  };
}

const wanted = (recipientId: string, units = 1, pinned = 0): Wanted => ({ recipientId, units, pinned });

const anyAccounts: fc.Arbitrary<Accounts> = fc
  .tuple(
    ...['a', 'b', 'c'].map((id) =>
      fc
        .record({
          committed: fc.nat({ max: 6 }),
          held: fc.nat({ max: 6 }),
          dailyCommitted: fc.nat({ max: 6 }),
          dailyAdmitted: fc.nat({ max: 6 }),
          day: fc.integer({ min: 99, max: 101 }),
          maxConcurrent: fc.constantFrom(0, 5, 10, 20),
          dailyLimit: fc.constantFrom(0, 5, 20),
        })
        .map((fields): [string, Account] => [id, accountOf(fields)]),
    ),
  )
  .map((entries) => new Map(entries));

const anySlate = fc.uniqueArray(
  fc.record({
    recipientId: fc.constantFrom('a', 'b', 'c'),
    units: fc.integer({ min: 1, max: 4 }),
    pinned: fc.constantFrom(0, 3, 12),
  }),
  {
    selector: ({ recipientId }) => recipientId,
    minLength: 1,
  },
);

const anyTaking = fc.constantFrom('hold' as const, 'commit' as const);

describe('admission', () => {
  it('lets the last unit of a limit in, and no more', () => {
    const accounts = new Map([['a', accountOf({ committed: 2, held: 2, maxConcurrent: 5 })]]);
    expect(admit(accounts, [wanted('a')], 100, 'commit').kind).toBe('granted');
    expect(admit(accounts, [wanted('a', 2)], 100, 'commit')).toMatchObject({
      kind: 'refused',
      decided: [{ used: 4, limit: 5, fits: false }],
    });
  });

  it('never goes above a limit, and takes a slate whole or not at all', () => {
    fc.assert(
      fc.property(anyAccounts, anySlate, anyTaking, (accounts, slate, taking) => {
        const before = JSON.stringify([...accounts]);
        const admission = admit(accounts, slate, 100, taking);
        expect(JSON.stringify([...accounts])).toBe(before);
        expect(admission.kind).not.toBe('unavailable');
        if (admission.kind !== 'granted') return;
        for (const { recipientId, units, pinned } of slate) {
          const [old, now] = [accounts.get(recipientId), admission.accounts.get(recipientId)];
          if (old === undefined || now === undefined) throw new TypeError('an account is missing');
          const used = now.held + now.committed;
          expect(used).toBe(old.held + old.committed + units);
          for (const limit of [pinned, now.maxConcurrent]) if (limit > 0) expect(used).toBeLessThanOrEqual(limit);
          if (now.dailyLimit > 0) expect(now.dailyAdmitted + now.dailyCommitted).toBeLessThanOrEqual(now.dailyLimit);
          expect(now.day).toBe(Math.max(old.day, 100));
        }
        const others = [...accounts].filter(([id]) => !slate.some(({ recipientId }) => recipientId === id));
        for (const [id, account] of others) expect(admission.accounts.get(id)).toBe(account);
      }),
      RUNS,
    );
  });

  it('is refused as a whole when one member has no room', () => {
    const accounts = new Map([
      ['a', accountOf()],
      ['b', accountOf({ committed: 1, maxConcurrent: 1 })],
    ]);
    const admission = admit(accounts, [wanted('a'), wanted('b')], 100, 'hold');
    expect(admission).toMatchObject({ kind: 'refused', decided: [{ fits: true }, { fits: false }] });
  });

  it('takes a missing account for an outage, never for an answer', () => {
    expect(admit(new Map(), [wanted('a')], 100, 'hold')).toEqual({ kind: 'unavailable', missing: ['a'] });
  });

  it('lets no unlimited value beat a limit', () => {
    expect([
      effectiveLimit(0, 0),
      effectiveLimit(3, 0),
      effectiveLimit(0, 4),
      effectiveLimit(3, 4),
      effectiveLimit(9, 4),
    ]).toEqual([0, 3, 4, 3, 4]);
  });
});

describe('days', () => {
  it('begin at 0, and never go back', () => {
    const account = accountOf({ dailyAdmitted: 3, dailyCommitted: 2 });
    expect(onDay(account, 101)).toMatchObject({ day: 101, dailyAdmitted: 0, dailyCommitted: 0 });
    expect(onDay(account, 99)).toBe(account);
  });

  it('keep what was admitted, whatever is given back', () => {
    fc.assert(
      fc.property(anyAccounts, anySlate, (accounts, slate) => {
        const admission = admit(accounts, slate, 100, 'hold');
        if (admission.kind !== 'granted') return;
        for (const { recipientId, units } of slate) {
          const account = admission.accounts.get(recipientId) ?? accountOf();
          expect(release(account, units).dailyAdmitted).toBe(account.dailyAdmitted);
          const converted = convert(account, units);
          expect(converted.held + converted.committed).toBe(account.held + account.committed);
          expect(converted.dailyAdmitted + converted.dailyCommitted).toBe(
            account.dailyAdmitted + account.dailyCommitted,
          );
        }
      }),
      RUNS,
    );
  });
});

describe('giving back', () => {
  it('never goes below 0', () => {
    expect(release(accountOf({ held: 1 }), 3).held).toBe(0);
    expect(uncommit(accountOf({ committed: 1 }), 3, 5).committed).toBe(0);
  });

  it('gives nothing back twice when the counters were set to 0 in between', () => {
    const account = accountOf({ committed: 2, resetAtUs: 50 });
    expect(uncommit(account, 1, 50)).toBe(account);
    expect(uncommit(account, 1, 51).committed).toBe(1);
  });
});
