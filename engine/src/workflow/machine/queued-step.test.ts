import { describe, expect, it } from 'vitest';
import { CANCEL, drive, jsonOf, PAUSE, RESUME, start, statuses, TERMINATE, WAKE, words } from '../testing/drive.js';
import { edge, planOf, type StepSpec } from '../testing/plan-builder.js';
import type { Gate, ToldAnswer } from './inputs.js';
import { explainRun, jsonValue, type RunInput } from './index.js';
import type { RouteAnswer, Unqueued } from './routing-work.js';
import { CLOSED_GATE } from './tick.js';

const HOUR_US = 3_600_000_000;
const WAITING: RouteAnswer = { kind: 'waiting', workId: 'work', poolId: 'west' };
const OUTPUT = { id: 'later', outcome: 'assigned' };
const ASSIGNED: ToldAnswer = { kind: 'routed', output: jsonValue(OUTPUT) };

function told(answer: ToldAnswer = ASSIGNED, workId = 'work'): RunInput {
  return { kind: 'route_told', path: 'desk', workId, answer };
}

const routes = (waitUs: number | null = HOUR_US): StepSpec => ({
  type: 'ROUTE',
  deadlineUs: (_, nowUs) => (waitUs === null ? null : nowUs + waitUs),
});

/** A gate that queues, and says this of work that is to leave its queue. */
function gateOf(came: Unqueued): Gate & { readonly asked: string[] } {
  const asked: string[] = [];
  const unqueue = (workId: string): Unqueued => {
    asked.push(workId);
    return came;
  };
  return { ...CLOSED_GATE, asked, route: () => WAITING, unqueue };
}

/** A run whose step waits. */
function waiting(step: StepSpec = routes(), gate = gateOf('withdrawn')) {
  const run = drive(planOf({ steps: { desk: step } }));
  run.gate = gate;
  const { entries } = run.give(start());
  expect(words(entries)).toEqual(['run_started', 'step_selecting desk', 'route_queued desk']);
  return { run, asked: gate.asked };
}

describe('a step whose work waits in the queue of a pool', () => {
  it('says which queue and since when, and completes by what the work comes to', () => {
    const { run, asked } = waiting();
    const message =
      'step desk waits for the work of decision work to leave the queue of pool west, ' +
      'at most until 2026-01-01T01:00:00Z';
    expect(explainRun(run.state)).toMatchObject({ kind: 'queue', step: 'desk', sinceUs: run.nowUs, message });
    expect(run.give(told(ASSIGNED, 'other')).dispositions).toEqual(['ignored']);
    expect(words(run.give(told()).entries)).toEqual(['step_completed desk 0', 'run_closed']);
    expect(jsonOf(run.state.steps.get('desk')?.output ?? null)).toEqual(OUTPUT);
    expect([run.give(told()).dispositions, asked]).toEqual([['ignored'], []]);
  });

  it('fails by the name of the outcome that gives the work to nobody', () => {
    const { run, asked } = waiting();
    run.give(told({ kind: 'failed', code: 'dead_lettered', message: 'for queue_expired', isRetryable: false }));
    expect([run.state.status, run.state.error?.code, asked]).toEqual(['FAILED', 'dead_lettered', []]);
  });

  it.each([
    ['cancelled', CANCEL],
    ['terminated', TERMINATE],
  ])('takes its work out when its run is %s', (_, input) => {
    const { run, asked } = waiting();
    run.give(input);
    expect([statuses(run.state), asked]).toEqual([{ desk: 'CANCELLED' }, ['work']]);
    expect(run.give(told()).dispositions).toEqual(['ignored']);
  });

  it('takes it out when its time is over, once', () => {
    const { run, asked } = waiting();
    run.nowUs += HOUR_US;
    run.give(WAKE);
    expect([run.state.error?.code, run.state.error?.message, asked]).toEqual([
      'timeout',
      'the work of decision work was given to nobody by 2026-01-01T01:00:00Z',
      ['work'],
    ]);
    expect(run.give(WAKE).dispositions).toEqual(['ignored']);
  });

  it('takes it out at once when it has no time at all', () => {
    const run = drive(planOf({ steps: { desk: routes(0) } }));
    run.gate = gateOf('withdrawn');
    expect(words(run.give(start()).entries)).toContain('step_failed desk 0');
    expect(run.state.error?.code).toBe('timeout');
  });

  it('waits on for the news when its work left the queue before its time was over', () => {
    const { run } = waiting(routes(), gateOf('ended'));
    run.nowUs += HOUR_US;
    expect(words(run.give(WAKE).entries)).toEqual(['route_settling desk']);
    expect(run.give(WAKE).dispositions).toEqual(['ignored']);
    run.give(told());
    expect(run.state.status).toBe('COMPLETED');
  });

  it('hears of it while its run is paused, and goes on once that is resumed', () => {
    const run = drive(planOf({ steps: { desk: routes(null), next: routes() }, edges: [edge('desk', 'next')] }));
    run.gate = gateOf('withdrawn');
    run.give(start());
    run.give(PAUSE);
    run.give(told());
    expect(statuses(run.state)).toEqual({ desk: 'COMPLETED' });
    run.give(RESUME);
    expect(statuses(run.state)).toEqual({ desk: 'COMPLETED', next: 'WAITING' });
  });

  it('is taken out when another step ends the run', () => {
    const end = { type: 'FAIL', code: 'no_credit', message: () => 'refused' } as const;
    const run = drive(planOf({ steps: { desk: routes(null), end } }));
    const gate = gateOf('withdrawn');
    run.gate = gate;
    run.give(start());
    expect([run.state.status, statuses(run.state)['desk'], gate.asked]).toEqual(['FAILED', 'CANCELLED', ['work']]);
  });
});
