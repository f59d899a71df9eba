/** Pause, retry, parking for want of attempts, termination, limits in time, heartbeats and progress. */
import { describe, expect, it } from 'vitest';
import {
  CANCEL,
  completed,
  drive,
  failed,
  jsonOf,
  orders,
  PAUSE,
  RESUME,
  RETRY,
  running,
  start,
  statuses,
  T0_US,
  TERMINATE,
  WAKE,
  words,
} from '../testing/drive.js';
import { edge, planOf, sequence, type StepSpec } from '../testing/plan-builder.js';
import { explainRun, jsonValue, taskOf, wakeAtUs, type RunInput } from './index.js';

const SECOND_US = 1_000_000;

function started(
  step: Partial<StepSpec & { readonly type: 'CALLBACK' }>,
  more: Partial<Parameters<typeof planOf>[0]> = {},
) {
  const run = drive(planOf({ steps: { s: { ...step, type: 'CALLBACK' } }, ...more }));
  run.give(start());
  return run;
}

describe('a pause', () => {
  it('takes waiting attempts off the queue, records results and begins nothing', () => {
    const run = drive(sequence('a', 'b'));
    run.give(start());
    const { entries, commands } = run.give(PAUSE);
    expect([words(entries), orders(commands)]).toEqual([['run_paused'], ['withdraw a 1']]);
    expect(run.state.status).toBe('PAUSED');
    expect(taskOf(run.plan, run.state, 'a')).toBeUndefined();
    expect(words(run.give(completed('a')).entries)).toEqual(['step_completed a 1']);
    expect(run.give(PAUSE).dispositions).toEqual(['ignored']);
    expect(words(run.give(RESUME).entries)).toEqual(['run_resumed', 'step_scheduled b 1']);
  });

  it('moves the time of the run and the time to wait for a worker, and no other', () => {
    const run = drive(
      planOf({
        steps: {
          s: { type: 'CALLBACK', scheduleToStartTimeoutMs: 5000 },
          w: { type: 'WAIT', wakeAtUs: () => T0_US + 4 * SECOND_US },
        },
        timeoutMs: 10_000,
      }),
    );
    run.give(start());
    run.nowUs += SECOND_US;
    run.give(PAUSE);
    expect(wakeAtUs(run.state)).toBeNull();
    run.nowUs += 60 * SECOND_US;
    expect(run.give(WAKE).dispositions).toEqual(['ignored']);
    const { entries, commands } = run.give(RESUME);
    expect(words(entries)).toEqual(['run_resumed', 'step_completed w 0']);
    expect(orders(commands)).toEqual(['dispatch s 1']);
    expect(run.state.deadlineUs).toBe(T0_US + 70 * SECOND_US);
    expect(run.state.steps.get('s')?.dueAtUs).toBe(T0_US + 65 * SECOND_US);
  });

  it('is ended by a cancel, and changes nothing of a run that comes to its end', () => {
    const run = drive(sequence('a'));
    run.give(start());
    run.give(PAUSE);
    expect(words(run.give(CANCEL).entries)).toEqual(['cancel_requested', 'step_cancelling a 1']);
    expect(run.state).toMatchObject({ status: 'CANCELLING', paused: null, heldSinceUs: null });
    expect(run.give(PAUSE).dispositions).toEqual(['ignored']);
  });
});

describe('a step without attempts left', () => {
  const parking = { retry: { maxAttempts: 2 } } as const;

  it('parks the run that asks for it, naming the step; a retry gives it one more attempt at once', () => {
    const run = started(parking, { onExhausted: 'park' });
    run.give(failed('s', 1));
    run.nowUs += 60 * SECOND_US;
    run.give(WAKE);
    expect(words(run.give(failed('s', 2)).entries)).toEqual(['attempt_failed s 2', 'run_parked']);
    expect(run.state.parked).toMatchObject({ code: 'attempts_exhausted', step: 's' });
    expect(explainRun(run.state)).toMatchObject({ kind: 'parked', step: 's', attempt: 2, code: 'attempts_exhausted' });
    const { entries, commands } = run.give(RETRY);
    expect([words(entries), orders(commands)]).toEqual([['run_resumed', 'step_scheduled s 3'], ['dispatch s 3']]);
    expect(run.give(RETRY).dispositions).toEqual(['ignored']);
    expect(words(run.give(failed('s', 3)).entries)).toEqual(['attempt_failed s 3', 'run_parked']);
    // A resume waits for the retry wait first.
    expect(words(run.give(RESUME).entries)).toEqual(['run_resumed']);
    run.nowUs += 60 * SECOND_US;
    expect(words(run.give(WAKE).entries)).toEqual(['step_scheduled s 4']);
    run.give(completed('s', 1, 4));
    expect(run.state.status).toBe('COMPLETED');
  });

  it('fails when it has an edge for its failure, or a failure that nothing can mend', () => {
    const handled = drive(
      planOf({
        steps: { s: { type: 'CALLBACK', retry: { maxAttempts: 1 } }, h: { type: 'CALLBACK' } },
        edges: [edge('s', 'h', 'FAILURE')],
        onExhausted: 'park',
      }),
    );
    handled.give(start());
    handled.give(failed('s'));
    expect(statuses(handled.state)).toEqual({ s: 'FAILED', h: 'SCHEDULED' });
    const fatal = started(parking, { onExhausted: 'park' });
    fatal.give(failed('s', 1, { nonRetryable: true }));
    expect(fatal.state.status).toBe('FAILED');
  });
});

