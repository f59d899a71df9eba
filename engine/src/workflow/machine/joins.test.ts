/** Joins of any and n of the edges, losers, switches, timeouts along edges. */
import { describe, expect, it } from 'vitest';
import {
  completed,
  drive,
  failed,
  orders,
  result,
  running,
  start,
  statuses,
  T0_US,
  WAKE,
  words,
} from '../testing/drive.js';
import { edge, joinOf, planOf, RUN_INPUT, type StepSpec } from '../testing/plan-builder.js';
import type { Join, PlanEdge } from './index.js';

const CALLBACK: StepSpec = { type: 'CALLBACK', retry: { maxAttempts: 1 } };

/** a, b and c side by side, j behind all of them. */
function fan(join: Join, types: readonly PlanEdge['type'][] = ['SUCCESS', 'SUCCESS', 'SUCCESS']) {
  const sources = ['a', 'b', 'c'];
  const run = drive(
    planOf({
      steps: { a: CALLBACK, b: CALLBACK, c: CALLBACK, j: { type: 'CALLBACK', join } },
      edges: sources.map((ref, index) => edge(ref, 'j', types[index] ?? 'SUCCESS')),
    }),
  );
  run.give(start());
  return run;
}

describe('a join of any', () => {
  it('begins with the first edge that fires, and once', () => {
    const run = fan(joinOf(1));
    expect(orders(run.give(completed('b')).commands)).toEqual(['dispatch j 1']);
    expect(words(run.give(completed('a')).entries)).toEqual(['step_completed a 1']);
    run.give(completed('j'), completed('c'));
    expect(run.state.status).toBe('COMPLETED');
  });

  it('does not mind an edge that is blocked, and is skipped when none can fire any more', () => {
    const types = ['SUCCESS', 'FAILURE', 'FAILURE'] as const;
    const run = fan(joinOf(1), [...types]);
    run.give(completed('b'), completed('c'));
    expect(run.state.steps.get('j')).toBeUndefined();
    run.give(failed('a'));
    expect(run.state).toMatchObject({ status: 'FAILED', error: { step: 'a' } });
    const other = fan(joinOf(1), ['FAILURE', 'FAILURE', 'FAILURE']);
    other.give(completed('a'), completed('b'), completed('c'));
    expect(statuses(other.state)['j']).toBe('SKIPPED');
    expect(other.state.status).toBe('COMPLETED');
  });
});

describe('a join of n', () => {
  it('begins with the n-th edge that fires', () => {
    const run = fan(joinOf(2));
    run.give(completed('a'));
    expect(run.state.steps.get('j')).toBeUndefined();
    expect(orders(run.give(completed('c')).commands)).toEqual(['dispatch j 1']);
  });

  it('is skipped as soon as so many can no longer fire', () => {
    const run = fan(joinOf(2), ['SUCCESS', 'FAILURE', 'FAILURE']);
    run.give(completed('b'));
    expect(run.state.steps.get('j')).toBeUndefined();
    expect(words(run.give(completed('c')).entries)).toEqual(['step_completed c 1', 'step_skipped j']);
  });
});

describe('losers', () => {
  /** a behind a-first, b behind b-first with a way out, j behind both. */
  function race() {
    const run = drive(
      planOf({
        steps: {
          ...{ 'a-first': CALLBACK, 'b-first': CALLBACK, a: CALLBACK, b: CALLBACK, out: CALLBACK },
          timer: { type: 'WAIT', wakeAtUs: () => T0_US + 9e9 },
          j: { type: 'CALLBACK', join: joinOf(1, true) },
        },
        edges: [
          ...[edge('a-first', 'a'), edge('b-first', 'b'), edge('b-first', 'out')],
          ...[edge('a', 'j'), edge('b', 'j'), edge('timer', 'j')],
        ],
      }),
    );
    run.give(start());
    run.give(running('a-first', T0_US));
    return run;
  }

  it('are stopped when the join begins: those under way are told, those to come are skipped, timers end', () => {
    const run = race();
    run.give(completed('b-first'));
    const { entries, commands } = run.give(completed('b'));
    expect(words(entries)).toEqual([
      'step_completed b 1',
      'step_scheduled j 1',
      'step_cancelling a-first 1',
      'step_skipped a',
      'step_cancelled timer 0',
    ]);
    expect(orders(commands)).toEqual(['dispatch j 1', 'abort a-first 1 cancelled']);
    expect(statuses(run.state)['out']).toBe('SCHEDULED');
  });

  it('fail nothing, however they end, and the run closes once they have', () => {
    for (const outcome of [failed('a-first'), result('a-first', 1, { kind: 'cancelled' }), completed('a-first')]) {
      const run = race();
      run.give(completed('b-first'));
      run.give(completed('b'));
      run.give(completed('j'), completed('out'));
      expect(run.state.status).toBe('RUNNING');
      run.give(outcome);
      expect(run.state.status).toBe('COMPLETED');
      expect(statuses(run.state)['a']).toBe('SKIPPED');
    }
  });

  it('count as abandoned after their cancel timeout', () => {
    const run = race();
    run.give(completed('b-first'));
    run.give(completed('b'));
    run.give(completed('j'), completed('out'));
    run.nowUs = T0_US + 30_000_000;
    expect(words(run.give(WAKE).entries)).toEqual(['step_cancelled a-first 1', 'run_closed']);
    expect(run.state.status).toBe('COMPLETED');
  });

  it('that were scheduled in the very tick end with it', () => {
    const run = drive(
      planOf({
        steps: {
          now: { type: 'DATAFLOW', transform: () => 1 },
          a: CALLBACK,
          j: { type: 'CALLBACK', join: joinOf(1, true) },
        },
        edges: [edge('now', 'j'), edge('a', 'j')],
      }),
    );
    const { entries, commands } = run.give(start());
    expect(words(entries).slice(-3)).toEqual(['step_scheduled j 1', 'step_cancelling a 1', 'step_cancelled a 1']);
    expect(orders(commands)).toEqual(['dispatch j 1']);
  });
});

