import { describe, expect, it } from 'vitest';
import { firstServed, shares, type Borrower } from './lending.js';

const borrower = (parts: Partial<Borrower> = {}): Borrower => ({
  ...{ lent: 0, running: 0, wants: 100, isTaking: true },
  ...parts,
});

describe('what is lent', () => {
  it('is divided evenly among those who want, and a part of the slots is kept', () => {
    expect(shares(12, 12, [borrower(), borrower()])).toEqual([5, 4]);
    expect(shares(12, 12, [borrower({ wants: 2 }), borrower()])).toEqual([2, 7]);
    expect(shares(12, 12, [borrower({ wants: 0 }), borrower({ isTaking: false })])).toEqual([0, 0]);
  });

  it('is never more than is free, nor with what is out already more than the part that is lent', () => {
    expect(shares(3, 12, [borrower()])).toEqual([3]);
    expect(shares(12, 12, [borrower({ lent: 2, running: 6 })])).toEqual([1]);
    expect(shares(12, 12, [borrower({ lent: 2, running: 9 })])).toEqual([0]);
  });

  it('is the whole of a worker with one slot, and all but one of a worker with two', () => {
    expect(shares(1, 1, [borrower()])).toEqual([1]);
    expect(shares(2, 2, [borrower()])).toEqual([1]);
    expect(shares(0, 1, [borrower()])).toEqual([0]);
  });
});

describe('before own tasks', () => {
  it('comes who wants and has nothing at all', () => {
    expect(firstServed(1, 4, [borrower({ running: 1 }), borrower()])).toBe(1);
    expect(firstServed(1, 4, [borrower({ wants: 0 }), borrower({ lent: 1 })])).toBe(-1);
  });

  it('comes nobody when nothing is free, or enough is lent', () => {
    expect(firstServed(0, 4, [borrower()])).toBe(-1);
    expect(firstServed(1, 4, [borrower({ running: 3 }), borrower()])).toBe(-1);
  });
});
