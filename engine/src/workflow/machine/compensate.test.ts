import { describe, expect, it } from 'vitest';
import {
  CANCEL,
  completed,
  drive,
  failed,
  RESUME,
  RETRY,
  start,
  statuses,
  TERMINATE,
  WAKE,
  words,
  type DrivenRun,
} from '../testing/drive.js';
import { edge, outputOf, planOf, template, type PlanSpec, type StepSpec } from '../testing/plan-builder.js';
import { explainRun } from './index.js';

function undo(sourceRef: string, more: object = {}): StepSpec {
  const compensates = { sourceRef, condition: null };
  return { type: 'CALLBACK', retry: { maxAttempts: 2 }, input: outputOf(sourceRef), compensates, ...more };
}

/** Books a flight, then a hotel, then pays; both bookings can be undone. */
function trip(more: Partial<PlanSpec> = {}, steps: PlanSpec['steps'] = {}): DrivenRun {
  const run = drive(
    planOf({
      steps: {
        flight: { type: 'CALLBACK', retry: { maxAttempts: 1 } },
        hotel: { type: 'CALLBACK', retry: { maxAttempts: 1 } },
        pay: { type: 'CALLBACK', retry: { maxAttempts: 1 } },
        'drop-flight': undo('flight'),
        'drop-hotel': undo('hotel'),
        ...steps,
      },
      edges: [edge('flight', 'hotel'), edge('hotel', 'pay')],
      ...more,
    }),
  );
  run.give(start());
  run.give(completed('flight', 'F1'));
  run.nowUs += 1000;
  run.give(completed('hotel', 'H1'));
  run.nowUs += 1000;
  return run;
}

