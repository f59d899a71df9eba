/** Steps and runs that stand in line for what they need. */
import { describe, expect, it } from 'vitest';
import type { Want } from '../../capacity/index.js';
import { CANCEL, completed, drive, failed, PAUSE, RESUME, start, statuses, WAKE, words } from '../testing/drive.js';
import type { DrivenRun } from '../testing/drive.js';
import { CLOSED_GATE } from './tick.js';
import { edge, planOf, template, type PlanSpec, type StepSpec } from '../testing/plan-builder.js';
import { advance, explainRun, jsonValue, wakeAtUs, type RunInput } from './index.js';

/** A gate that does as the test says, and writes down what it is told. */
function gated(spec: PlanSpec): { run: DrivenRun; told: string[]; grant: (at: number | null) => void } {
  let answer: number | null = null;
  const told: string[] = [];
  const show = (wants: readonly Want[]): string => wants.map(({ key }) => key).join();
  const run = drive(planOf(spec));
  run.gate = {
    ...CLOSED_GATE,
    ask: (path, ticket, wants) => {
      told.push(`ask ${path}#${ticket} ${show(wants)}`);
      return answer;
    },
    release: (path, wants) => void told.push(`release ${path} ${show(wants)}`),
  };
  return { run, told, grant: (at) => void (answer = at) };
}

const room = { concurrency: [{ key: template(() => 'k'), limit: 1 }], rate: null };
const A: StepSpec = { type: 'CALLBACK', semaphores: room, retry: { maxAttempts: 2 } };
const turn = (path: string, ticket: number, startAtUs: number | null = 0): RunInput => {
  return { kind: 'semaphore', path, ticket, startAtUs };
};

describe('a step that needs room', () => {
  it('begins at once where it is granted, and gives it back with each attempt', () => {
    const { run, told, grant } = gated({ steps: { a: A } });
    grant(0);
    run.give(start());
    expect(statuses(run.state)).toEqual({ a: 'SCHEDULED' });
    run.give(failed('a', 1));
    run.nowUs += 2_000_000;
    run.give(WAKE);
    run.give(completed('a', null, 2));
    expect(told).toEqual(['ask a#1 k', 'release a k', 'ask a#3 k', 'release a k']);
    expect(run.state.status).toBe('COMPLETED');
  });

  it('stands in line until it is its turn, and says so', () => {
    const { run, told } = gated({ steps: { a: A } });
    run.give(start());
    expect([run.state.status, wakeAtUs(run.state)]).toEqual(['WAITING', null]);
    expect(explainRun(run.state)).toMatchObject({ kind: 'semaphore', step: 'a' });
    expect(run.give(turn('a', 7)).dispositions).toEqual(['ignored']);
    expect(run.give(turn('a', 1, null)).dispositions).toEqual(['ignored']);
    expect(told).toEqual(['ask a#1 k', 'ask a#1 k']);
    const { commands } = run.give(turn('a', 1));
    expect(commands).toEqual([{ kind: 'dispatch', path: 'a', attempt: 1 }]);
    expect(run.give(turn('a', 1)).dispositions).toEqual(['ignored']);
  });

  it('waits for the time that its rate gives it', () => {
    const { run } = gated({ steps: { a: A } });
    run.give(start());
    run.give(turn('a', 1, run.nowUs + 5_000_000));
    expect([statuses(run.state), wakeAtUs(run.state)]).toEqual([{ a: 'WAITING' }, run.nowUs + 5_000_000]);
    run.nowUs += 5_000_000;
    run.give(WAKE);
    expect(statuses(run.state)).toEqual({ a: 'SCHEDULED' });
  });

  it('leaves the line when it is cancelled, or gives up', () => {
    const cancelled = gated({ steps: { a: A } });
    cancelled.run.give(start());
    cancelled.run.give(CANCEL);
    expect([cancelled.run.state.status, cancelled.told.at(-1)]).toEqual(['CANCELLED', 'release a k']);
    const late = gated({ steps: { a: { ...A, scheduleToStartTimeoutMs: 1_000 } } });
    late.run.give(start());
    late.run.nowUs += 1_000_000;
    late.run.give(WAKE);
    expect([late.run.state.error?.code, late.told.at(-1)]).toEqual(['schedule_to_start_timeout', 'release a k']);
  });

  it('stands in no line while its run is paused, and asks again after it', () => {
    const { run, told } = gated({ steps: { a: A } });
    run.give(start());
    run.give(PAUSE);
    expect(told.at(-1)).toBe('release a k');
    expect(run.give(turn('a', 1)).dispositions).toEqual(['ignored']);
    run.give(RESUME);
    expect(told.at(-1)).toBe('ask a#3 k');
    // The turn of the first asking is none of the second.
    expect(run.give(turn('a', 1)).dispositions).toEqual(['ignored']);
    run.give(turn('a', 3));
    expect(statuses(run.state)).toEqual({ a: 'SCHEDULED' });
  });
});

