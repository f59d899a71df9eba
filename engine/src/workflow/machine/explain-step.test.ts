import { describe, expect, it } from 'vitest';
import { CANCEL, completed, drive, failed, running, start, T0_US } from '../testing/drive.js';
import { edge, planOf } from '../testing/plan-builder.js';
import { explainStep, type StepStatus } from './index.js';

function started() {
  const run = drive(
    planOf({
      steps: {
        a: { type: 'CALLBACK', timeoutMs: 60_000 },
        b: { type: 'CALLBACK' },
        w: { type: 'WAIT', wakeAtUs: (_scope, nowUs) => nowUs + 2e6 },
        end: { type: 'CALLBACK' },
      },
      edges: [edge('a', 'end')],
    }),
  );
  run.give(start());
  const explain = (path: string): string => explainStep(run.state, run.state.steps.get(path));
  return { run, explain };
}

describe('explainStep', () => {
  it('says what each step waits for, and until when', () => {
    const { run, explain } = started();
    expect(explain('a')).toBe('a worker with a free slot to take attempt 1');
    expect(explain('w')).toBe('2026-01-01T00:00:02Z');
    expect(explain('end')).toBe('the steps before it');
    run.give(running('a', T0_US), failed('b'));
    expect(explain('a')).toBe('attempt 1 on worker w1, at most until 2026-01-01T00:01:00Z');
    expect(explain('b')).toBe('attempt 2 at 2026-01-01T00:00:01Z, after boom: it broke');
    run.give({ kind: 'park', code: 'poison', message: 'x' });
    expect(explain('a')).toBe('attempt 1 on worker w1, at most until 2026-01-01T00:01:00Z');
    expect(explain('b')).toBe('the run to be resumed; it is parked for poison: x');
  });

  it('says what it can of a step that lacks what it should have', () => {
    const { run } = started();
    const step = run.state.steps.get('a') ?? expect.fail('no step');
    const bare = (status: StepStatus): string => explainStep(run.state, { ...step, status });
    expect(bare('RUNNING')).toBe('attempt 1 on an unknown worker');
    expect(bare('BACKOFF')).toBe('attempt 2 at an unknown time');
    expect(bare('WAITING')).toBe('an unknown time');
    expect(bare('CANCELLING')).toBe('attempt 1 to stop');
  });

  it('says nothing of a step or run that has ended', () => {
    const { run, explain } = started();
    run.give(completed('a'));
    expect(explain('a')).toBe('');
    run.give(CANCEL, { kind: 'lost', path: 'b', attempt: 1 }, { kind: 'lost', path: 'end', attempt: 1 });
    expect(run.state.status).toBe('CANCELLED');
    expect(explain('ghost')).toBe('');
  });

  it('tells a run that is on its way out', () => {
    const cancelling = started();
    cancelling.run.give(CANCEL);
    expect(cancelling.explain('a')).toBe('attempt 1 to stop, at most until 2026-01-01T00:00:30Z');
    expect(cancelling.explain('end')).toBe('nothing any more: the run is being cancelled');
    const failing = started();
    failing.run.give(failed('b', 1, { nonRetryable: true }));
    expect(failing.explain('end')).toBe('nothing any more: the run is failing with boom');
  });
});
