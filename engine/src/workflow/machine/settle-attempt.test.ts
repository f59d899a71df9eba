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
  T0_US,
  WAKE,
  words,
} from '../testing/drive.js';
import { planOf, type StepSpec } from '../testing/plan-builder.js';
import type { RunInput } from './index.js';

type Callback = Extract<StepSpec, { readonly type: 'CALLBACK' }>;

function started(step: Omit<Callback, 'type'> = {}) {
  const run = drive(planOf({ steps: { s: { type: 'CALLBACK', ...step } } }));
  run.give(start());
  return run;
}

const lost = (attempt: number): RunInput => ({ kind: 'lost', path: 's', attempt });
const cancelled = (attempt: number): RunInput => result('s', attempt, { kind: 'cancelled' });

describe('a result', () => {
  it('counts for the attempt the run waits for, noted or not', () => {
    for (const before of [[], [running('s', T0_US)]]) {
      const run = started();
      run.give(...before);
      expect(run.give(completed('s')).dispositions).toEqual(['applied']);
    }
  });

  it('is ignored for any other attempt or step', () => {
    const run = started();
    const { state } = run;
    expect(run.give(completed('s', 0, 2), completed('s', 0, 0), completed('x')).dispositions).toEqual([
      'ignored',
      'ignored',
      'ignored',
    ]);
    expect(run.state).toBe(state);
    run.give(failed('s', 1));
    expect(run.give(completed('s', 0, 1)).dispositions).toEqual(['ignored']);
  });

  it('beyond 2 MiB fails the step for good, naming it and its size', () => {
    const run = started();
    run.give(completed('s', 'x'.repeat(2_097_151)));
    expect(run.state.steps.get('s')).toMatchObject({
      status: 'FAILED',
      error: {
        code: 'value_too_large',
        retryable: false,
        message: 'the output of step s has 2097153 bytes; the limit is 2097152',
      },
    });
  });
});

describe('a failed attempt', () => {
  it('is followed by another after the wait of the policy', () => {
    const run = started();
    expect(words(run.give(failed('s', 1, { stack: 'at x' })).entries)).toEqual(['attempt_failed s 1']);
    expect(run.state).toMatchObject({ status: 'WAITING' });
    expect(run.state.steps.get('s')).toMatchObject({
      status: 'BACKOFF',
      attempt: 1,
      dueAtUs: T0_US + 1_000_000,
      error: { code: 'boom', step: 's', attempt: 1, retryable: true, stack: 'at x' },
    });
    run.nowUs = T0_US + 1_000_000;
    const { entries, commands } = run.give(WAKE);
    expect(entries).toEqual([{ kind: 'step_scheduled', path: 's', attempt: 2, input: null, startByUs: null }]);
    expect(orders(commands)).toEqual(['dispatch s 2']);
    expect(run.state.steps.get('s')).toMatchObject({ status: 'SCHEDULED', attempt: 2, input: { kind: 'runInput' } });
  });

  it('waits longer when its body asks for it, never shorter', () => {
    const longer = started();
    longer.give(failed('s', 1, { retryAfterMs: 90_000 }));
    expect(longer.state.steps.nextDueUs).toBe(T0_US + 90_000_000);
    const shorter = started();
    shorter.give(failed('s', 1, { retryAfterMs: 5 }));
    expect(shorter.state.steps.nextDueUs).toBe(T0_US + 1_000_000);
  });

  it('draws its jitter from the seed of the tick, and records what came of it', () => {
    const at = (seed: number): number | null => {
      const run = started({ retry: { jitter: 0.2 } });
      run.seed = seed;
      run.give(failed('s'));
      return run.state.steps.nextDueUs;
    };
    expect(at(7)).toBe(at(7));
    expect(at(7)).not.toBe(at(8));
    for (const seed of [1, 2, 3, 4]) {
      expect(at(seed)).toBeGreaterThanOrEqual(T0_US + 800_000);
      expect(at(seed)).toBeLessThanOrEqual(T0_US + 1_000_000);
    }
  });

  it('is the last when attempts are exhausted, or its body or policy says so', () => {
    const exhausted = started({ retry: { maxAttempts: 2, initialIntervalMs: 0 } });
    exhausted.give(failed('s', 1), WAKE);
    expect(words(exhausted.give(failed('s', 2)).entries)[0]).toBe('step_failed s 2');
    expect(exhausted.state.error).toMatchObject({ retryable: true, attempt: 2 });
    const told = started();
    told.give(failed('s', 1, { nonRetryable: true }));
    expect(told.state.error).toMatchObject({ code: 'boom', retryable: false, attempt: 1 });
    const listed = started({ retry: { nonRetryable: ['boom'] } });
    listed.give(failed('s'));
    expect(listed.state.error).toMatchObject({ code: 'boom', retryable: false, attempt: 1 });
  });

  it('is one that stopped though nobody cancelled it', () => {
    const run = started();
    run.give(cancelled(1));
    expect(run.state.steps.get('s')).toMatchObject({
      status: 'BACKOFF',
      error: { code: 'cancelled_by_worker', retryable: true },
    });
  });
});

