import { describe, expect, it } from 'vitest';
import { shardOf } from '../../kernel/index.js';
import { CANCEL, completed, drive, jsonOf, PAUSE, result, RESUME, start, TERMINATE, words } from '../testing/drive.js';
import { edge, outputOf, planOf, template } from '../testing/plan-builder.js';
import type { DrivenRun } from '../testing/drive.js';
import { advance, jsonValue, wakeAtUs, type Plan, type RunState } from './index.js';

const NEXT = '01890a5d-ac96-774b-bcce-b302099a8157';
const poll = planOf({
  steps: { ask: { type: 'CALLBACK' }, again: { type: 'CONTINUE_AS_NEW', input: outputOf('ask') } },
  edges: [edge('ask', 'again')],
  timeoutMs: 60_000,
});
/** The same with a step beside it that has to be stopped first. */
const beside = planOf({
  steps: { ask: { type: 'CALLBACK' }, slow: { type: 'CALLBACK' }, again: { type: 'CONTINUE_AS_NEW' } },
  edges: [edge('ask', 'again')],
});

function started(plan: Plan): DrivenRun {
  const run = drive(plan);
  run.give(start({ turn: 1 }));
  return run;
}

function go(plan: Plan, state: RunState, ...inputs: Parameters<typeof advance>[2]) {
  const shards: (number | undefined)[] = [];
  const newId = (shard?: number): string => (shards.push(shard), NEXT);
  return { ...advance(plan, state, inputs, { nowUs: state.atUs + 1_000_000, seed: 1, newId }), shards };
}

describe('a step that continues as new', () => {
  it('ends the run, and begins its successor with its input, its deadline and its attributes', () => {
    const run = started(poll);
    const { state, entries, successor, shards } = go(poll, run.state, completed('ask', { turn: 2 }));
    expect(words(entries)).toEqual(['step_completed ask 1', 'step_completed again 0', 'run_continuing', 'run_closed']);
    expect(state).toMatchObject({ status: 'CONTINUED', continuedAs: NEXT, output: null, error: null });
    expect(shards).toEqual([shardOf(run.state.runId)]);
    expect(jsonOf(successor?.state.input ?? null)).toEqual({ turn: 2 });
    expect(successor?.state).toMatchObject({
      ...{ runId: NEXT, status: 'RUNNING', seq: 1, version: 1, familySlug: 'test' },
      ...{ startedAtUs: state.atUs, deadlineUs: state.atUs + 60_000_000 },
      chain: { chainId: run.state.runId, previousId: run.state.runId, no: 2 },
    });
  });

  it('counts on, and keeps the first run as the chain', () => {
    const run = started(poll);
    const second = go(poll, run.state, completed('ask')).successor?.state ?? expect.fail('no successor');
    const begun = go(poll, second, { kind: 'wake' }).state;
    const third = go(poll, begun, completed('ask')).successor?.state.chain;
    expect(third).toEqual({ chainId: run.state.runId, previousId: NEXT, no: 3 });
  });

  it('waits until what runs beside it has stopped', () => {
    const run = started(beside);
    expect(words(run.give(completed('ask')).entries)).toEqual([
      ...['step_completed ask 1', 'step_completed again 0', 'run_continuing', 'step_cancelling slow 1'],
    ]);
    expect(run.state).toMatchObject({ status: 'RUNNING', ending: 'CONTINUED' });
    expect(run.give(result('slow', 1, { kind: 'cancelled' })).successor).not.toBeNull();
    expect(run.state.status).toBe('CONTINUED');
  });

  it('gives way to a cancel, a pause and a termination that come before its end', () => {
    const stopped = result('slow', 1, { kind: 'cancelled' });
    const cancelled = started(beside);
    cancelled.give(completed('ask'));
    expect(cancelled.give(CANCEL).dispositions).toEqual(['applied']);
    expect(cancelled.give(stopped).successor).toBeNull();
    expect(cancelled.state).toMatchObject({ status: 'CANCELLED', continuing: null, continuedAs: null });
    const paused = started(beside);
    paused.give(completed('ask'));
    paused.give(PAUSE);
    expect(paused.give(stopped).successor).toBeNull();
    expect(paused.state.status).toBe('PAUSED');
    expect(paused.give(RESUME).successor).not.toBeNull();
    const terminated = started(beside);
    terminated.give(completed('ask'));
    expect(terminated.give(TERMINATE).successor).toBeNull();
    expect(terminated.state.status).toBe('TERMINATED');
  });

  it('goes on with the current version where it says so, and fails when that does not allow the input', () => {
    const steps = { again: { type: 'CONTINUE_AS_NEW' as const, isCurrent: true } };
    const plan = planOf({ steps });
    const current = { ...planOf({ steps, version: 4, timeoutMs: 1_000 }) };
    const give = (more: object) =>
      advance(plan, drive(plan).state, [start()], { nowUs: 5, seed: 1, newId: () => NEXT, ...more });
    expect(give({ current }).successor?.state).toMatchObject({ version: 4, deadlineUs: 1_000_005 });
    expect(give({}).successor?.state).toMatchObject({ version: 1, deadlineUs: null });
    const refusing = { ...current, checkInput: () => ['input.n: is missing'] };
    expect(give({ current: refusing }).state).toMatchObject({
      status: 'FAILED',
      error: { code: 'invalid_argument', step: 'again', message: expect.stringContaining('version 4') },
    });
  });

  it('fails the run when its input cannot be computed', () => {
    const bad = template(() => 'x'.repeat(3 * 1024 * 1024));
    const run = started(planOf({ steps: { again: { type: 'CONTINUE_AS_NEW', input: bad } } }));
    expect(run.state).toMatchObject({ status: 'FAILED', error: { code: 'value_too_large', step: 'again' } });
  });

  it('undoes nothing', () => {
    const plan = planOf({
      steps: {
        ask: { type: 'CALLBACK' },
        undo: { type: 'CALLBACK', compensates: { sourceRef: 'ask', condition: null } },
        again: { type: 'CONTINUE_AS_NEW' },
      },
      edges: [edge('ask', 'again')],
    });
    const run = started(plan);
    run.give(completed('ask'));
    expect(run.state.status).toBe('CONTINUED');
  });
});