describe('a switch', () => {
  const ways = (chosen: string | null) =>
    planOf({
      steps: {
        pick: { type: 'SWITCH', choose: () => chosen },
        ...{ x: CALLBACK, y: CALLBACK, both: CALLBACK },
      },
      edges: [edge('pick', 'x', 'SUCCESS', null, 'x'), edge('pick', 'y', 'SUCCESS', null, 'y'), edge('pick', 'both')],
    });

  it('lets the edges of its case fire, and those without a case', () => {
    const run = drive(ways('y'));
    run.give(start());
    expect(statuses(run.state)).toEqual({ pick: 'COMPLETED', x: 'SKIPPED', y: 'SCHEDULED', both: 'SCHEDULED' });
    expect(Buffer.from(run.state.steps.get('pick')?.output?.data ?? []).toString()).toBe('{"case":"y"}');
  });

  it('lets no case fire when none was chosen', () => {
    const run = drive(ways(null));
    run.give(start());
    expect(statuses(run.state)).toEqual({ pick: 'COMPLETED', x: 'SKIPPED', y: 'SKIPPED', both: 'SCHEDULED' });
  });
});

describe('a timeout', () => {
  const plan = (edges: readonly PlanEdge[]) =>
    planOf({ steps: { s: { ...CALLBACK, timeoutMs: 1000 } as StepSpec, t: CALLBACK, f: CALLBACK }, edges });

  it('goes along TIMEOUT edges alone, whatever their conditions say', () => {
    const run = drive(plan([edge('s', 't', 'TIMEOUT'), edge('s', 'f', 'FAILURE')]));
    run.give(start());
    run.give(running('s', T0_US));
    run.nowUs = T0_US + 1_000_000;
    run.give(WAKE);
    expect(statuses(run.state)).toEqual({ s: 'FAILED', t: 'SCHEDULED', f: 'SKIPPED' });
    const refused = drive(plan([edge('s', 't', 'TIMEOUT', () => false), edge('s', 'f', 'FAILURE')]));
    refused.give(start());
    refused.give(failed('s', 1, { code: 'heartbeat_timeout' }));
    expect(refused.state).toMatchObject({ status: 'FAILED', error: { code: 'heartbeat_timeout' } });
  });

  it('goes along FAILURE edges where there is no other, and other failures never along TIMEOUT edges', () => {
    const run = drive(plan([edge('s', 'f', 'FAILURE')]));
    run.give(start());
    run.give(failed('s', 1, { code: 'timeout' }));
    expect(statuses(run.state)['f']).toBe('SCHEDULED');
    const other = drive(plan([edge('s', 't', 'TIMEOUT'), edge('s', 'f', 'FAILURE')]));
    other.give(start());
    other.give(failed('s'));
    expect(statuses(other.state)).toEqual({ s: 'FAILED', t: 'SKIPPED', f: 'SCHEDULED' });
  });
});

describe('steps that end the run', () => {
  it('stop what is under way and close once it has ended: COMPLETE with its output', () => {
    const run = drive(
      planOf({
        steps: { a: CALLBACK, b: CALLBACK, end: { type: 'COMPLETE', output: RUN_INPUT }, never: CALLBACK },
        edges: [edge('a', 'end'), edge('a', 'never')],
      }),
    );
    run.give(start({ n: 1 }));
    expect(words(run.give(completed('a')).entries)).toEqual([
      ...['step_completed a 1', 'step_completed end 0', 'run_ending', 'step_cancelling b 1'],
    ]);
    expect(run.state).toMatchObject({ status: 'RUNNING', ending: 'COMPLETED' });
    run.give(failed('b'));
    expect(run.state).toMatchObject({ status: 'COMPLETED', output: { kind: 'stepOutput', path: 'end' } });
    expect(statuses(run.state)).toEqual({ a: 'COMPLETED', b: 'FAILED', end: 'COMPLETED' });
  });

  it('FAIL with its code and message, also when the message cannot be computed', () => {
    const plan = (message: () => string) =>
      planOf({ steps: { b: CALLBACK, end: { type: 'FAIL', code: 'no_credit', message } } });
    const run = drive(plan(() => 'refused'));
    const { entries } = run.give(start());
    expect(words(entries).slice(-4)).toEqual([
      'run_failing',
      'step_cancelling b 1',
      'step_cancelled b 1',
      'run_closed',
    ]);
    expect(run.state).toMatchObject({
      status: 'FAILED',
      error: { code: 'no_credit', message: 'refused', step: 'end' },
    });
  });

  it('an unhandled failure with on_failure cancel stops the others, with drain lets them end', () => {
    const end = (onFailure: 'drain' | 'cancel') => {
      const run = drive(planOf({ steps: { a: CALLBACK, b: CALLBACK }, onFailure }));
      run.give(start());
      run.give(failed('a'));
      return statuses(run.state)['b'];
    };
    expect([end('drain'), end('cancel')]).toEqual(['SCHEDULED', 'CANCELLING']);
  });
});
