import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { completed, drive, failed, jsonOf, start, T0_US, WAKE, words } from '../testing/drive.js';
import { edge, outputOf, planOf, template, type StepSpec } from '../testing/plan-builder.js';
import type { ExpressionScope } from './index.js';

function fails(): never {
  throw new DuctorError('expression_failed', 'no such key: x');
}

function only(step: StepSpec) {
  return drive(planOf({ steps: { s: step } }));
}

describe('a CALLBACK step', () => {
  it('gets an evaluated input by value', () => {
    const run = only({ type: 'CALLBACK', input: template((scope) => ({ got: scope.input(), id: scope.run['id'] })) });
    run.give(start([1, 2]));
    const input = run.state.steps.get('s')?.input;
    expect(input?.kind === 'value' ? jsonOf(input.value) : input).toEqual({ got: [1, 2], id: run.state.runId });
  });

  it('gets null for the output of a step that has none', () => {
    const run = drive(
      planOf({
        steps: { a: { type: 'CALLBACK', retry: { maxAttempts: 1 } }, b: { type: 'CALLBACK', input: outputOf('a') } },
        edges: [edge('a', 'b', 'ALWAYS')],
      }),
    );
    run.give(start());
    run.give(failed('a'));
    const input = run.state.steps.get('b')?.input;
    expect(input?.kind === 'value' ? jsonOf(input.value) : input).toBeNull();
  });

  it('fails, not the run at once, when its input does', () => {
    const run = drive(
      planOf({
        steps: { a: { type: 'CALLBACK', input: template(fails) }, b: { type: 'CALLBACK' } },
        edges: [edge('a', 'b', 'FAILURE')],
      }),
    );
    expect(words(run.give(start()).entries)).toEqual(['run_started', 'step_failed a 0', 'step_scheduled b 1']);
    expect(run.state.steps.get('a')).toMatchObject({
      status: 'FAILED',
      attempt: 0,
      error: { code: 'expression_failed', step: 'a', attempt: 0, retryable: false },
    });
    expect(run.state.status).toBe('RUNNING');
  });

  it('fails when its input is beyond 2 MiB, naming step and size', () => {
    const run = only({ type: 'CALLBACK', input: template(() => 'x'.repeat(2_097_151)) });
    run.give(start());
    expect(run.state.error).toMatchObject({
      code: 'value_too_large',
      message: 'the input of step s has 2097153 bytes; the limit is 2097152',
    });
  });
});

