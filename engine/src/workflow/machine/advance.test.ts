import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import {
  CANCEL,
  completed,
  drive,
  failed,
  orders,
  RUN_ID,
  start,
  statuses,
  T0_US,
  WAKE,
  words,
} from '../testing/drive.js';
import { edge, outputOf, planOf, sequence, template } from '../testing/plan-builder.js';
import { advance, emptyRun, isClosed, resolveSource, runOutput } from './index.js';

const context = { nowUs: T0_US, seed: 1, newId: () => RUN_ID };

describe('start', () => {
  it('records the run and begins every step that waits for no other', () => {
    const run = drive(
      planOf({
        steps: { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK' }, c: { type: 'CALLBACK' } },
        edges: [edge('a', 'c')],
      }),
    );
    const { entries, commands, dispositions } = run.give(start({ n: 1 }));
    expect(words(entries)).toEqual(['run_started', 'step_scheduled a 1', 'step_scheduled b 1']);
    expect(orders(commands)).toEqual(['dispatch a 1', 'dispatch b 1']);
    expect(dispositions).toEqual(['applied']);
    expect(run.state).toMatchObject({
      status: 'RUNNING',
      seq: 1,
      atUs: T0_US,
      startedAtUs: T0_US,
      familySlug: 'test',
      version: 1,
    });
  });

  it('is ignored by a run that has started', () => {
    const run = drive(sequence('a'));
    const before = run.give(start()).state;
    expect(run.give(start('other'))).toEqual({
      state: before,
      entries: [],
      commands: [],
      messages: [],
      dispositions: ['ignored'],
      successor: null,
    });
  });

  it('must come first: everything else is ignored by a run that has not started', () => {
    const state = emptyRun({ tenantId: 't', runId: RUN_ID });
    const inputs = [
      completed('a'),
      WAKE,
      CANCEL,
      { kind: 'park', code: 'x', message: '' },
      { kind: 'resume' },
    ] as const;
    const outcome = advance(sequence('a'), state, inputs, context);
    expect(outcome.state).toBe(state);
    expect(outcome.dispositions).toEqual(['ignored', 'ignored', 'ignored', 'ignored', 'ignored']);
  });

  it('of a plan without steps completes at once', () => {
    const run = drive(planOf({ steps: {} }));
    expect(words(run.give(start()).entries)).toEqual(['run_started', 'run_closed']);
    expect(run.state).toMatchObject({ status: 'COMPLETED', closedAtUs: T0_US });
  });
});

describe('a sequence', () => {
  it('goes from step to step, each value once in the journal', () => {
    const run = drive(sequence('a', 'b'));
    run.give(start({ n: 1 }));
    expect(run.state.steps.get('a')?.input).toEqual({ kind: 'runInput' });
    const { entries, commands } = run.give(completed('a', { out: 1 }));
    expect(words(entries)).toEqual(['step_completed a 1', 'step_scheduled b 1']);
    expect(orders(commands)).toEqual(['dispatch b 1']);
    const input = run.state.steps.get('b')?.input ?? expect.fail('no input');
    expect(input).toEqual({ kind: 'stepOutput', path: 'a' });
    expect(resolveSource(run.state, input, 'b')).toEqual(run.state.steps.get('a')?.output);
    expect(words(run.give(completed('b', 'done')).entries)).toEqual(['step_completed b 1', 'run_closed']);
    expect(run.state.status).toBe('COMPLETED');
  });
});

describe('a tick', () => {
  it('leaves the state it was given as it is', () => {
    const run = drive(sequence('a', 'b'));
    const before = run.give(start()).state;
    run.give(completed('a'));
    expect(statuses(before)).toEqual({ a: 'SCHEDULED' });
    expect(before).toMatchObject({ seq: 1, status: 'RUNNING' });
  });

  it('never goes back in time, nor keeps fractions of a microsecond', () => {
    const run = drive(sequence('a', 'b'));
    run.give(start());
    run.nowUs = T0_US - 5_000_000;
    expect(run.give(completed('a')).state.atUs).toBe(T0_US);
    run.nowUs = T0_US + 10.5;
    expect(run.give(completed('b')).state.atUs).toBe(T0_US + 10);
  });

  it('applies all inputs before anything follows from them', () => {
    const run = drive(sequence('a', 'b'));
    run.give(start());
    const { entries, commands, dispositions } = run.give(completed('a'), CANCEL, completed('a'));
    expect(words(entries)).toEqual(['step_completed a 1', 'cancel_requested', 'run_closed']);
    expect(commands).toEqual([]);
    expect(dispositions).toEqual(['applied', 'applied', 'ignored']);
  });

  it('dispatches no attempt that the same tick calls off', () => {
    const run = drive(planOf({ steps: { a: { type: 'CALLBACK', retry: { initialIntervalMs: 0 } } } }));
    run.give(start());
    const { commands } = run.give(failed('a'), WAKE, CANCEL);
    expect(run.state.steps.get('a')).toMatchObject({ status: 'CANCELLED', attempt: 2 });
    expect(run.state.status).toBe('CANCELLED');
    expect(orders(commands)).toEqual([]);
  });

  it('dispatches an attempt once, however often it is asked for', () => {
    const run = drive(sequence('a'));
    run.give(start());
    run.give(failed('a'));
    run.nowUs += 1_000_000;
    const { commands } = run.give(WAKE, { kind: 'park', code: 'x', message: '' }, { kind: 'resume' });
    expect(orders(commands)).toEqual(['dispatch a 2']);
  });

  it('refuses a plan that does not hold the steps of the state', () => {
    const { state } = drive(sequence('a')).give(start());
    const timer = planOf({ steps: { a: { type: 'WAIT', wakeAtUs: () => 0 } } });
    expect(() => advance(sequence('b'), state, [completed('a')], context)).toThrow(/plan-step.*no step a/);
    expect(() => advance(timer, state, [failed('a')], context)).toThrow(/plan-attempt.*step a of test is WAIT/);
  });

  it('refuses a plan of another version', () => {
    const state = drive(sequence('a')).give(start()).state;
    const other = { ...sequence('a'), version: 2 };
    expect(() => advance(other, state, [WAKE], context)).toThrow(/plan-version.*version 1, not test version 2/);
  });

  it('of a closed run ignores everything', () => {
    const run = drive(sequence('a'));
    run.give(start());
    const closed = run.give(completed('a')).state;
    const again = run.give(start(), completed('a'), CANCEL, WAKE);
    expect(again.state).toBe(closed);
    expect(again.dispositions).toEqual(['ignored', 'ignored', 'ignored', 'ignored']);
  });
});

describe('faults of the plan', () => {
  const poison = planOf({
    steps: {
      a: { type: 'CALLBACK' },
      b: {
        type: 'CALLBACK',
        input: template(() => {
          throw new TypeError('not a DuctorError');
        }),
      },
    },
    edges: [edge('a', 'b')],
  });

  it('propagate, and the same inputs with a park behind them are recorded', () => {
    const run = drive(poison);
    const before = run.give(start()).state;
    expect(() => run.give(completed('a', 7))).toThrow(TypeError);
    expect(run.state).toBe(before);
    const { entries } = run.give(completed('a', 7), { kind: 'park', code: 'internal', message: 'not a DuctorError' });
    expect(words(entries)).toEqual(['step_completed a 1', 'run_parked']);
    expect(run.state).toMatchObject({ status: 'PARKED', parked: { code: 'internal' } });
  });

  it('at the start too: the run then exists, parked', () => {
    const rootless = planOf({ steps: { b: { type: 'CALLBACK', input: template(() => BigInt(1)) } } });
    const run = drive(rootless);
    expect(() => run.give(start())).toThrow(TypeError);
    run.give(start({ keep: 'me' }), { kind: 'park', code: 'internal', message: 'x' });
    expect(run.state).toMatchObject({ status: 'PARKED', seq: 1 });
    expect(() => run.give({ kind: 'resume' })).toThrow(TypeError);
    expect(words(run.give(CANCEL).entries)).toEqual(['cancel_requested', 'run_closed']);
    expect(run.state.status).toBe('CANCELLED');
  });

  it('of our own (internal) propagate as well', () => {
    const plan = planOf({
      steps: {
        a: {
          type: 'DATAFLOW',
          transform: () => {
            throw new DuctorError('internal', 'impossible state');
          },
        },
      },
    });
    expect(() => drive(plan).give(start())).toThrow('impossible state');
  });
});

describe('the output of a run', () => {
  it('is by default an object of the outputs of completed steps that no edge leaves', () => {
    const run = drive(
      planOf({
        steps: { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK' }, c: { type: 'CALLBACK' } },
        edges: [edge('a', 'b'), edge('a', 'c', 'SUCCESS', () => false)],
      }),
    );
    run.give(start());
    run.give(completed('a'));
    run.give(completed('b', { deep: [1] }));
    expect(Buffer.from(runOutput(run.state)?.data ?? []).toString()).toBe('{"b":{"deep":[1]}}');
  });

  it('tells values that are not JSON by encoding and base64', () => {
    const run = drive(sequence('a'));
    run.give(start());
    const output = { data: Uint8Array.of(1, 2, 255), encoding: 'cbor' };
    run.give({ kind: 'result', path: 'a', attempt: 1, outcome: { kind: 'completed', output } });
    const text = Buffer.from(runOutput(run.state)?.data ?? []).toString();
    expect(JSON.parse(text)).toEqual({ a: { encoding: 'cbor', data: 'AQL/' } });
  });

  it('stands where the template says, null where that has no output', () => {
    const spec = {
      steps: { a: { type: 'CALLBACK' } as const, b: { type: 'CALLBACK' } as const },
      edges: [edge('a', 'b', 'FAILURE')],
    };
    const there = drive(planOf({ ...spec, output: outputOf('a') }));
    there.give(start());
    there.give(completed('a', 5));
    expect(there.state.output).toEqual({ kind: 'stepOutput', path: 'a' });
    const nowhere = drive(planOf({ ...spec, output: outputOf('b') }));
    nowhere.give(start());
    nowhere.give(completed('a', 5));
    expect(Buffer.from(runOutput(nowhere.state)?.data ?? []).toString()).toBe('null');
  });

  it('fails the run when it cannot be made', () => {
    const output = template(() => {
      throw new DuctorError('expression_failed', 'no such key: x');
    });
    const run = drive(planOf({ steps: { a: { type: 'CALLBACK' } }, output }));
    run.give(start());
    expect(words(run.give(completed('a')).entries)).toEqual(['step_completed a 1', 'run_failing', 'run_closed']);
    expect(run.state).toMatchObject({
      status: 'FAILED',
      error: { code: 'expression_failed', step: '', message: 'output: no such key: x' },
    });
  });

  it('fails the run when it is beyond the limit', () => {
    const run = drive(planOf({ steps: { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK' } } }));
    run.give(start());
    run.give(completed('a', 'x'.repeat(1_100_000)), completed('b', 'x'.repeat(1_100_000)));
    expect(isClosed(run.state)).toBe(true);
    expect(run.state.error).toMatchObject({ code: 'value_too_large', step: '' });
  });
});
