/** Bodies: items of a list side by side, iterations one after another, within limits, and their failures. */
import { describe, expect, it } from 'vitest';
import { decodeEntries, encodeEntries } from '../journal/index.js';
import { CANCEL, completed, drive, failed, jsonOf, orders, result, start, statuses, words } from '../testing/drive.js';
import type { DrivenRun } from '../testing/drive.js';
import { edge, ITEM, joinOf, outputOf, planOf, template, VARS, type StepSpec } from '../testing/plan-builder.js';
import { emptyRun, explainRun, fold, runOutput, taskOf, wakeAtUs } from './index.js';
import type { Plan, Template, Value } from './index.js';

const POST: StepSpec = { type: 'CALLBACK', input: ITEM, retry: { maxAttempts: 1 } };

/** `offer` over the run's input, `all` collects what `post` answers. */
function offers(more: Partial<StepSpec & { readonly type: 'SCATTER' }> = {}, plan: Partial<Plan> = {}): DrivenRun {
  const body = { steps: { post: POST }, output: outputOf('post') };
  return drive({
    ...planOf({
      steps: { offer: { type: 'SCATTER', body, ...more }, all: { type: 'GATHER', of: 'offer' } },
      edges: [edge('offer', 'all')],
      output: outputOf('all'),
    }),
    ...plan,
  });
}

function outputOfRun(run: DrivenRun): unknown {
  return jsonOf(runOutput(run.state));
}