describe('a run that needs room', () => {
  const spec: PlanSpec = { steps: { a: { type: 'CALLBACK' } }, semaphores: room };

  it('asks after its start, begins with its turn, and gives it back at its end', () => {
    const { run, told } = gated(spec);
    run.give(start());
    expect([told, run.state.status, wakeAtUs(run.state)]).toEqual([[], 'WAITING', run.nowUs]);
    run.give(WAKE);
    expect([told, statuses(run.state)]).toEqual([['ask #2 k'], {}]);
    expect(explainRun(run.state)).toMatchObject({ kind: 'semaphore', step: '' });
    expect(run.give(WAKE).dispositions).toEqual(['ignored']);
    run.give(turn('', 2));
    expect(statuses(run.state)).toEqual({ a: 'SCHEDULED' });
    expect(words(run.facts)).toContain('run_granted');
    run.give(completed('a'));
    expect([run.state.status, told.at(-1)]).toEqual(['COMPLETED', 'release  k']);
  });

  it('asks as a fork, too: what follows from the steps that are kept begins once it is let in', () => {
    const chain: PlanSpec = {
      steps: { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK' } },
      edges: [edge('a', 'b')],
      semaphores: room,
    };
    const { run } = gated(chain);
    const kept = [{ path: 'a', end: { status: 'COMPLETED', output: jsonValue(1) } }] as const;
    run.give({ ...start(), fork: { runId: 'source', from: 'b', kept } } as ReturnType<typeof start>);
    run.give(WAKE);
    expect([run.state.status, statuses(run.state)]).toEqual(['WAITING', { a: 'COMPLETED' }]);
    run.give(turn('', 2));
    expect(statuses(run.state)).toEqual({ a: 'COMPLETED', b: 'SCHEDULED' });
  });

  it('asks anew when it continues another one, whose room is given back', () => {
    const poll: PlanSpec = { steps: { again: { type: 'CONTINUE_AS_NEW' } }, semaphores: room };
    const { run, told, grant } = gated(poll);
    grant(0);
    run.give(start());
    const { successor } = run.give(WAKE);
    expect([run.state.status, told]).toEqual(['CONTINUED', ['ask #2 k', 'release  k']]);
    const plan = planOf({ ...poll, steps: { a: { type: 'CALLBACK' } } });
    let state = successor?.state ?? expect.fail('no successor');
    const go = (...inputs: RunInput[]): void => {
      ({ state } = advance(plan, state, inputs, { nowUs: state.atUs, seed: 1, newId: () => 'x', gate: run.gate }));
    };
    grant(null);
    go(WAKE);
    expect([state.status, wakeAtUs(state)]).toEqual(['WAITING', state.atUs]);
    go(WAKE);
    expect([told.at(-1), wakeAtUs(state), statuses(state)]).toEqual(['ask #3 k', null, {}]);
    go(turn('', 3));
    expect(statuses(state)).toEqual({ a: 'SCHEDULED' });
    const first = successor?.state ?? expect.fail('no successor');
    const context = { nowUs: first.atUs, seed: 1, newId: () => 'x', gate: run.gate };
    expect(advance(plan, first, [CANCEL], context).state.status).toBe('CANCELLED');
    expect(told.at(-1)).toBe('ask #3 k');
  });

  it('leaves the line when it is cancelled or its time is over', () => {
    const cancelled = gated(spec);
    cancelled.run.give(start());
    cancelled.run.give(WAKE);
    cancelled.run.give(CANCEL);
    expect([cancelled.run.state.status, cancelled.told.at(-1)]).toEqual(['CANCELLED', 'release  k']);
    const late = gated({ ...spec, timeoutMs: 1_000 });
    late.run.give(start());
    late.run.give(WAKE);
    late.run.nowUs += 1_000_000;
    late.run.give(WAKE);
    expect([late.run.state.status, late.told.at(-1)]).toEqual(['TIMED_OUT', 'release  k']);
  });
});
