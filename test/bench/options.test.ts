/** The command line of the bench. */
import { describe, expect, it } from 'vitest';
import { UsageError, readOptions } from '../../bench/peers/options.js';

describe('readOptions', () => {
  it('measures everything three times when nothing is said', () => {
    const options = readOptions([]);
    expect(options?.workloads).toHaveLength(8);
    expect(options).toMatchObject({ peers: ['ductor', 'dbos', 'restate'], seconds: 5, reps: 3, foreignMax: 0.45 });
  });

  it('takes beginnings of workloads, and Ductor always first', () => {
    const options = readOptions(['--only', 'w2,w1c6', '--peers', 'restate', '--seconds', '0.5']);
    expect(options).toMatchObject({
      workloads: ['w1c64', 'w2c1', 'w2c16'],
      peers: ['ductor', 'restate'],
      seconds: 0.5,
    });
    expect(readOptions(['--peers', 'none'])?.peers).toEqual(['ductor']);
  });

  it.each([
    [['--only', 'w9'], /no workload begins with "w9"/],
    [['--peers', 'temporal'], /"temporal" is no peer/],
    [['--reps', 'many'], /--reps takes a positive number/],
    [['--fast'], /--fast/],
  ])('refuses %j', (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
    expect(() => readOptions(args)).toThrow(UsageError);
  });

  it('answers nothing for help', () => {
    expect(readOptions(['--help'])).toBeUndefined();
  });
});