describe('a noted attempt', () => {
  it('must end within its timeout from when it began', () => {
    const run = started({ timeoutMs: 5000 });
    run.nowUs = T0_US + 1_000_000;
    const { entries } = run.give(running('s', T0_US + 250_000));
    expect(entries).toEqual([
      { kind: 'step_running', path: 's', attempt: 1, worker: 'w1', deadlineUs: T0_US + 5_250_000 },
    ]);
    expect(run.state.steps.get('s')).toMatchObject({ status: 'RUNNING', worker: 'w1' });
    run.nowUs = T0_US + 5_249_999;
    expect(run.give(WAKE).dispositions).toEqual(['ignored']);
    run.nowUs = T0_US + 5_250_000;
    const wake = run.give(WAKE);
    expect(words(wake.entries)).toEqual(['attempt_failed s 1']);
    expect(orders(wake.commands)).toEqual(['abort s 1 timed_out']);
    expect(run.state.steps.get('s')).toMatchObject({
      status: 'BACKOFF',
      worker: null,
      error: { code: 'timeout', retryable: true },
    });
    expect(run.give(completed('s')).dispositions).toEqual(['ignored']);
  });

  it('is noted once', () => {
    const run = started();
    run.give(running('s', T0_US));
    const again = run.give(running('s', T0_US), running('s', T0_US + 1, 1, 'w2'), running('s', T0_US, 2));
    expect(again.dispositions).toEqual(['ignored', 'ignored', 'ignored']);
  });

  it('that times out three times fails with timeout', () => {
    const run = started({ timeoutMs: 0, retry: { initialIntervalMs: 0 } });
    for (const attempt of [1, 2, 3]) run.give(running('s', T0_US, attempt), WAKE);
    expect(run.state).toMatchObject({ status: 'FAILED', error: { code: 'timeout', attempt: 3 } });
  });
});

describe('a lost worker', () => {
  it('costs the attempt, and is tried again', () => {
    const run = started();
    run.give(running('s', T0_US));
    expect(words(run.give(lost(1)).entries)).toEqual(['attempt_failed s 1']);
    expect(run.state.steps.get('s')).toMatchObject({
      status: 'BACKOFF',
      lostInARow: 1,
      error: { code: 'worker_lost', message: 'the worker w1 is gone' },
    });
    expect(run.give(lost(1)).dispositions).toEqual(['ignored']);
  });

  it('three times in a row parks the run, though attempts are exhausted', () => {
    const run = started({ retry: { initialIntervalMs: 0 } });
    run.give(lost(1), WAKE);
    run.give(lost(2), WAKE);
    expect(words(run.give(lost(3)).entries)).toEqual(['attempt_failed s 3', 'run_parked']);
    expect(run.state).toMatchObject({ status: 'PARKED', parked: { code: 'worker_lost' } });
    expect(orders(run.give({ kind: 'resume' }).commands)).toEqual(['dispatch s 4']);
    run.give(completed('s', 'at last', 4));
    expect(run.state.status).toBe('COMPLETED');
  });

  it('counts from the last attempt that answered', () => {
    const run = started({ retry: { initialIntervalMs: 0, maxAttempts: 9 } });
    run.give(lost(1), WAKE);
    run.give(lost(2), WAKE);
    run.give(failed('s', 3), WAKE);
    run.give(lost(4), WAKE);
    expect(run.state).toMatchObject({ status: 'RUNNING', parked: null });
    expect(run.state.steps.get('s')?.lostInARow).toBe(1);
  });

  it('ends the step when one attempt is all it has', () => {
    const run = started({ retry: { maxAttempts: 1 } });
    run.give(lost(1));
    expect(run.state).toMatchObject({ status: 'FAILED', error: { code: 'worker_lost' } });
  });

  it('ends an attempt that was told to stop', () => {
    const run = started();
    run.give(CANCEL);
    const { entries } = run.give(lost(1));
    expect(entries[0]).toEqual({ kind: 'step_cancelled', path: 's', attempt: 1, abandoned: false });
    expect(run.state.status).toBe('CANCELLED');
  });
});