describe('a failing run', () => {
  it('is compensated in reverse order of completion, then fails with what failed it', () => {
    const run = trip();
    const first = run.give(failed('pay'));
    expect(words(first.entries)).toEqual([
      ...['step_failed pay 1', 'run_failing', 'run_compensating', 'step_scheduled drop-hotel 1'],
    ]);
    expect(first.state.status).toBe('RUNNING');
    expect(first.state.compensating).toEqual(['drop-hotel', 'drop-flight']);
    expect(explainRun(first.state)?.message).toContain('the run is failing with boom and is being compensated: step');
    expect(words(run.give(completed('drop-hotel')).entries)).toEqual([
      ...['step_completed drop-hotel 1', 'step_scheduled drop-flight 1'],
    ]);
    run.give(completed('drop-flight'));
    expect(run.state.status).toBe('FAILED');
    expect(run.state.error?.step).toBe('pay');
  });

  it('tries a compensation again, and goes on with the others when one fails for good', () => {
    const run = trip();
    run.give(failed('pay'));
    expect(words(run.give(failed('drop-hotel')).entries)).toEqual(['attempt_failed drop-hotel 1']);
    expect(run.state.status).toBe('WAITING');
    run.nowUs += 2_000_000;
    run.give(WAKE);
    expect(words(run.give(failed('drop-hotel', 2)).entries)).toEqual([
      ...['step_failed drop-hotel 2', 'step_scheduled drop-flight 1'],
    ]);
    run.give(completed('drop-flight'));
    expect(run.state.status).toBe('FAILED');
    expect(statuses(run.state)).toMatchObject({ 'drop-hotel': 'FAILED', 'drop-flight': 'COMPLETED' });
  });

  it('is held by an exhausted compensation when it parks', () => {
    const run = trip({ onExhausted: 'park' }, { pay: { type: 'FAIL', code: 'no_card', message: () => 'declined' } });
    expect(run.state.compensating).not.toBeNull();
    run.give(failed('drop-hotel'));
    run.nowUs += 2_000_000;
    run.give(WAKE);
    run.give(failed('drop-hotel', 2));
    expect(run.state.status).toBe('PARKED');
    expect(words(run.give(RETRY).entries)).toEqual(['run_resumed', 'step_scheduled drop-hotel 3']);
    run.give(completed('drop-hotel', null, 3));
    run.give(completed('drop-flight'));
    expect([run.state.status, run.state.error?.code]).toEqual(['FAILED', 'no_card']);
  });

  it('skips a compensation whose condition does not hold, and fails one whose condition fails', () => {
    const no = { compensates: { sourceRef: 'hotel', condition: template(() => false) } };
    const bad = { compensates: { sourceRef: 'flight', condition: template(() => 'no bool') } };
    const run = trip({}, { 'drop-hotel': undo('hotel', no), 'drop-flight': undo('flight', bad) });
    const { entries } = run.give(failed('pay'));
    expect(words(entries).slice(3)).toEqual(['step_skipped drop-hotel', 'step_failed drop-flight 0', 'run_closed']);
  });

  it('undoes nothing of a step that did not complete, and nothing when the failure has an edge', () => {
    const steps: PlanSpec['steps'] = { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK' }, u: undo('a') };
    const retry = { nonRetryable: true };
    const alone = drive(planOf({ steps }));
    alone.give(start());
    alone.give(completed('b'));
    alone.give(failed('a', 1, retry));
    expect(statuses(alone.state)).toEqual({ a: 'FAILED', b: 'COMPLETED' });
    const handled = drive(planOf({ steps, edges: [edge('a', 'b', 'FAILURE')] }));
    handled.give(start());
    handled.give(failed('a', 1, retry));
    handled.give(completed('b'));
    expect(handled.state.status).toBe('COMPLETED');
    expect(handled.state.steps.get('u')).toBeUndefined();
  });

  it('is compensated for an output that fails, and undoes steps of one instant in reverse of the plan', () => {
    const steps: PlanSpec['steps'] = { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK' }, ua: undo('a'), ub: undo('b') };
    const broken = drive(planOf({ steps, output: template(() => 'x'.repeat(3 * 1024 * 1024)) }));
    broken.give(start());
    broken.give(completed('b'), completed('a'));
    expect(broken.state.error?.code).toBe('value_too_large');
    expect(broken.state.compensating).toEqual(['ub', 'ua']);
  });
});

describe('a run that is asked to end', () => {
  it('is compensated once its steps have stopped, and is CANCELLED after that', () => {
    const run = trip();
    run.give(CANCEL);
    expect(run.state.compensating).toBeNull();
    run.give(completed('pay'));
    expect(run.state.status).toBe('CANCELLING');
    run.give(completed('drop-hotel'));
    expect(explainRun(run.state)?.message).toContain('the run is being cancelled and is being compensated');
    run.give(completed('drop-flight'));
    expect(run.state.status).toBe('CANCELLED');
  });

  it('while it is compensated goes on with that, and no failure holds it any more', () => {
    const run = trip({ onExhausted: 'park' }, { pay: { type: 'FAIL', code: 'no_card', message: () => 'declined' } });
    const { commands } = run.give(CANCEL);
    expect(commands).toEqual([]);
    expect(run.state.steps.get('drop-hotel')?.status).toBe('SCHEDULED');
    run.give(failed('drop-hotel'));
    run.nowUs += 2_000_000;
    run.give(WAKE);
    run.give(failed('drop-hotel', 2));
    run.give(completed('drop-flight'));
    expect([run.state.status, run.state.error?.code]).toEqual(['CANCELLED', 'no_card']);
  });

  it('at once undoes nothing', () => {
    const run = trip();
    run.give(failed('pay'));
    const { commands } = run.give(TERMINATE);
    expect(commands).toEqual([{ kind: 'abort', path: 'drop-hotel', attempt: 1, reason: 'cancelled' }]);
    expect(run.state.status).toBe('TERMINATED');
  });
});

describe('the timeout of a run', () => {
  it('ends it with compensations, which it does not limit', () => {
    const run = trip({ timeoutMs: 60_000 }, { pay: { type: 'CALLBACK', cancelTimeoutMs: 0 } });
    run.nowUs += 60_000_000;
    run.give(WAKE);
    expect(run.state.compensating).toEqual(['drop-hotel', 'drop-flight']);
    run.nowUs += 600_000_000;
    expect(run.give(WAKE).entries).toEqual([]);
    run.give(completed('drop-hotel'));
    run.give(completed('drop-flight'));
    expect([run.state.status, run.state.error?.code]).toEqual(['TIMED_OUT', 'run_timeout']);
  });

  it('lets no exhausted compensation hold the run: nobody could cancel it then', () => {
    const run = trip({ timeoutMs: 60_000, onExhausted: 'park' }, { pay: { type: 'CALLBACK', cancelTimeoutMs: 0 } });
    run.nowUs += 60_000_000;
    run.give(WAKE);
    run.give(failed('drop-hotel', 1, { nonRetryable: true }));
    run.give(failed('drop-flight'));
    run.nowUs += 2_000_000;
    run.give(WAKE);
    run.give(failed('drop-flight', 2));
    expect(run.state.status).toBe('TIMED_OUT');
  });

  it('does not come to a run that is being compensated for a failure', () => {
    const run = trip({ timeoutMs: 60_000 });
    run.give(failed('pay'));
    run.nowUs += 600_000_000;
    expect(run.give(WAKE).entries).toEqual([]);
  });
});

describe('a fault of the engine in a compensation', () => {
  const fault = template(() => {
    throw new RangeError('drawn to throw');
  });
  const faulty = { 'drop-hotel': undo('hotel', { compensates: { sourceRef: 'hotel', condition: fault } }) };

  it('propagates, so that the run is parked, and fails the compensation once a cancel ends the parking', () => {
    const run = trip({}, faulty);
    expect(() => run.give(failed('pay'))).toThrow('drawn to throw');
    run.give(failed('pay'), { kind: 'park', code: 'machine_error', message: 'drawn to throw' });
    expect(run.state.status).toBe('PARKED');
    run.give(CANCEL);
    expect(run.state.steps.get('drop-hotel')?.error).toMatchObject({ code: 'internal', message: 'drawn to throw' });
    run.give(completed('drop-flight'));
    expect(run.state.status).toBe('CANCELLED');
  });

  it('fails the compensation of a run that was asked to end: parked, no cancel could end it', () => {
    const run = trip({}, faulty);
    run.give(CANCEL);
    run.give(completed('pay'));
    run.give(completed('drop-flight'));
    expect(run.state.status).toBe('CANCELLED');
  });
});

describe('a run that was parked while it was compensated', () => {
  it('goes on where it was', () => {
    const run = trip();
    run.give(failed('pay'));
    run.give({ kind: 'park', code: 'poison_commit', message: 'drawn' });
    run.give(completed('drop-hotel'));
    expect(run.state.steps.get('drop-flight')).toBeUndefined();
    expect(words(run.give(RESUME).entries)).toEqual(['run_resumed', 'step_scheduled drop-flight 1']);
  });
});
