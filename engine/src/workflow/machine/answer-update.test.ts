import { describe, expect, it } from 'vitest';
import type { Want } from '../../capacity/index.js';
import { CANCEL, completed, drive, failed, jsonOf, PAUSE, RESUME, start, WAKE, words } from '../testing/drive.js';
import type { DrivenRun } from '../testing/drive.js';
import { edge, outputOf, planOf, template } from '../testing/plan-builder.js';
import { CLOSED_GATE } from './tick.js';
import {
  admitUpdate,
  answerIn,
  answerQuery,
  emptyRun,
  explainRun,
  jsonValue,
  type RunInput,
  type RunState,
} from './index.js';

const PLAN = planOf({
  steps: {
    change: { type: 'CALLBACK', takes: 'change' },
    turns: {
      ...{ type: 'LOOP', until: ({ index }) => (index?.() ?? 0) >= 1, maxIterations: 3 },
      body: { steps: { add: { type: 'SIGNAL', signal: 'add', deadlineUs: () => null } } },
    },
  },
  edges: [edge('change', 'turns')],
  updates: {
    change: {
      refusal: { reads: [], evaluate: ({ update }) => (update?.() === 'bad' ? 'it is bad' : null) },
      output: template((scope) => ({ asked: scope.update?.(), is: scope.stepOutput('change') })),
    },
    add: {},
  },
  queries: {
    changed: template((scope) => scope.stepOutput('change') ?? null),
    whole: outputOf('change'),
  },
});

const update = (name: string, id: string, payload: unknown): RunInput => ({
  ...{ kind: 'signal', name, id, payload: jsonValue(payload), by: 'ada' },
});

function answer(state: RunState, name: string, id: string): unknown {
  const found = answerIn(state.signals, name, id);
  return found === undefined ? undefined : (found.error?.code ?? jsonOf(found.output));
}

/** A run whose step has taken an update and stands in line under the key that it gives; and what its gate is told. */
function askedForRoom(): { readonly run: DrivenRun; readonly told: readonly string[] } {
  const semaphores = { concurrency: [{ key: template((scope) => scope.update?.()), limit: 1 }], rate: null };
  const a = { type: 'CALLBACK', takes: 'a', semaphores, scheduleToStartTimeoutMs: 1_000 } as const;
  const run = drive(planOf({ steps: { a }, updates: { a: {} } }));
  const told: string[] = [];
  const tell = (what: string, wants: readonly Want[]): null => {
    told.push(`${what} ${wants.map(({ key }) => key).join()}`);
    return null;
  };
  run.gate = {
    ...CLOSED_GATE,
    ask: (_path, _ticket, wants) => tell('ask', wants),
    release: (_path, wants) => void tell('release', wants),
  };
  run.give(start());
  expect([run.state.steps.get('a')?.awaits?.name, told]).toEqual(['a', []]);
  const { entries } = run.give(update('a', 'u', 'k'));
  expect(words(entries)).toEqual(['signal_received', 'update_taken a', 'step_asked a']);
  expect(explainRun(run.state)).toMatchObject({ kind: 'semaphore', step: 'a' });
  return { run, told };
}

