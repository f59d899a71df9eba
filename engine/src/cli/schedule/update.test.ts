/** What `ductor schedule update` sends. */
import { describe, expect, it } from 'vitest';
import { OverlapPolicy } from '../../gen/ductor/v1/schedule.js';
import { changeOf, type UpdateScheduleOptions } from './update.js';

const change = (options: Partial<UpdateScheduleOptions>): ReturnType<typeof changeOf> => changeOf({ ...options });

describe('a change', () => {
  it('names what is given, by the fields of the contract, and nothing else', () => {
    const { schedule, updateMask } = change({ every: '10m', overlap: 'allow', starts: '2026-03-01T09:00:00Z' });
    expect(updateMask).toEqual(['starts_at', 'overlap', 'interval']);
    expect(schedule).toMatchObject({
      overlap: OverlapPolicy.OVERLAP_POLICY_ALLOW,
      times: { $case: 'interval', value: { every: '10m', offset: '' } },
    });
    expect(change({ input: '{"n":1}', catchUp: 'latest', window: '1h' }).updateMask).toEqual([
      'input_payload',
      'catch_up',
    ]);
  });

  it('names what is cleared and leaves it out', () => {
    const { schedule, updateMask } = change({ clear: 'ends,title', jitter: '5s' });
    expect(updateMask).toEqual(['jitter', 'ends_at', 'title']);
    expect(schedule).toMatchObject({ jitter: '5s', title: '', endsAt: undefined });
  });

  it.each<[string, Partial<UpdateScheduleOptions>]>([
    ['nothing is to change', {}],
    ['--clear slug is nothing that can be cleared', { clear: 'slug' }],
    ['--clear constructor is nothing that can be cleared', { clear: 'constructor' }],
    ['input is changed and cleared', { clear: 'input', input: 'null' }],
    ['--window belongs to a policy', { window: '1h' }],
    ['one of the three', { zone: 'Europe/Berlin' }],
  ])('is refused: %s', (said, options) => {
    expect(() => change(options)).toThrow(said);
  });
});