describe('a termination', () => {
  it('closes the run in the tick, whatever is open, and tells the attempts', () => {
    const run = drive(
      planOf({
        steps: { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK' }, w: { type: 'WAIT', wakeAtUs: () => T0_US * 2 } },
      }),
    );
    run.give(start());
    run.give(failed('b'));
    const { entries, commands } = run.give(TERMINATE);
    expect(words(entries)).toEqual([
      ...['run_terminated', 'step_cancelled a 1', 'step_cancelled b 0', 'step_cancelled w 0', 'run_closed'],
    ]);
    expect(orders(commands)).toEqual(['abort a 1 cancelled']);
    expect(run.state.status).toBe('TERMINATED');
    expect(run.give(completed('a')).dispositions).toEqual(['ignored']);
  });

  it('ends a run that is held or being cancelled, too', () => {
    for (const before of [[PAUSE], [{ kind: 'park', code: 'x', message: '' }], [CANCEL]] as readonly RunInput[][]) {
      const run = drive(sequence('a'));
      run.give(start());
      run.give(...before);
      run.give(TERMINATE);
      expect(run.state).toMatchObject({ status: 'TERMINATED', parked: null, paused: null });
    }
  });
});

describe('limits in time', () => {
  it('of the run: what is under way is told to stop first, then it ends TIMED_OUT', () => {
    const run = started({}, { timeoutMs: 5000 });
    expect(wakeAtUs(run.state)).toBe(T0_US + 5 * SECOND_US);
    run.nowUs += 5 * SECOND_US - 1;
    expect(run.give(WAKE).dispositions).toEqual(['ignored']);
    run.nowUs += 1;
    expect(words(run.give(WAKE).entries)).toEqual(['run_ending', 'step_cancelling s 1']);
    expect(run.give(CANCEL).dispositions).toEqual(['ignored']);
    expect(explainRun(run.state)).toMatchObject({ kind: 'stopping', step: 's' });
    run.nowUs += 30 * SECOND_US;
    run.give(WAKE);
    expect(run.state).toMatchObject({ status: 'TIMED_OUT', error: { code: 'run_timeout' } });
  });

  it('of the run: a failure that came before stays its error', () => {
    const run = drive(
      planOf({
        steps: { a: { type: 'CALLBACK', retry: { maxAttempts: 1 } }, b: { type: 'CALLBACK' } },
        timeoutMs: 5000,
      }),
    );
    run.give(start());
    run.give(failed('a'));
    run.nowUs += 5 * SECOND_US;
    run.give(WAKE);
    run.give(completed('b'));
    expect(run.state).toMatchObject({ status: 'TIMED_OUT', error: { code: 'boom', step: 'a' } });
  });

  it('to wait for a worker: the step fails, without another attempt', () => {
    const run = started({ scheduleToStartTimeoutMs: 2000 });
    run.nowUs += 2 * SECOND_US;
    const { entries, commands } = run.give(WAKE);
    expect(words(entries)).toEqual(['step_failed s 1', 'run_failing', 'run_closed']);
    expect(orders(commands)).toEqual(['abort s 1 timed_out']);
    expect(run.state.error).toMatchObject({ code: 'schedule_to_start_timeout', retryable: false });
    const noted = started({ scheduleToStartTimeoutMs: 2000 });
    noted.give(running('s', T0_US + SECOND_US));
    noted.nowUs += 2 * SECOND_US;
    expect(noted.give(WAKE).dispositions).toEqual(['ignored']);
  });

  it('of all attempts together: cuts the one that is open, and lets none begin after it', () => {
    const retry = { maxAttempts: 9, initialIntervalMs: 1000, backoff: 1, totalTimeoutMs: 3500 };
    const run = started({ retry });
    run.give(running('s', T0_US));
    expect(run.state.steps.get('s')?.dueAtUs).toBe(T0_US + 3.5 * SECOND_US);
    run.nowUs += 3.5 * SECOND_US;
    run.give(WAKE);
    expect(run.state.error).toMatchObject({ code: 'total_timeout' });
    const late = started({ retry });
    late.nowUs += 3 * SECOND_US;
    late.give(failed('s'));
    expect(late.state).toMatchObject({ status: 'FAILED', error: { code: 'boom', attempt: 1 } });
  });
});

describe('heartbeats', () => {
  const silent = (attempt = 1): RunInput => ({ kind: 'silent', path: 's', attempt });

  it('that fail to come fail the attempt, once, and stop it', () => {
    const run = started({ heartbeatTimeoutMs: 1000 });
    run.give(running('s', T0_US));
    const { entries, commands } = run.give(silent());
    expect(words(entries)).toEqual(['attempt_failed s 1']);
    expect(orders(commands)).toEqual(['abort s 1 timed_out']);
    expect(run.give(silent()).dispositions).toEqual(['ignored']);
    expect(started({}).give(silent()).dispositions).toEqual(['ignored']);
  });

  it('carry progress from a failed attempt to the next, kept until another is reported', () => {
    const run = started({ retry: { initialIntervalMs: 0 } });
    run.progressOf = (_path, attempt) => (attempt === 1 ? jsonValue({ page: 7 }) : null);
    run.give(failed('s'), WAKE);
    expect(jsonOf(taskOf(run.plan, run.state, 's')?.lastProgress ?? null)).toEqual({ page: 7 });
    run.give({ kind: 'lost', path: 's', attempt: 2 }, WAKE);
    expect(jsonOf(taskOf(run.plan, run.state, 's')?.lastProgress ?? null)).toEqual({ page: 7 });
    run.give(completed('s', 1, 3));
    expect(run.state.steps.get('s')?.progress).toBeNull();
  });
});
