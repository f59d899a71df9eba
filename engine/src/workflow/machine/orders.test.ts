import { describe, expect, it } from 'vitest';
import { CANCEL, completed, drive, failed, RUN_ID, running, start, T0_US, WAKE } from '../testing/drive.js';
import { outputOf, planOf, sequence } from '../testing/plan-builder.js';
import {
  abortsOf,
  dispatchesOf,
  emptyRun,
  headerChanged,
  headerOf,
  isActive,
  resolveSource,
  runOutput,
  stateBytes,
  taskOf,
  wakeAtUs,
  type RunInput,
} from './index.js';

const REF = { tenantId: 'tenant', runId: RUN_ID };

describe('headerOf', () => {
  it('tells what a list of runs and a takeover need', () => {
    const run = drive(sequence('a'));
    run.give({ kind: 'start', input: { data: Buffer.from('1'), encoding: 'json' }, attributes: { region: 'north' } });
    const header = {
      ...REF,
      shard: 0x57,
      familySlug: 'test',
      version: 1,
      startedAtUs: T0_US,
      attributes: { region: 'north' },
      rootId: null,
      parentId: null,
      chain: null,
    };
    expect(headerOf(run.state)).toEqual({
      ...header,
      status: 'RUNNING',
      active: true,
      wakeAtUs: null,
      closedAtUs: null,
    });
    run.give(failed('a'));
    const wakeUs = T0_US + 1_000_000;
    expect(headerOf(run.state)).toEqual({
      ...header,
      status: 'WAITING',
      active: false,
      wakeAtUs: wakeUs,
      closedAtUs: null,
    });
    run.nowUs = wakeUs;
    run.give(WAKE);
    run.give(completed('a', 1, 2));
    expect(headerOf(run.state)).toEqual({
      ...header,
      status: 'COMPLETED',
      active: false,
      wakeAtUs: null,
      closedAtUs: wakeUs,
    });
  });

  it('is to be written at start, close and changes others see, not for every tick', () => {
    const run = drive(
      planOf({
        steps: {
          a: { type: 'CALLBACK' },
          b: { type: 'CALLBACK' },
          late: { type: 'WAIT', wakeAtUs: (_scope, nowUs) => nowUs + 9e6 },
          soon: { type: 'WAIT', wakeAtUs: (_scope, nowUs) => nowUs + 5e6 },
        },
      }),
    );
    const written = (...inputs: readonly RunInput[]): boolean => {
      const before = run.state;
      run.give(...inputs);
      return headerChanged(before, run.state);
    };
    expect(written(start())).toBe(true);
    expect(written(running('a', T0_US))).toBe(false);
    expect(written(completed('a'))).toBe(false);
    expect(written(completed('a'))).toBe(false);
    expect(written(completed('b'))).toBe(true);
    expect(isActive(run.state)).toBe(false);
    run.nowUs += 5e6;
    expect(written(WAKE)).toBe(true);
    run.nowUs += 4e6;
    expect(written(WAKE)).toBe(true);
  });
});

describe('taskOf', () => {
  it('is what a worker needs, the input by value', () => {
    const run = drive(
      planOf({
        steps: {
          a: { type: 'CALLBACK' },
          b: { type: 'CALLBACK', input: outputOf('a'), queue: 'gpu', timeoutMs: 7000 },
        },
        edges: [{ sourceRef: 'a', targetRef: 'b', type: 'SUCCESS', condition: null, case: null }],
      }),
    );
    run.give(start());
    expect(taskOf(run.plan, run.state, 'b')).toBeUndefined();
    run.give(completed('a', { n: 1 }));
    expect(taskOf(run.plan, run.state, 'b')).toEqual({
      ...REF,
      path: 'b',
      attempt: 1,
      familySlug: 'test',
      version: 1,
      handler: 'b',
      queue: 'gpu',
      input: run.state.steps.get('a')?.output,
      idempotencyKey: `${RUN_ID}/b`,
      timeoutMs: 7000,
      heartbeatTimeoutMs: null,
      lastProgress: null,
      ...{ priority: 3, fairnessKey: '', slots: 1 },
    });
    expect(taskOf(run.plan, run.state, 'a')).toBeUndefined();
    expect(taskOf(run.plan, run.state, 'ghost')).toBeUndefined();
  });
});

describe('after a takeover', () => {
  it('the state alone tells which attempts must be out, and who has them', () => {
    const run = drive(planOf({ steps: { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK' }, c: { type: 'CALLBACK' } } }));
    expect(dispatchesOf(emptyRun(REF))).toEqual([]);
    run.give(start());
    run.give(running('b', T0_US), completed('c'));
    expect(dispatchesOf(run.state)).toEqual([
      { ...REF, path: 'a', attempt: 1, worker: null },
      { ...REF, path: 'b', attempt: 1, worker: 'w1' },
    ]);
    expect(abortsOf(run.state)).toEqual([]);
    run.give(CANCEL);
    expect(dispatchesOf(run.state)).toEqual([]);
    expect(abortsOf(run.state).map(({ path, reason }) => [path, reason])).toEqual([
      ['a', 'cancelled'],
      ['b', 'cancelled'],
    ]);
  });

  it('a parked run has none', () => {
    const run = drive(sequence('a'));
    run.give(start());
    run.give({ kind: 'park', code: 'x', message: '' });
    expect(dispatchesOf(run.state)).toEqual([]);
    expect(abortsOf(run.state)).toEqual([]);
  });
});

describe('values', () => {
  it('are found by their source', () => {
    const run = drive(sequence('a'));
    run.give(start('in'));
    expect(Buffer.from(resolveSource(run.state, { kind: 'runInput' }, 'a').data).toString()).toBe('"in"');
    expect(() => resolveSource(run.state, { kind: 'stepOutput', path: 'a' }, 'a')).toThrow(/value-source.*step a/);
    expect(runOutput(run.state)).toBeNull();
    expect(wakeAtUs(run.state)).toBeNull();
  });

  it('weigh what they weigh', () => {
    const light = drive(sequence('a'));
    light.give(start());
    const heavy = drive(sequence('a'));
    heavy.give({ kind: 'start', input: { data: Buffer.alloc(5000, 0x31), encoding: 'json' }, attributes: { k: 'v' } });
    expect(stateBytes(heavy.state) - stateBytes(light.state)).toBeGreaterThan(4900);
    const before = stateBytes(light.state);
    light.give(completed('a', 'x'.repeat(3000)));
    expect(stateBytes(light.state) - before).toBeGreaterThan(3000);
    const failing = drive(sequence('a'));
    failing.give(start());
    failing.give(failed('a', 1, { nonRetryable: true, stack: 'y'.repeat(2000) }));
    expect(stateBytes(failing.state)).toBeGreaterThan(4000);
  });
});
