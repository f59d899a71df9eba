/** Medians, ratios, goals and the table of the bench. */
import { describe, expect, it } from 'vitest';
import { type Goal, judge } from '../../bench/peers/goals.js';
import type { Repetition, Results } from '../../bench/peers/results.js';
import { median, quantile } from '../../bench/peers/statistics.js';
import { figure, goalLines, ratio, table } from '../../bench/peers/table.js';
import type { Workload } from '../../bench/peers/workloads/workload.js';

function repetition(peer: Repetition['peer'], value: number, over: Partial<Repetition> = {}): Repetition {
  const values = { stepsPerS: value, p50: value / 100 };
  const known = {
    workload: 'w1c64',
    peer,
    rep: 1,
    values,
    foreign: 0,
    isDisturbed: false,
    failure: undefined,
  } as const;
  return { ...known, ...over };
}

const results: Results = {
  repetitions: [
    repetition('ductor', 900),
    repetition('ductor', 1_000),
    repetition('ductor', 1_100, { isDisturbed: true }),
    repetition('dbos', 100),
    repetition('dbos', 0, { values: {}, failure: 'it broke' }),
    repetition('restate', 400),
  ],
  raw: [
    { workload: 'w1c64', commitsPerS: 1_900 },
    { workload: 'w1c64', commitsPerS: 2_100 },
    { workload: 'w4', commitsPerS: 1 },
  ],
};

const workload: Workload = {
  id: 'w1c64',
  title: 'Steps',
  rows: [
    { key: 'stepsPerS', label: 'steps/s', better: 'more', perRaw: true },
    { key: 'p50', label: 'p50', better: 'less' },
    { key: 'unknown', label: 'nobody has this', better: 'more' },
  ],
  measure: () => Promise.reject(new Error('nothing is measured here')),
};

describe('statistics', () => {
  it('takes the middle and the nearest rank', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5]);
    expect([quantile([5, 1, 3], 0.5), quantile([5, 1, 3], 0.99), quantile([7], 0.5)]).toEqual([3, 5, 7]);
    expect([median([]), quantile([], 0.5)]).toEqual([Number.NaN, Number.NaN]);
  });
});

describe('table', () => {
  it('shows medians, ratios, the share of raw commits, and what went wrong', () => {
    const columns = [
      { name: 'ductor', title: 'Ductor' },
      { name: 'dbos', title: 'DBOS' },
      { name: 'restate', title: 'Restate' },
    ] as const;
    const lines = table(results, [workload], columns).split('\n');
    const cells = lines.map((line) => line.split('|').map((cell) => cell.trim()));
    expect(cells[0]).toEqual([
      '',
      '',
      'Ductor',
      'DBOS',
      'Restate',
      'Ductor / DBOS',
      'Ductor / Restate',
      'Ductor / raw',
      '',
    ]);
    expect(cells[2]?.slice(1, 5)).toEqual([
      '**Steps (raw: 2,000 commits/s)**',
      '3 reps, 1 disturbed*',
      '1 rep, 1 failed',
      '1 rep',
    ]);
    expect(cells[3]?.slice(1, 8)).toEqual(['steps/s', '1,000*', '100', '400', '10×', '2.50×', '0.50×']);
    expect(cells[4]?.slice(1, 8)).toEqual(['p50 ↓', '10.0*', '1.00', '4.00', '10×', '2.50×', '']);
    expect(lines).toHaveLength(5);
    expect(new Set(lines.map((line) => line.length)).size).toBe(1);
  });

  it('has a dash for what is not known', () => {
    expect([figure(undefined), figure(Number.NaN), ratio(1, undefined), ratio(1, 0)]).toEqual(['-', '-', '-', '-']);
    expect([figure(12_345.6), figure(12.34), figure(0.123), ratio(1, 8)]).toEqual(['12,346', '12.3', '0.12', '0.13×']);
  });
});

describe('goals', () => {
  const steps: Goal = { workload: 'w1c64', key: 'stepsPerS', label: 'steps', against: ['dbos'], atLeast: 10 };

  it('compares with the best of several', () => {
    const least: Goal = { ...steps, against: ['dbos', 'restate'], atLeast: 3 };
    const most: Goal = { ...steps, key: 'p50', against: ['dbos', 'restate'], atMost: 0.7 };
    const [atTen, overBest, latency] = judge(results, [steps, least, most]);
    expect([atTen?.isMet, atTen?.ratio]).toEqual([true, 10]);
    expect([overBest?.isMet, overBest?.ratio]).toEqual([false, 2.5]);
    expect([latency?.isMet, latency?.ratio]).toEqual([false, 10]);
  });

  it('judges a figure by itself where it is compared with nobody', () => {
    const outcomes = judge(results, [{ ...steps, against: [], atLeast: 900 }]);
    expect(goalLines(outcomes)).toBe('- steps ≥ 900: met (1,000)');
  });

  it('says when a figure is missing', () => {
    const outcomes = judge(results, [{ ...steps, workload: 'w4' }]);
    expect(goalLines(outcomes)).toBe('- steps ≥ 10× dbos: not measured');
  });
});
