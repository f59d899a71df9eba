import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { completed, drive, failed, orders, running, start, statuses, T0_US, WAKE, words } from '../testing/drive.js';
import { edge, planOf, type StepSpec } from '../testing/plan-builder.js';
import type { PlanEdge } from './index.js';

const CALLBACK: StepSpec = { type: 'CALLBACK' };
const ONCE: StepSpec = { type: 'CALLBACK', retry: { maxAttempts: 1 } };

function started(steps: Readonly<Record<string, StepSpec>>, ...edges: readonly PlanEdge[]) {
  const run = drive(planOf({ steps, edges }));
  run.give(start());
  return run;
}

describe('edges', () => {
  it.each([
    ['SUCCESS', 'completed', 'SCHEDULED'],
    ['FAILURE', 'completed', 'SKIPPED'],
    ['ALWAYS', 'completed', 'SCHEDULED'],
    ['FAILURE', 'failed', 'SCHEDULED'],
    ['ALWAYS', 'failed', 'SCHEDULED'],
  ] as const)('%s of a %s source: %s', (type, end, status) => {
    const run = started({ a: ONCE, b: CALLBACK }, edge('a', 'b', type));
    run.give(end === 'completed' ? completed('a') : failed('a'));
    expect(run.state.steps.get('b')?.status).toBe(status);
  });

  it('SUCCESS of a failed source blocks, even when another edge fired', () => {
    const run = started(
      { a: ONCE, b: CALLBACK, both: CALLBACK, repair: CALLBACK },
      edge('a', 'both'),
      edge('b', 'both'),
      edge('a', 'repair', 'FAILURE'),
    );
    run.give(completed('b'));
    expect(run.state.steps.get('both')).toBeUndefined();
    run.give(failed('a'));
    expect(statuses(run.state)).toEqual({ a: 'FAILED', b: 'COMPLETED', both: 'SKIPPED', repair: 'SCHEDULED' });
  });

  it('of a skipped source are neutral: skips go on', () => {
    const run = started(
      { a: CALLBACK, b: CALLBACK, c: CALLBACK, d: CALLBACK },
      edge('a', 'b', 'SUCCESS', () => false),
      edge('b', 'c', 'ALWAYS'),
      edge('c', 'd'),
      edge('a', 'd', 'ALWAYS'),
    );
    run.give(completed('a'));
    expect(statuses(run.state)).toEqual({ a: 'COMPLETED', b: 'SKIPPED', c: 'SKIPPED', d: 'SCHEDULED' });
  });

  it('ask their condition once the source ended, and see its output', () => {
    const asked: unknown[] = [];
    const condition = (scope: { stepOutput: (ref: string) => unknown }): boolean => {
      asked.push(scope.stepOutput('a'));
      return true;
    };
    const run = started({ a: CALLBACK, b: CALLBACK }, edge('a', 'b', 'SUCCESS', condition));
    expect(asked).toEqual([]);
    run.give(completed('a', { ok: 1 }));
    expect(asked).toEqual([{ ok: 1 }]);
  });

  it('do not ask conditions that cannot matter', () => {
    const never = (): never => {
      throw new TypeError('asked');
    };
    const run = started(
      { a: ONCE, b: CALLBACK, c: CALLBACK, d: CALLBACK },
      edge('a', 'b', 'SUCCESS', never),
      edge('a', 'c', 'FAILURE'),
      edge('b', 'd', 'ALWAYS', never),
    );
    run.give(failed('a'));
    expect(statuses(run.state)).toEqual({ a: 'FAILED', b: 'SKIPPED', c: 'SCHEDULED', d: 'SKIPPED' });
  });
});

describe('a condition that fails', () => {
  it.each([
    [
      'throws',
      () => {
        throw new DuctorError('expression_failed', 'no such key: x');
      },
      'condition of edge a -> b (SUCCESS): no such key: x',
    ],
    ['is no bool', () => 'yes', 'condition of edge a -> b (SUCCESS): the condition gives string, not a bool'],
  ])('fails the run with the edge named: it %s', (_name, condition, message) => {
    const run = started({ a: CALLBACK, b: CALLBACK }, edge('a', 'b', 'SUCCESS', condition));
    expect(words(run.give(completed('a')).entries)).toEqual(['step_completed a 1', 'run_failing', 'run_closed']);
    expect(run.state).toMatchObject({ status: 'FAILED', error: { code: 'expression_failed', step: '', message } });
  });
});