describe('a DATAFLOW step', () => {
  it('is done inline, and so is what follows', () => {
    const run = drive(
      planOf({
        steps: {
          a: { type: 'DATAFLOW', transform: () => ({ n: 1 }) },
          b: { type: 'DATAFLOW', transform: (scope) => scope.stepOutput('a') },
          c: { type: 'CALLBACK', input: outputOf('b') },
        },
        edges: [edge('a', 'b'), edge('b', 'c')],
      }),
    );
    expect(words(run.give(start()).entries)).toEqual([
      'run_started',
      'step_completed a 0',
      'step_completed b 0',
      'step_scheduled c 1',
    ]);
    expect(jsonOf(run.state.steps.get('b')?.output ?? null)).toEqual({ n: 1 });
  });

  it('fails with the code of its expression', () => {
    const run = only({
      type: 'DATAFLOW',
      transform: () => {
        throw new DuctorError('expression_too_costly', 'visits 10^7 items');
      },
    });
    expect(words(run.give(start()).entries)).toEqual(['run_started', 'step_failed s 0', 'run_failing', 'run_closed']);
    expect(run.state).toMatchObject({ status: 'FAILED', error: { code: 'expression_too_costly', step: 's' } });
  });

  it('reads failures, and only outputs that are JSON', () => {
    const seen: unknown[] = [];
    const look = (scope: ExpressionScope): unknown => {
      seen.push(scope.stepError('a'), scope.stepOutput('a'), scope.stepError('c'), scope.stepOutput('nobody'));
      return scope.stepOutput('c');
    };
    const run = drive(
      planOf({
        steps: {
          a: { type: 'CALLBACK', retry: { maxAttempts: 1 } },
          c: { type: 'CALLBACK' },
          d: { type: 'DATAFLOW', transform: look },
        },
        edges: [edge('a', 'd', 'FAILURE'), edge('c', 'd')],
      }),
    );
    run.give(start());
    run.give(failed('a', 1, { stack: 'secret' }));
    const output = { data: Uint8Array.of(1), encoding: 'cbor' };
    run.give({ kind: 'result', path: 'c', attempt: 1, outcome: { kind: 'completed', output } });
    const error = { code: 'boom', message: 'it broke', step: 'a', attempt: 1, retryable: true };
    expect(seen).toEqual([error, undefined, undefined, undefined]);
    expect(run.state.error).toMatchObject({ code: 'expression_failed', step: 'd' });
    expect(run.state.error?.message).toContain('encoded as "cbor"');
  });

  it('fails on bytes that only claim to be JSON', () => {
    const run = drive(
      planOf({
        steps: { a: { type: 'CALLBACK' }, b: { type: 'DATAFLOW', transform: (scope) => scope.stepOutput('a') } },
        edges: [edge('a', 'b')],
      }),
    );
    run.give(start());
    const output = { data: Buffer.from('{"half":'), encoding: 'json' };
    run.give({ kind: 'result', path: 'a', attempt: 1, outcome: { kind: 'completed', output } });
    expect(run.state.error).toMatchObject({
      code: 'expression_failed',
      message: 'the output of step a is not valid JSON',
    });
  });
});

describe('a WAIT step', () => {
  it('waits, and ends no moment early', () => {
    const run = only({ type: 'WAIT', wakeAtUs: (_scope, nowUs) => nowUs + 2_000_000 });
    expect(words(run.give(start()).entries)).toEqual(['run_started', 'step_waiting s']);
    expect(run.state).toMatchObject({ status: 'WAITING', steps: { nextDueUs: T0_US + 2_000_000 } });
    run.nowUs = T0_US + 1_999_999;
    expect(run.give(WAKE).dispositions).toEqual(['ignored']);
    run.nowUs = T0_US + 2_000_000;
    expect(words(run.give(WAKE).entries)).toEqual(['step_completed s 0', 'run_closed']);
    expect(jsonOf(run.state.steps.get('s')?.output ?? null)).toEqual({ woke_at: '2026-01-01T00:00:02Z' });
  });

  it('of no length ends in the tick that begins it', () => {
    const run = only({ type: 'WAIT', wakeAtUs: () => -5 });
    expect(words(run.give(start()).entries)).toEqual([
      'run_started',
      'step_waiting s',
      'step_completed s 0',
      'run_closed',
    ]);
  });

  it('rounds up to a whole microsecond', () => {
    const run = only({ type: 'WAIT', wakeAtUs: (_scope, nowUs) => nowUs + 0.25 });
    run.give(start());
    expect(run.state.steps.nextDueUs).toBe(T0_US + 1);
  });

  it('fails when its time cannot be told', () => {
    for (const wakeAtUs of [fails, () => Number.NaN, () => Number.POSITIVE_INFINITY]) {
      const run = only({ type: 'WAIT', wakeAtUs });
      expect(words(run.give(start()).entries)).toContain('step_failed s 0');
      expect(run.state.error?.code).toBe('expression_failed');
    }
  });
});

describe('a step that begins while another one is open', () => {
  it('changes nothing for it', () => {
    const run = drive(
      planOf({
        steps: { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK' }, c: { type: 'CALLBACK' } },
        edges: [edge('a', 'c')],
      }),
    );
    run.give(start());
    const b = run.state.steps.get('b');
    run.give(completed('a'));
    expect(run.state.steps.get('b')).toBe(b);
  });
});
