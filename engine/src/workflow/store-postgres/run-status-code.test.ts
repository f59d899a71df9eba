import { describe, expect, it } from 'vitest';
import { statusCode, statusOf } from './run-status-code.js';

describe('run status codes', () => {
  it('never change: they are stored', () => {
    const stored = Array.from({ length: 12 }, (_, i) => [i + 1, statusOf(i + 1)]);
    expect(stored).toEqual([
      [1, 'PENDING'],
      [2, 'RUNNING'],
      [3, 'WAITING'],
      [4, 'PAUSED'],
      [5, 'PARKED'],
      [6, 'CANCELLING'],
      [7, 'COMPLETED'],
      [8, 'FAILED'],
      [9, 'CANCELLED'],
      [10, 'TIMED_OUT'],
      [11, 'TERMINATED'],
      [12, 'CONTINUED'],
    ]);
    expect(stored.map(([, status]) => statusCode(statusOf(stored.findIndex(([, s]) => s === status) + 1)))).toEqual(
      stored.map(([code]) => code),
    );
  });

  it('of a newer engine are an error, not a guess', () => {
    expect(() => statusOf(99)).toThrow('run-status-code');
  });
});
