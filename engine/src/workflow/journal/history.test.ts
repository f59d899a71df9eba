import { describe, expect, it } from 'vitest';
import { CANCEL, completed, drive, failed, result, running, start, T0_US, WAKE } from '../testing/drive.js';
import { edge, outputOf, planOf } from '../testing/plan-builder.js';
import { historyOf } from './index.js';

const PLAN = planOf({
  steps: {
    a: { type: 'CALLBACK' },
    b: { type: 'CALLBACK', input: outputOf('a') },
    w: { type: 'WAIT', wakeAtUs: () => T0_US + 5e6 },
    never: { type: 'CALLBACK' },
  },
  edges: [edge('a', 'b'), edge('a', 'never', 'FAILURE')],
});

describe('historyOf', () => {
  it('tells a run from its start to its end', () => {
    const run = drive(PLAN);
    run.give(start({ n: 1 }));
    run.give(running('a', T0_US), failed('a', 1, { stack: 'at x' }));
    run.nowUs += 1_000_000;
    run.give(WAKE);
    run.give(completed('a', { m: 2 }, 2));
    run.give(CANCEL);
    run.give(result('b', 1, { kind: 'cancelled' }));
    const error = { code: 'boom', message: 'it broke', step: 'a', attempt: 1, retryable: true, stack: 'at x' };
    const told = historyOf(run.rows).map(({ seq, kind, step, attempt, detail }) => [seq, kind, step, attempt, detail]);
    const started = { family_slug: 'test', version: 1, input: { n: 1 }, attributes: {} };
    expect(told).toEqual([
      [1, 'run_started', '', 0, started],
      [1, 'step_scheduled', 'a', 1, { input: { same_as: 'input' } }],
      [1, 'step_waiting', 'w', 0, { wake_at: '2026-01-01T00:00:05Z' }],
      [2, 'step_running', 'a', 1, { worker: 'w1', deadline: '2026-01-01T00:05:00Z' }],
      [2, 'attempt_failed', 'a', 1, { error, retry_at: '2026-01-01T00:00:01Z' }],
      [3, 'step_scheduled', 'a', 2, {}],
      [4, 'step_completed', 'a', 2, { output: { m: 2 } }],
      [4, 'step_scheduled', 'b', 1, { input: { same_as: 'steps.a.output' } }],
      [4, 'step_skipped', 'never', 0, {}],
      [5, 'cancel_requested', '', 0, { reason: 'enough', requested_by: 'someone' }],
      [5, 'step_cancelled', 'w', 0, { abandoned: false }],
      [5, 'step_cancelling', 'b', 1, { deadline: '2026-01-01T00:00:31Z' }],
      [6, 'step_cancelled', 'b', 1, { abandoned: false }],
      [6, 'run_closed', '', 0, { state: 'CANCELLED' }],
    ]);
    expect(historyOf(run.rows).at(-1)?.atUs).toBe(T0_US + 1_000_000);
  });

  it('tells failures and parking', () => {
    const run = drive(planOf({ steps: { a: { type: 'CALLBACK' } } }));
    run.give(start());
    run.give({ kind: 'park', code: 'poison_commit', message: 'too wide' });
    run.give({ kind: 'resume' });
    run.give(failed('a', 1, { nonRetryable: true }));
    const error = { code: 'boom', message: 'it broke', step: 'a', attempt: 1, retryable: false };
    expect(historyOf(run.rows.slice(1)).map(({ kind, detail }) => [kind, detail])).toEqual([
      ['run_parked', { code: 'poison_commit', message: 'too wide' }],
      ['run_resumed', {}],
      ['step_failed', { error }],
      ['run_failing', { error }],
      ['run_closed', { state: 'FAILED', error }],
    ]);
  });

  it('shows JSON whatever its size, and tells opaque values by encoding and size', () => {
    const run = drive(planOf({ steps: { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK' }, c: { type: 'CALLBACK' } } }));
    run.give(start());
    run.give(completed('a', 'x'.repeat(70_000)));
    run.give(result('b', 1, { kind: 'completed', output: { data: Buffer.from([1, 2]), encoding: 'cbor' } }));
    run.give(result('c', 1, { kind: 'completed', output: { data: Buffer.from('{"half'), encoding: 'json' } }));
    const outputs = historyOf(run.rows).flatMap(({ kind, detail }) =>
      kind === 'step_completed' ? [detail['output']] : [],
    );
    expect(outputs).toEqual(['x'.repeat(70_000), { encoding: 'cbor', bytes: 2 }, { encoding: 'json', bytes: 6 }]);
  });
});
