import { describe, expect, it } from 'vitest';
import {
  CANCEL,
  completed,
  drive,
  failed,
  orders,
  result,
  running,
  start,
  statuses,
  T0_US,
  WAKE,
  words,
} from '../testing/drive.js';
import { edge, planOf } from '../testing/plan-builder.js';

const PLAN = planOf({
  steps: {
    scheduled: { type: 'CALLBACK', cancelTimeoutMs: 2000 },
    running: { type: 'CALLBACK', cancelTimeoutMs: 1000 },
    backoff: { type: 'CALLBACK' },
    waiting: { type: 'WAIT', wakeAtUs: (_scope, nowUs) => nowUs + 60_000_000 },
    later: { type: 'CALLBACK' },
  },
  edges: [edge('running', 'later', 'ALWAYS')],
});

function cancelling() {
  const run = drive(PLAN);
  run.give(start());
  run.give(running('running', T0_US), failed('backoff'));
  return { run, outcome: run.give(CANCEL) };
}

describe('a cancel', () => {
  it('ends at once what waits, and tells every attempt to stop', () => {
    const { run, outcome } = cancelling();
    expect(words(outcome.entries)).toEqual([
      'cancel_requested',
      'step_cancelled backoff 0',
      'step_cancelled waiting 0',
      'step_cancelling scheduled 1',
      'step_cancelling running 1',
    ]);
    expect(orders(outcome.commands)).toEqual(['abort scheduled 1 cancelled', 'abort running 1 cancelled']);
    expect(run.state).toMatchObject({ status: 'CANCELLING', cancel: { reason: 'enough', requestedBy: 'someone' } });
    expect(run.state.steps.get('running')).toMatchObject({
      status: 'CANCELLING',
      dueAtUs: T0_US + 1_000_000,
      worker: 'w1',
    });
  });

  it('comes to its end when the last attempt has, however it ended', () => {
    const { run } = cancelling();
    expect(words(run.give(completed('running', 'just in time')).entries)).toEqual(['step_completed running 1']);
    expect(run.state.status).toBe('CANCELLING');
    const last = run.give(result('scheduled', 1, { kind: 'cancelled' }));
    expect(words(last.entries)).toEqual(['step_cancelled scheduled 1', 'run_closed']);
    expect(run.state).toMatchObject({ status: 'CANCELLED', error: null, output: null });
    expect(statuses(run.state)).toEqual({
      scheduled: 'CANCELLED',
      running: 'COMPLETED',
      backoff: 'CANCELLED',
      waiting: 'CANCELLED',
    });
  });

  it('records a failure during it as the end of the step, never as a retry', () => {
    const { run } = cancelling();
    expect(words(run.give(failed('running')).entries)).toEqual(['step_failed running 1']);
    expect(run.state.error).toBeNull();
  });

  it('waits for an attempt no longer than its cancel timeout', () => {
    const { run } = cancelling();
    run.nowUs = T0_US + 999_999;
    expect(run.give(WAKE).dispositions).toEqual(['ignored']);
    run.nowUs = T0_US + 1_000_000;
    expect(run.give(WAKE).entries).toEqual([{ kind: 'step_cancelled', path: 'running', attempt: 1, abandoned: true }]);
    expect(run.give(completed('running')).dispositions).toEqual(['ignored']);
    run.nowUs = T0_US + 2_000_000;
    expect(words(run.give(WAKE).entries)).toEqual(['step_cancelled scheduled 1', 'run_closed']);
  });

  it('is heard once', () => {
    const { run } = cancelling();
    expect(run.give(CANCEL).dispositions).toEqual(['ignored']);
  });

  it('of a run with nothing on workers closes it at once', () => {
    const run = drive(planOf({ steps: { w: { type: 'WAIT', wakeAtUs: () => T0_US + 1e6 } } }));
    run.give(start());
    expect(words(run.give(CANCEL).entries)).toEqual(['cancel_requested', 'step_cancelled w 0', 'run_closed']);
  });

  it('of a failing run keeps the failure', () => {
    const run = drive(
      planOf({ steps: { a: { type: 'CALLBACK', retry: { maxAttempts: 1 } }, b: { type: 'CALLBACK' } } }),
    );
    run.give(start());
    run.give(failed('a'));
    run.give(CANCEL);
    run.give(result('b', 1, { kind: 'cancelled' }));
    expect(run.state).toMatchObject({ status: 'CANCELLED', error: { code: 'boom', step: 'a' } });
  });
});