describe('a scatter', () => {
  it('runs its body for each item, so many at a time, and gathers in the order of the items', () => {
    const run = offers({ maxParallel: 2 });
    const { entries, commands } = run.give(start(['a', { b: [1, '],'] }, ' c ']));
    expect(words(entries)).toEqual([
      ...['run_started', 'step_opened offer', 'step_scheduled offer[0]/post 1', 'step_scheduled offer[1]/post 1'],
    ]);
    expect(orders(commands)).toEqual(['dispatch offer[0]/post 1', 'dispatch offer[1]/post 1']);
    expect(jsonOf(taskOf(run.plan, run.state, 'offer[1]/post')?.input ?? null)).toEqual({ b: [1, '],'] });
    expect(explainRun(run.state)).toMatchObject({ step: 'offer[0]/post', others: 2 });
    const second = run.give(completed('offer[1]/post', 'B'));
    expect(words(second.entries)).toEqual([
      ...['step_completed offer[1]/post 1', 'body_completed offer', 'step_scheduled offer[2]/post 1'],
    ]);
    expect(run.state.steps.has('offer[1]/post')).toBe(false);
    run.give(completed('offer[2]/post', 'C'));
    const last = run.give(completed('offer[0]/post', 'A'));
    expect(words(last.entries).slice(2)).toEqual(['step_completed offer 0', 'step_collected all', 'run_closed']);
    expect(outputOfRun(run)).toEqual(['A', 'B', 'C']);
    expect(jsonOf(run.state.steps.get('offer')?.output ?? null)).toMatchObject({ count: 3, completed: 3, failed: 0 });
  });

  it('is over at once when there is nothing to do, and fails over what is no list', () => {
    const none = offers();
    none.give(start([]));
    expect([none.state.status, outputOfRun(none)]).toEqual(['COMPLETED', []]);
    const odd = offers();
    odd.give(start({ a: 1 }));
    expect(odd.state.error).toMatchObject({ code: 'expression_failed', step: 'offer' });
  });

  it('fails with the first failure, and stops what is under way as the workflow says', () => {
    const drain = offers();
    drain.give(start([1, 2]));
    const { entries } = drain.give(failed('offer[0]/post'));
    expect(words(entries)).toEqual(['step_failed offer[0]/post 1', 'body_failed offer', 'step_closing offer']);
    expect(words(drain.give(completed('offer[1]/post')).entries)).toEqual([
      ...['step_completed offer[1]/post 1', 'body_cancelled offer', 'step_failed offer 0', 'run_failing', 'run_closed'],
    ]);
    expect(drain.state.error).toMatchObject({ code: 'boom', step: 'offer[0]/post', message: 'item 0: it broke' });
    const cancel = offers({}, { onFailure: 'cancel' });
    cancel.give(start([1, 2]));
    expect(orders(cancel.give(failed('offer[0]/post')).commands)).toEqual(['abort offer[1]/post 1 cancelled']);
    cancel.give(result('offer[1]/post', 1, { kind: 'cancelled' }));
    expect(cancel.state.status).toBe('FAILED');
  });

  it('tolerates as many failures as it says, and shows them', () => {
    const run = offers({ tolerated: 1 });
    run.give(start([1, 2, 3]));
    run.give(failed('offer[0]/post'), completed('offer[1]/post', 'B'), completed('offer[2]/post', 'C'));
    expect(run.state.status).toBe('COMPLETED');
    expect(outputOfRun(run)).toEqual([null, 'B', 'C']);
    const failures = [{ index: 0, code: 'boom', message: 'it broke' }];
    expect(jsonOf(run.state.steps.get('offer')?.output ?? null)).toEqual({
      count: 3,
      completed: 2,
      failed: 1,
      failures,
    });
    const many = offers({ tolerated: 1 });
    many.give(start([1, 2, 3]));
    many.give(failed('offer[0]/post'), failed('offer[2]/post'), completed('offer[1]/post'));
    expect(many.state.error).toMatchObject({ message: 'item 2 is failure 2 of 3 items, 1 may fail: it broke' });
  });

  it.each([
    ['null', [null, 'B']],
    ['skip', ['B']],
    ['error', [{ error: { code: 'boom', message: 'it broke' } }, 'B']],
  ] as const)('shows failed items as %s', (shown, list) => {
    const body = { steps: { post: POST }, output: outputOf('post') };
    const scatter: StepSpec = { type: 'SCATTER', body, tolerated: 1 };
    const all: StepSpec = { type: 'GATHER', of: 'offer', failed: shown };
    const run = drive(
      planOf({ steps: { offer: scatter, all }, edges: [edge('offer', 'all')], output: outputOf('all') }),
    );
    run.give(start([1, 2]));
    run.give(failed('offer[0]/post'), completed('offer[1]/post', 'B'));
    expect(outputOfRun(run)).toEqual(list);
  });

  it('gathers items as what they were, whatever their types, and runs bodies for items of such a list', () => {
    const each = (items?: Template): StepSpec => ({
      type: 'SCATTER',
      body: { steps: { post: POST }, output: outputOf('post') },
      ...(items !== undefined && { items }),
    });
    const run = drive(
      planOf({
        steps: {
          offer: each(),
          all: { type: 'GATHER', of: 'offer' },
          again: each(outputOf('all')),
          end: { type: 'GATHER', of: 'again' },
        },
        edges: [edge('offer', 'all'), edge('all', 'again'), edge('again', 'end')],
        output: outputOf('end'),
      }),
    );
    run.give(start([1, 2, 3]));
    const outputs: readonly Value[] = [
      { data: Buffer.from('{"json":{"cents":"5"},"types":[[["cents"],"bigint"]]}'), encoding: 'json-typed' },
      { data: Buffer.from('"plain"'), encoding: 'json' },
      { data: Buffer.from([255, 0]), encoding: 'codec/mine' },
    ];
    const answer = (scatter: string) =>
      outputs.map((output, at) => result(`${scatter}[${at}]/post`, 1, { kind: 'completed', output }));
    run.give(...answer('offer'));
    const inputs = outputs.map((_, at) => taskOf(run.plan, run.state, `again[${at}]/post`)?.input);
    expect(inputs.map((input) => [String(input?.data), input?.encoding])).toEqual(
      outputs.map(({ data, encoding }) => [String(data), encoding]),
    );
    run.give(...answer('again'));
    const list = runOutput(run.state);
    expect([list?.encoding, JSON.parse(String(list?.data))]).toEqual([
      'json-typed',
      {
        json: [{ cents: '5' }, 'plain', { encoding: 'codec/mine', data: '/wA=' }],
        types: [
          [[0, 'cents'], 'bigint'],
          [[2], 'encoded'],
        ],
      },
    ]);
  });

  it('reads a list of before lists kept types as what it was then', () => {
    const run = offers();
    run.give(start([1]));
    const output = { data: Buffer.from('{"json":"5","types":[[[],"bigint"]]}'), encoding: 'json-typed' };
    run.give(result('offer[0]/post', 1, { kind: 'completed', output }));
    let [now, then] = [emptyRun(run.state), emptyRun(run.state)];
    for (const row of run.rows) {
      const entries = decodeEntries(row.entries);
      now = fold(now, entries, row);
      const old = entries.map((entry) => (entry.kind === 'step_collected' ? { ...entry, isTyped: false } : entry));
      then = fold(then, old, row);
    }
    expect([runOutput(now)?.encoding, jsonOf(runOutput(then))]).toEqual(['json-typed', ['5']]);
  });

  it('nests, each step with its own items and those of the bodies around it', () => {
    const input = template((scope) => [scope.stepOutput('head'), scope.item?.(), scope.index?.()]);
    const inner: StepSpec = {
      type: 'SCATTER',
      items: ITEM,
      body: { steps: { post: { type: 'CALLBACK', input } }, output: outputOf('post') },
    };
    const run = drive(
      planOf({
        steps: {
          offer: {
            type: 'SCATTER',
            body: {
              steps: {
                head: { type: 'DATAFLOW', transform: ({ index }) => index?.() },
                inner,
                all: { type: 'GATHER', of: 'inner' },
              },
              edges: [edge('head', 'inner'), edge('inner', 'all')],
              output: outputOf('all'),
            },
          },
          lists: { type: 'GATHER', of: 'offer' },
        },
        edges: [edge('offer', 'lists')],
        output: outputOf('lists'),
      }),
    );
    run.give(start([['a'], ['b', 'c'], []]));
    const task = taskOf(run.plan, run.state, 'offer[1]/inner[1]/post');
    expect(jsonOf(task?.input ?? null)).toEqual([1, 'c', 1]);
    run.give(completed('offer[1]/inner[0]/post', 1), completed('offer[0]/inner[0]/post', 2));
    run.give(completed('offer[1]/inner[1]/post', 3));
    expect(outputOfRun(run)).toEqual([[2], [1, 3], []]);
  });

  it('is cancelled with all that is under way', () => {
    const run = offers({ maxParallel: 2 });
    run.give(start([1, 2, 3]));
    expect(orders(run.give(CANCEL).commands)).toEqual([
      'abort offer[0]/post 1 cancelled',
      'abort offer[1]/post 1 cancelled',
    ]);
    run.give(completed('offer[0]/post'));
    expect(run.state.status).toBe('CANCELLING');
    run.give(result('offer[1]/post', 1, { kind: 'cancelled' }));
    expect([run.state.status, run.state.steps.get('offer')?.status]).toEqual(['CANCELLED', 'CANCELLED']);
  });

  it('loses a race with all that is under way', () => {
    const scatter: StepSpec = { type: 'SCATTER', body: { steps: { post: POST } } };
    const first: StepSpec = { type: 'CALLBACK', join: joinOf(1, true) };
    const run = drive(
      planOf({
        steps: { offer: scatter, quick: { type: 'CALLBACK' }, first },
        edges: [edge('offer', 'first'), edge('quick', 'first')],
      }),
    );
    run.give(start([1, 2]));
    const { entries } = run.give(completed('quick'));
    expect(words(entries)).toEqual([
      ...['step_completed quick 1', 'step_scheduled first 1', 'step_closing offer'],
      ...['step_cancelling offer[0]/post 1', 'step_cancelling offer[1]/post 1'],
    ]);
    run.give(result('offer[0]/post', 1, { kind: 'cancelled' }), completed('offer[1]/post'));
    expect(statuses(run.state)).toMatchObject({ offer: 'CANCELLED', first: 'SCHEDULED' });
    run.give(completed('first'));
    expect(run.state.status).toBe('COMPLETED');
  });

  it('parks for attempts that are exhausted, but not for failures that it tolerates', () => {
    const strict = offers({}, { onExhausted: 'park' });
    strict.give(start([1]));
    strict.give(failed('offer[0]/post'));
    expect(strict.state.parked).toMatchObject({ code: 'attempts_exhausted', step: 'offer[0]/post' });
    strict.give({ kind: 'retry', requestedBy: 'me' }, completed('offer[0]/post', 'A', 2));
    expect(outputOfRun(strict)).toEqual(['A']);
    const lenient = offers({ tolerated: 1 }, { onExhausted: 'park' });
    lenient.give(start([1]));
    lenient.give(failed('offer[0]/post'));
    expect(lenient.state.status).toBe('COMPLETED');
  });

  it('begins no more than so many items in a tick, and goes on by itself', () => {
    const step: StepSpec = { type: 'DATAFLOW', transform: (scope) => scope.item?.() };
    const body = { steps: { post: step }, output: outputOf('post') };
    const run = offers({ body });
    const list = Array.from({ length: 1201 }, (_, index) => index);
    const { entries } = run.give(start(list));
    expect(entries.length).toBeLessThan(1100);
    expect(run.state.status).toBe('RUNNING');
    expect(explainRun(run.state)).toMatchObject({ kind: 'body', step: 'offer' });
    for (let ticks = 0; run.state.closedAtUs === null; ticks += 1) {
      expect(ticks).toBeLessThan(5);
      run.nowUs = wakeAtUs(run.state) ?? run.nowUs;
      run.give({ kind: 'wake' });
    }
    expect(outputOfRun(run)).toEqual(list);
  });

  it('cannot gather more than one value holds, but runs to its end without that', () => {
    const big = 'x'.repeat(700_000);
    const run = offers();
    run.give(start([1, 2, 3]));
    run.give(completed('offer[0]/post', big), completed('offer[1]/post', big), completed('offer[2]/post', big));
    expect(run.state.error).toMatchObject({ code: 'value_too_large', step: 'all' });
    expect(run.state.steps.bytes).toBeLessThan(10_000);
    const free = offers({ keeps: false });
    free.give(start([1]));
    expect(words(free.give(completed('offer[0]/post', big)).entries)).toContain('body_completed offer');
    expect(free.state.steps.get('offer')?.body).toBeNull();
  });

  it('writes as much for an item of many as for one of few, and keeps as little', () => {
    const written = (count: number): { readonly bytes: number; readonly state: number } => {
      const run = offers({ maxParallel: 10, keeps: false });
      run.give(start(Array.from({ length: count }, () => 'item')));
      let state = 0;
      for (let index = 0; index < count; index += 1) {
        run.give(completed(`offer[${index}]/post`));
        if (index === count / 2) state = run.state.steps.bytes;
      }
      const bytes = run.facts
        .filter(({ kind }) => kind !== 'run_started')
        .map((fact) => encodeEntries([fact]).byteLength);
      return { bytes: bytes.reduce((sum, one) => sum + one, 0) / count, state };
    };
    const [few, many] = [written(100), written(1000)];
    expect(many.bytes / few.bytes).toBeLessThan(1.1);
    expect(many.bytes).toBeLessThan(110);
    expect(many.state).toBeLessThan(few.state + 100);
  });
});

