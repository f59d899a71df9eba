import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { change, type Assignment, type AssignmentState, type Verb } from './assignment.js';
import type { Account, Accounts } from './decide.js';

const NOW = { us: 1000, today: 100 };
const VERBS: readonly Verb[] = ['accept', 'confirm', 'decline', 'complete', 'release'];

function accountsOf(fields: Partial<Account> = {}): Accounts {
  const account = {
    committed: 0,
    held: 0,
    dailyCommitted: 0,
    dailyAdmitted: 0,
    resetAtUs: null,
    day: 100,
    maxConcurrent: 3,
    dailyLimit: 0,
  };
  return new Map([['a', { ...account, ...fields }]]);
}

function assignmentOf(state: AssignmentState, fields: Partial<Assignment> = {}): Assignment {
  return {
    recipientId: 'a',
    units: 1,
    state,
    committedAtUs: state === 'active' ? 1 : null,
    isReserved: false,
    pinned: 0,
    ...fields,
  };
}

describe('an assignment', () => {
  it.each<[AssignmentState, Verb, string]>([
    ['offered', 'accept', 'active'],
    ['offered', 'confirm', 'active'],
    ['offered', 'decline', 'declined'],
    ['offered', 'complete', 'conflict'],
    ['offered', 'release', 'released'],
    ['active', 'accept', 'unchanged'],
    ['active', 'confirm', 'unchanged'],
    ['active', 'decline', 'conflict'],
    ['active', 'complete', 'completed'],
    ['active', 'release', 'released'],
    ['completed', 'complete', 'unchanged'],
    ['completed', 'release', 'conflict'],
    ['declined', 'accept', 'conflict'],
    ['released', 'complete', 'conflict'],
  ])('that is %s, on %s: %s', (state, verb, expected) => {
    const result = change(accountsOf({ committed: 1 }), assignmentOf(state), verb, NOW);
    expect(result.kind === 'changed' ? result.assignment.state : result.kind).toBe(expected);
  });

  it('is not accepted beyond the hard limit, and stays offered', () => {
    const result = change(accountsOf({ committed: 3 }), assignmentOf('offered'), 'accept', NOW);
    expect(result).toMatchObject({ kind: 'refused', admission: { kind: 'refused', decided: [{ used: 3, limit: 3 }] } });
  });

  it('with a reservation behind it takes what was held, also when the limit was tightened since', () => {
    const accounts = accountsOf({ held: 3, maxConcurrent: 1, dailyAdmitted: 3 });
    const result = change(accounts, assignmentOf('offered', { isReserved: true }), 'confirm', NOW);
    expect(result.kind === 'changed' ? result.accounts.get('a') : undefined).toMatchObject({
      held: 2,
      committed: 1,
      dailyAdmitted: 3,
      dailyCommitted: 0,
    });
  });

  it('commits its units once and frees them once, whatever is done to many in whatever order (500 histories)', () => {
    const step = fc.record({ which: fc.nat({ max: 4 }), verb: fc.constantFrom(...VERBS) });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 5, maxLength: 5 }),
        (steps, units) => {
          let accounts = accountsOf({ maxConcurrent: 4 });
          const assignments = units.map((each) => assignmentOf('offered', { units: each }));
          for (const [index, { which, verb }] of steps.entries()) {
            const assignment = assignments[which];
            if (assignment === undefined) continue;
            const result = change(accounts, assignment, verb, { us: 1000 + index, today: 100 });
            if (result.kind !== 'changed') continue;
            accounts = result.accounts;
            assignments[which] = result.assignment;
            const active = assignments.filter(({ state }) => state === 'active');
            const committed = active.reduce((sum, each) => sum + each.units, 0);
            expect(accounts.get('a')?.committed).toBe(committed);
            expect(committed).toBeLessThanOrEqual(4);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