describe('a successor', () => {
  const first = go(poll, started(poll).state, completed('ask', 1)).successor?.state ?? expect.fail('no successor');

  it('begins with the first tick, whatever brings it', () => {
    expect(wakeAtUs(first)).toBe(first.startedAtUs);
    expect(words(go(poll, first, { kind: 'wake' }).entries)).toEqual(['step_scheduled ask 1']);
    expect(words(go(poll, first, CANCEL).entries)).toEqual(['cancel_requested', 'run_closed']);
    const paused = go(poll, first, PAUSE).state;
    expect([paused.status, wakeAtUs(paused), paused.steps.size]).toEqual(['PAUSED', null, 0]);
    expect(words(go(poll, paused, RESUME).entries)).toEqual(['run_resumed', 'step_scheduled ask 1']);
  });

  it('has the signals that no step took, and receives none of the chain twice', () => {
    const signal = { kind: 'signal', name: 'ping', id: 'one', payload: jsonValue({ n: 1 }), by: 'me' } as const;
    const run = started(poll);
    run.give(signal);
    const next = go(poll, run.state, completed('ask')).successor?.state ?? expect.fail('no successor');
    expect(next.signals?.waiting).toMatchObject([{ name: 'ping', id: 'one' }]);
    const begun = go(poll, next, { kind: 'wake' }).state;
    expect(go(poll, begun, signal).dispositions).toEqual(['ignored']);
    expect(go(poll, next, { ...signal, id: 'two' }).state.signals?.waiting).toHaveLength(2);
  });

  it('is one child to its parent, which hears of the end of the chain alone', () => {
    const family = { rootId: 'root', parentId: 'parent', parentPath: 'child', notifies: true };
    const run = drive(poll);
    run.give({ ...start(), birth: { familySlug: 'test', version: 1, family } } as ReturnType<typeof start>);
    const ended = go(poll, run.state, completed('ask'));
    expect(ended.messages).toEqual([]);
    const next = ended.successor?.state ?? expect.fail('no successor');
    expect(next.family).toEqual(family);
    const begun = go(poll, next, { kind: 'wake' }).state;
    expect(go(poll, begun, TERMINATE).messages).toEqual([
      { runId: 'parent', input: expect.objectContaining({ kind: 'child_closed', runId: run.state.runId }) },
    ]);
  });
});