describe('a condition that reads what has not ended, against validation,', () => {
  it('is asked again at the join, and fails the run if it fails then', () => {
    const condition = (scope: { stepOutput: (ref: string) => unknown }): boolean => {
      if (scope.stepOutput('b') === undefined) return true;
      throw new DuctorError('expression_failed', 'changed its mind');
    };
    const run = started(
      { a: CALLBACK, b: CALLBACK, c: CALLBACK, d: CALLBACK },
      edge('a', 'c', 'SUCCESS', condition),
      edge('b', 'c'),
      edge('b', 'd'),
    );
    run.give(completed('a'));
    expect(words(run.give(completed('b')).entries)).toEqual(['step_completed b 1', 'run_failing', 'run_closed']);
    expect(run.state.error?.message).toBe('condition of edge a -> c (SUCCESS): changed its mind');
  });
});

describe('an unhandled failure', () => {
  it('fails the run with the failure of the step', () => {
    const run = started({ a: ONCE, b: CALLBACK }, edge('a', 'b'));
    expect(words(run.give(failed('a')).entries)).toEqual(['step_failed a 1', 'run_failing', 'run_closed']);
    expect(run.state).toMatchObject({ status: 'FAILED', error: { code: 'boom', step: 'a', attempt: 1 } });
    expect(run.state.steps.get('b')).toBeUndefined();
  });

  it('is one whose edges did not fire, too', () => {
    const run = started(
      { a: ONCE, b: CALLBACK },
      edge('a', 'b', 'FAILURE', () => false),
    );
    run.give(failed('a'));
    expect(run.state.status).toBe('FAILED');
  });

  it('starts nothing more, cancels what waits, and lets running attempts end first', () => {
    const run = started(
      { a: ONCE, b: CALLBACK, c: CALLBACK, timer: { type: 'WAIT', wakeAtUs: () => T0_US + 9e6 }, next: CALLBACK },
      edge('b', 'next'),
    );
    run.give(failed('c'), running('b', T0_US));
    const { entries, commands } = run.give(failed('a'));
    expect(words(entries)).toEqual(['step_failed a 1', 'run_failing', 'step_cancelled c 0', 'step_cancelled timer 0']);
    expect(commands).toEqual([]);
    expect(run.state).toMatchObject({ status: 'RUNNING', closedAtUs: null, error: { step: 'a' } });
    expect(words(run.give(completed('b')).entries)).toEqual(['step_completed b 1', 'run_closed']);
    expect(run.state).toMatchObject({ status: 'FAILED', error: { step: 'a' } });
    expect(run.state.steps.get('next')).toBeUndefined();
  });

  it('gives no open attempt another try, nor more than its timeout', () => {
    const retried = started({ a: ONCE, b: CALLBACK });
    retried.give(failed('a'));
    expect(words(retried.give(failed('b')).entries)).toEqual(['step_failed b 1', 'run_closed']);
    const slow = started({ a: ONCE, b: { type: 'CALLBACK', timeoutMs: 1000 } });
    slow.give(failed('a'), running('b', T0_US));
    slow.nowUs = T0_US + 1_000_000;
    const { entries, commands } = slow.give(WAKE);
    expect(words(entries)).toEqual(['step_failed b 1', 'run_closed']);
    expect(orders(commands)).toEqual(['abort b 1 timed_out']);
    expect(slow.state.error?.step).toBe('a');
  });

  it('that an edge handles lets the run complete', () => {
    const run = started({ a: ONCE, b: CALLBACK }, edge('a', 'b', 'FAILURE'));
    run.give(failed('a'));
    run.give(completed('b', 'repaired'));
    expect(run.state).toMatchObject({ status: 'COMPLETED', error: null });
  });
});