describe('a loop', () => {
  const poll = (more: Partial<StepSpec & { readonly type: 'LOOP' }> = {}): DrivenRun =>
    drive(
      planOf({
        steps: {
          poll: {
            type: 'LOOP',
            vars: template(() => 'first'),
            until: (scope) => scope.stepOutput('check') === 'done',
            maxIterations: 3,
            body: {
              steps: { check: { type: 'CALLBACK', input: VARS, retry: { maxAttempts: 1 } } },
              output: outputOf('check'),
            },
            ...more,
          },
        },
        output: outputOf('poll'),
      }),
    );

  it('runs its body until its condition holds, each iteration with what the last one came to', () => {
    const run = poll();
    run.give(start());
    expect(jsonOf(taskOf(run.plan, run.state, 'poll[0]/check')?.input ?? null)).toBe('first');
    expect(words(run.give(completed('poll[0]/check', 'second')).entries)).toEqual([
      ...['step_completed poll[0]/check 1', 'body_completed poll', 'step_scheduled poll[1]/check 1'],
    ]);
    expect(jsonOf(taskOf(run.plan, run.state, 'poll[1]/check')?.input ?? null)).toBe('second');
    const { entries } = run.give(completed('poll[1]/check', 'done'));
    expect(words(entries).slice(1)).toEqual(['body_completed poll', 'step_collected poll', 'run_closed']);
    expect([run.state.status, outputOfRun(run)]).toEqual(['COMPLETED', 'done']);
  });

  it('fails after its last iteration, and with a failure in it', () => {
    const long = poll();
    long.give(start());
    for (const index of [0, 1, 2]) long.give(completed(`poll[${index}]/check`, 'more'));
    expect(long.state.error).toMatchObject({ code: 'limit_exceeded', step: 'poll' });
    const broken = poll();
    broken.give(start());
    broken.give(failed('poll[0]/check'));
    expect(broken.state.error).toMatchObject({ code: 'boom', step: 'poll[0]/check' });
  });

  it('handles failures inside, waits, and goes on with the time', () => {
    const body = {
      steps: {
        check: { type: 'CALLBACK', retry: { maxAttempts: 1 } } as const,
        mend: { type: 'DATAFLOW', transform: () => 'mended' } as const,
        pause: { type: 'WAIT', wakeAtUs: (_: unknown, nowUs: number) => nowUs + 1_000_000 } as const,
      },
      edges: [edge('check', 'mend', 'FAILURE'), edge('check', 'pause', 'ALWAYS')],
    };
    const run = poll({ body, until: (scope) => scope.stepOutput('check') !== undefined });
    run.give(start());
    run.give(failed('poll[0]/check'));
    expect(run.state.status).toBe('WAITING');
    run.nowUs += 1_000_000;
    run.give({ kind: 'wake' });
    expect(statuses(run.state)).toEqual({ poll: 'OPEN', 'poll[1]/check': 'SCHEDULED' });
    run.give(completed('poll[1]/check', 'done'));
    run.nowUs += 1_000_000;
    run.give({ kind: 'wake' });
    expect(run.state.status).toBe('COMPLETED');
  });

  it('reads the items of a scatter around it', () => {
    const loop: StepSpec = {
      type: 'LOOP',
      until: () => true,
      maxIterations: 1,
      body: { steps: { check: { type: 'CALLBACK', input: ITEM } }, output: outputOf('check') },
    };
    const run = offers({ body: { steps: { loop }, output: outputOf('loop') } });
    run.give(start(['a', 'b']));
    expect(jsonOf(taskOf(run.plan, run.state, 'offer[1]/loop[0]/check')?.input ?? null)).toBe('b');
    run.give(completed('offer[0]/loop[0]/check', 1), completed('offer[1]/loop[0]/check', 2));
    expect(outputOfRun(run)).toEqual([1, 2]);
  });
});
