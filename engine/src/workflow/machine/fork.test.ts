import { describe, expect, it } from 'vitest';
import { completed, drive, failed, jsonOf, start, statuses, words } from '../testing/drive.js';
import { edge, outputOf, planOf, sequence } from '../testing/plan-builder.js';
import { planFork, type Plan, type RunState } from './index.js';

function forked(plan: Plan, state: RunState, from: string) {
  const run = drive(plan);
  const { kept } = planFork(plan, state, from);
  const input = { ...start({ n: 1 }), fork: { runId: 'source', from, kept } } as ReturnType<typeof start>;
  return { run, result: run.give(input) };
}

describe('a fork', () => {
  it('keeps what comes before the step, with its outputs, and runs the step and what follows', () => {
    const plan = sequence('a', 'b', 'c');
    const source = drive(plan);
    source.give(start({ n: 1 }));
    for (const ref of ['a', 'b', 'c']) source.give(completed(ref, `${ref} was here`));
    const fork = planFork(plan, source.state, 'b');
    expect([fork.kept.map(({ path }) => path), fork.again]).toEqual([['a'], ['b', 'c']]);
    const { run, result } = forked(plan, source.state, 'b');
    expect(words(result.entries)).toEqual(['run_started', 'step_completed a 0', 'step_scheduled b 1']);
    expect(run.state.steps.get('b')?.input).toEqual({ kind: 'stepOutput', path: 'a' });
    run.give(completed('b', 'again'));
    run.give(completed('c', 'and on'));
    expect([run.state.status, jsonOf(run.state.steps.get('a')?.output ?? null)]).toEqual(['COMPLETED', 'a was here']);
    expect(run.give(start(), completed('a')).dispositions).toEqual(['ignored', 'ignored']);
  });

  it('runs again what has not ended, what failed for good, and what ends a run', () => {
    const plan = planOf({
      steps: {
        ...{
          a: { type: 'CALLBACK' },
          bad: { type: 'CALLBACK', retry: { maxAttempts: 1 } },
          open: { type: 'CALLBACK' },
        },
        ...{ handled: { type: 'CALLBACK', retry: { maxAttempts: 1 } }, sorry: { type: 'CALLBACK' } },
        end: { type: 'COMPLETE', output: outputOf('a') },
      },
      edges: [edge('handled', 'sorry', 'FAILURE'), edge('open', 'end')],
    });
    const source = drive(plan);
    source.give(start());
    source.give(completed('a'), failed('handled'));
    source.give(failed('bad'));
    const { kept, again } = planFork(plan, source.state, 'sorry');
    expect(kept).toMatchObject([
      { path: 'a', end: { status: 'COMPLETED' } },
      { path: 'handled', end: { status: 'FAILED', error: { code: 'boom' } } },
    ]);
    expect(again).toEqual(['bad', 'open', 'sorry', 'end']);
    const { run } = forked(plan, source.state, 'sorry');
    expect(statuses(run.state)).toMatchObject({ handled: 'FAILED', sorry: 'SCHEDULED', bad: 'SCHEDULED' });
  });

  it('runs a scatter again whose outputs are to be gathered again', () => {
    const body = { steps: { work: { type: 'DATAFLOW' as const, transform: () => 1 } } };
    const plan = planOf({
      steps: { each: { type: 'SCATTER', body }, all: { type: 'GATHER', of: 'each' }, after: { type: 'CALLBACK' } },
      edges: [edge('each', 'all'), edge('all', 'after')],
    });
    const source = drive(plan);
    source.give(start([1, 2]));
    expect(planFork(plan, source.state, 'all').again).toEqual(['each', 'all', 'after']);
    expect(planFork(plan, source.state, 'after').kept.map(({ path }) => path)).toEqual(['each', 'all']);
  });

  it('runs again what was undone, and without a step only what did not end well', () => {
    const plan = planOf({
      steps: {
        a: { type: 'CALLBACK' },
        b: { type: 'CALLBACK' },
        bad: { type: 'CALLBACK', retry: { maxAttempts: 1 } },
        undo: { type: 'CALLBACK', compensates: { sourceRef: 'b', condition: null } },
      },
      edges: [edge('a', 'b'), edge('b', 'bad')],
    });
    const source = drive(plan);
    source.give(start());
    source.give(completed('a'));
    source.give(completed('b'));
    source.give(failed('bad'));
    source.give(completed('undo'));
    expect(source.state.status).toBe('FAILED');
    const { kept, again } = planFork(plan, source.state, null);
    expect([kept.map(({ path }) => path), again]).toEqual([['a'], ['b', 'bad']]);
  });

  it('goes over to another version: a step that is new there runs, with what follows', () => {
    const source = drive(sequence('a', 'c'));
    source.give(start());
    source.give(completed('a'));
    source.give(completed('c'));
    const { kept, again } = planFork(sequence('a', 'b', 'c'), source.state, 'c');
    expect([kept.map(({ path }) => path), again]).toEqual([['a'], ['b', 'c']]);
  });
});
