/** Keys that a step computes for its attempts. */
import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { completed, drive, failed, start, WAKE } from '../testing/drive.js';
import { planOf, template } from '../testing/plan-builder.js';
import { taskOf } from './index.js';

describe('keys of a step', () => {
  it('are computed once, and the same for all attempts', () => {
    let asked = 0;
    const key = template(() => `key ${(asked += 1)}`);
    const steps = { a: { type: 'CALLBACK', fairnessKey: key, idempotencyKey: key, priority: 1, cost: 3 } } as const;
    const run = drive(planOf({ steps }));
    run.give(start());
    const first = taskOf(run.plan, run.state, 'a');
    expect(first).toMatchObject({ priority: 1, slots: 3, fairnessKey: 'key 1', idempotencyKey: 'key 2' });
    run.give(failed('a', 1));
    run.nowUs += 60_000_000;
    run.give(WAKE);
    expect(taskOf(run.plan, run.state, 'a')).toEqual({ ...first, attempt: 2 });
    expect(asked).toBe(2);
  });

  it('fail the step when they cannot be computed', () => {
    const key = template(() => {
      throw new DuctorError('expression_failed', 'no such customer');
    });
    const run = drive(planOf({ steps: { a: { type: 'CALLBACK', fairnessKey: key } } }));
    run.give(start());
    expect([run.state.status, run.state.error?.code]).toEqual(['FAILED', 'expression_failed']);
  });

  it('are the default ones where nothing is said', () => {
    const run = drive(planOf({ steps: { a: { type: 'CALLBACK' } } }));
    run.give(start());
    expect(run.state.steps.get('a')?.keys).toBeNull();
    run.give(completed('a', 1));
    expect(run.state.status).toBe('COMPLETED');
  });
});
