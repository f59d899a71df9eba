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
import { edge, planOf, sequence } from '../testing/plan-builder.js';
import { explainStep, isActive, wakeAtUs, type RunInput } from './index.js';

const PARK: RunInput = { kind: 'park', code: 'poison_commit', message: 'row too wide' };
const RESUME: RunInput = { kind: 'resume' };

describe('a parked run', () => {
  it('keeps everything and moves by nothing but facts', () => {
    const run = drive(sequence('a', 'b'));
    run.give(start());
    expect(words(run.give(PARK).entries)).toEqual(['run_parked']);
    expect(run.state).toMatchObject({ status: 'PARKED', parked: { code: 'poison_commit', message: 'row too wide' } });
    expect(isActive(run.state)).toBe(false);
    expect(wakeAtUs(run.state)).toBeNull();
    expect(run.give(PARK).dispositions).toEqual(['ignored']);
    const { entries, commands } = run.give(completed('a'));
    expect(words(entries)).toEqual(['step_completed a 1']);
    expect(commands).toEqual([]);
    expect(run.state.status).toBe('PARKED');
  });

  it('does what had to wait once it is resumed', () => {
    const run = drive(sequence('a', 'b'));
    run.give(start());
    run.give(PARK, completed('a'));
    const { entries, commands } = run.give(RESUME);
    expect(words(entries)).toEqual(['run_resumed', 'step_scheduled b 1']);
    expect(orders(commands)).toEqual(['dispatch b 1']);
    expect(run.give(RESUME).dispositions).toEqual(['ignored']);
  });

  it('dispatches open attempts anew, and fires overdue timers at once', () => {
    const run = drive(
      planOf({
        steps: {
          open: { type: 'CALLBACK' },
          slow: { type: 'CALLBACK', timeoutMs: 1000 },
          again: { type: 'CALLBACK' },
          timer: { type: 'WAIT', wakeAtUs: (_scope, nowUs) => nowUs + 1_000_000 },
        },
      }),
    );
    run.give(start());
    run.give(running('slow', T0_US), failed('again'));
    run.give(PARK);
    run.nowUs = T0_US + 3_600_000_000;
    expect(run.give(WAKE).dispositions).toEqual(['ignored']);
    const { entries, commands } = run.give(RESUME);
    expect(words(entries)).toEqual(['run_resumed', 'step_scheduled again 2', 'step_completed timer 0']);
    expect(orders(commands)).toEqual(['dispatch open 1', 'dispatch again 2']);
    // An attempt that is overdue fails with the next wake: its failure may park the run again.
    const overdue = run.give(WAKE);
    expect(words(overdue.entries)).toEqual(['attempt_failed slow 1']);
    expect(orders(overdue.commands)).toEqual(['abort slow 1 timed_out']);
  });

  it('closes on resume when all has ended meanwhile', () => {
    const run = drive(sequence('a'));
    run.give(start());
    run.give(PARK);
    run.give(completed('a', 1));
    expect(words(run.give(RESUME).entries)).toEqual(['run_resumed', 'run_closed']);
    expect(run.state.status).toBe('COMPLETED');
  });

  it('fails on resume by a failure recorded meanwhile', () => {
    const run = drive(planOf({ steps: { a: { type: 'CALLBACK', retry: { maxAttempts: 1 } } } }));
    run.give(start());
    run.give(PARK);
    expect(words(run.give(failed('a')).entries)).toEqual(['step_failed a 1']);
    expect(words(run.give(RESUME).entries)).toEqual(['run_resumed', 'run_failing', 'run_closed']);
    expect(run.state.error?.step).toBe('a');
  });

  it('is ended by a cancel', () => {
    const run = drive(sequence('a'));
    run.give(start());
    run.give(PARK);
    expect(words(run.give(CANCEL).entries)).toEqual(['cancel_requested', 'step_cancelling a 1']);
    expect(run.state).toMatchObject({ status: 'CANCELLING', parked: null });
  });

  it('that was being cancelled goes on being cancelled', () => {
    const run = drive(sequence('a'));
    run.give(start());
    run.give(CANCEL);
    run.give(PARK);
    expect(run.give(CANCEL).dispositions).toEqual(['ignored']);
    expect(orders(run.give(RESUME).commands)).toEqual(['abort a 1 cancelled']);
    expect(run.state.status).toBe('CANCELLING');
    run.give(result('a', 1, { kind: 'cancelled' }));
    expect(run.state.status).toBe('CANCELLED');
  });

  it('that was failing goes on failing', () => {
    const run = drive(
      planOf({
        steps: { a: { type: 'CALLBACK', retry: { maxAttempts: 1 } }, b: { type: 'CALLBACK' }, c: { type: 'CALLBACK' } },
        edges: [edge('b', 'c')],
      }),
    );
    run.give(start());
    run.give(failed('a'));
    run.give(PARK, completed('b'));
    expect(words(run.give(RESUME).entries)).toEqual(['run_resumed', 'run_closed']);
    expect(run.state.status).toBe('FAILED');
  });

  it('begins no step in the tick that parks it, and its roots on resume', () => {
    const run = drive(sequence('a'));
    expect(words(run.give(start(), PARK).entries)).toEqual(['run_started', 'run_parked']);
    expect(words(run.give(RESUME, PARK).entries)).toEqual(['run_resumed', 'run_parked']);
    expect(words(run.give(RESUME).entries)).toEqual(['run_resumed', 'step_scheduled a 1']);
  });

  it('says why nothing moves', () => {
    const run = drive(sequence('a', 'b'));
    run.give(start());
    run.give(PARK);
    const held = 'the run to be resumed; it is parked for poison_commit: row too wide';
    expect(explainStep(run.state, run.state.steps.get('a'))).toBe(held);
    expect(explainStep(run.state, undefined)).toBe(held);
  });
});
