import { describe, expect, it } from 'vitest';
import { completed, drive, failed, running, start, TERMINATE, type DrivenRun } from '../testing/drive.js';
import { sequence } from '../testing/plan-builder.js';
import { taskOf } from './orders.js';
import type { RunInput } from './inputs.js';
import { MAX_SUB_STEP_BYTES, MAX_SUB_STEPS } from './sub-steps.js';
import { jsonValue } from './value.js';

const part = (name: string, output: unknown = name, attempt = 1, path = 's'): RunInput => ({
  ...{ kind: 'sub_step', path, attempt, name, output: jsonValue(output) },
});

function begun(): DrivenRun {
  const run = drive(sequence('s'));
  run.give(start());
  return run;
}

const kept = (run: DrivenRun): readonly unknown[] | undefined =>
  run.state.steps.get('s')?.subSteps.map(({ name, output }) => [name, JSON.parse(Buffer.from(output.data).toString())]);

describe('sub-steps', () => {
  it('are kept in order over attempts, travel with the next task, and are gone with the end of the step', () => {
    const run = begun();
    run.give(part('a', { n: 1 }));
    run.give(running('s', run.nowUs));
    run.give(part('b', 2));
    run.give(failed('s'));
    expect(run.state.steps.get('s')?.status).toBe('BACKOFF');
    run.nowUs += 60_000_000;
    run.give({ kind: 'wake' });
    expect(kept(run)).toEqual([
      ['a', { n: 1 }],
      ['b', 2],
    ]);
    expect(taskOf(run.plan, run.state, 's')?.subSteps?.map(({ name }) => name)).toEqual(['a', 'b']);
    run.give(completed('s', 'done', 2));
    expect(kept(run)).toEqual([]);
  });

  it('count once: the first output under a name stays', () => {
    const run = begun();
    expect(run.give(part('a', 1)).dispositions).toEqual(['applied']);
    expect(run.give(part('a', 2)).dispositions).toEqual(['ignored']);
    expect(kept(run)).toEqual([['a', 1]]);
  });

  it('are taken after the end of their attempt, as long as another one may follow', () => {
    const run = begun();
    run.give(failed('s'));
    expect(run.give(part('late')).dispositions).toEqual(['applied']);
    run.nowUs += 60_000_000;
    run.give({ kind: 'wake' });
    expect(run.give(part('later')).dispositions).toEqual(['applied']);
    run.give(completed('s', 1, 2));
    expect(run.give(part('too-late')).dispositions).toEqual(['ignored']);
  });

  it('of attempts that never were, of other steps and of ended runs mean nothing', () => {
    const run = begun();
    for (const input of [part('a', 1, 0), part('a', 1, 2), part('a', 1, 1, 'ghost')]) {
      expect(run.give(input).dispositions).toEqual(['ignored']);
    }
    run.give(TERMINATE);
    expect(run.give(part('a')).dispositions).toEqual(['ignored']);
  });

  it('are facts also while the run is held', () => {
    const run = begun();
    run.give({ kind: 'pause', reason: '', requestedBy: '' });
    expect(run.give(part('a')).dispositions).toEqual(['applied']);
  });

  it('beyond the limits fail the step for good and stop its attempt', () => {
    const large = begun();
    large.give(part('a', 'x'.repeat(MAX_SUB_STEP_BYTES / 2)));
    const { commands } = large.give(part('b', 'x'.repeat(MAX_SUB_STEP_BYTES / 2)));
    expect(commands).toEqual([{ kind: 'abort', path: 's', attempt: 1, reason: 'superseded' }]);
    expect(large.state.steps.get('s')).toMatchObject({ status: 'FAILED', error: { code: 'value_too_large' } });
    const many = begun();
    many.give(...Array.from({ length: MAX_SUB_STEPS }, (_, n) => part(`p${n}`, null)));
    expect(kept(many)).toHaveLength(MAX_SUB_STEPS);
    many.give(part('one-more'));
    expect(many.state.steps.get('s')).toMatchObject({ status: 'FAILED', error: { code: 'limit_exceeded' } });
  });
});