describe('an update', () => {
  it('begins the attempts of its step, receives what they come to, and is repeated in vain', () => {
    const run = drive(PLAN);
    run.give(start());
    expect(run.state.steps.get('change')?.awaits?.name).toBe('change');
    expect(words(run.give(update('change', 'a', 'good')).entries)).toEqual([
      ...['signal_received', 'update_taken change', 'step_scheduled change 1'],
    ]);
    expect(run.state.steps.get('change')?.input).toEqual({ kind: 'value', value: jsonValue('good') });
    expect(run.give(update('change', 'a', 'good')).dispositions).toEqual(['ignored']);
    run.give(completed('change', 5));
    expect(answer(run.state, 'change', 'a')).toEqual({ asked: 'good', is: 5 });
    expect(jsonOf(answerQuery(PLAN, run.state, 'changed'))).toBe(5);
    expect(jsonOf(answerQuery(PLAN, run.state, 'whole'))).toBe(5);
    expect(() => answerQuery(PLAN, run.state, 'else')).toThrow(/no query "else"; it has changed, whole/);
  });

  it('may come early, and is taken turn by turn', () => {
    const run = drive(PLAN);
    run.give(start());
    run.give(update('add', 'b', { n: 1 }), update('add', 'c', { n: 2 }));
    expect(answer(run.state, 'add', 'b')).toBeUndefined();
    run.give(update('change', 'a', 1));
    run.give(completed('change'));
    expect(run.state.status).toBe('COMPLETED');
    expect(answer(run.state, 'add', 'b')).toEqual({ n: 1 });
    expect(answer(run.state, 'add', 'c')).toEqual({ n: 2 });
  });

  it('is told the failure of its step, or that it was stopped', () => {
    const [one, other] = [drive(PLAN), drive(PLAN)];
    for (const run of [one, other]) run.give(start(), update('change', 'a', 1));
    one.give(failed('change', 1, { nonRetryable: true }));
    expect(answer(one.state, 'change', 'a')).toBe('boom');
    other.give(CANCEL);
    other.give({ kind: 'result', path: 'change', attempt: 1, outcome: { kind: 'cancelled' } });
    expect(answer(other.state, 'change', 'a')).toBe('cancelled');
  });

  it('that is refused leaves nothing but its answer, and the step goes on waiting', () => {
    const run = drive(PLAN);
    run.give(start());
    expect(words(run.give(update('change', 'a', 'bad')).entries)).toEqual(['update_answered']);
    expect(answer(run.state, 'change', 'a')).toBe('update_refused');
    run.give(update('change', 'b', 'good'));
    expect(run.state.steps.get('change')?.status).toBe('SCHEDULED');
  });

  it('lets its step ask for room once it is taken, and is answered in whatever way that ends', () => {
    const [granted, late, paused] = [askedForRoom(), askedForRoom(), askedForRoom()];
    granted.run.give({ kind: 'semaphore', path: 'a', ticket: 2, startAtUs: 0 });
    expect(granted.run.state.steps.get('a')).toMatchObject({ status: 'SCHEDULED', input: { value: jsonValue('k') } });
    granted.run.give(completed('a', 7));
    expect([answer(granted.run.state, 'a', 'u'), granted.told]).toEqual([7, ['ask k', 'release k']]);
    late.run.nowUs += 1_000_000;
    late.run.give(WAKE);
    expect(answer(late.run.state, 'a', 'u')).toBe('schedule_to_start_timeout');
    expect(late.told).toEqual(['ask k', 'release k']);
    for (const input of [PAUSE, RESUME, CANCEL]) paused.run.give(input);
    expect(answer(paused.run.state, 'a', 'u')).toBe('cancelled');
    expect(paused.told).toEqual(['ask k', 'release k', 'ask k', 'release k']);
  });

  it('is looked at before it is sent', () => {
    const run = drive(PLAN);
    run.give(start(), update('change', 'a', 'good'));
    const asked = (name: string, id: string, payload: unknown) => ({ name, id, payload: jsonValue(payload), by: '' });
    expect(admitUpdate(PLAN, run.state, asked('change', 'a', 'bad'))).toBe('repeated');
    expect(admitUpdate(PLAN, run.state, asked('change', 'b', 'good'))).toBe('new');
    expect(() => admitUpdate(PLAN, run.state, asked('change', 'b', 'bad'))).toThrow(/refused: it is bad/);
    expect(() => admitUpdate(PLAN, run.state, asked('none', 'b', 1))).toThrow(/no update "none"; it has change, add/);
    run.give({ kind: 'terminate', reason: '', requestedBy: '' });
    expect(() => admitUpdate(PLAN, run.state, asked('change', 'c', 'good'))).toThrow(/has ended: TERMINATED/);
    expect(admitUpdate(PLAN, emptyRun(run.state), asked('change', 'c', 'good'))).toBe('new');
  });
});
