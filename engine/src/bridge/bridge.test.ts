import { describe, expect, it } from 'vitest';
import type { DeepPartial } from '../gen/google/protobuf/struct.js';
import { AckState, type TaskResult } from '../gen/ductor/v1/bridge.js';
import { DuctorError } from '../kernel/index.js';

import { MAX_VALUE_BYTES, type AttemptRef, type Task } from './ports.js';
import { bridgeHarness, HELLO, promises, workerId, type FakeWorker } from './testing/harness.js';
import { runId, task, tenantId } from './testing/tasks.js';

const NAME = `${tenantId(1)}/${workerId(1)}`;
const refOf = ({ tenantId: tenant, runId: run, path, attempt }: AttemptRef): AttemptRef => ({
  tenantId: tenant,
  runId: run,
  path,
  attempt,
});
const tasksOf = ({ received }: FakeWorker): string[] => received.flatMap(({ tasks }) => tasks.map((it) => it.runId));
const acksOf = ({ received }: FakeWorker): unknown[] => received.flatMap(({ acks }) => acks);
const abortsOf = ({ received }: FakeWorker): unknown[] => received.flatMap(({ aborts }) => aborts);
const some = (count: number, from = 0, parts: Partial<Task> = {}): Task[] =>
  Array.from({ length: count }, (_, run) => task({ runId: runId(from + run), ...parts }));

function resultOf(token: Buffer, it: AttemptRef, parts: DeepPartial<TaskResult> = {}): DeepPartial<TaskResult> {
  const { runId: run, path, attempt } = it;
  const outcome = { $case: 'output' as const, value: { data: Buffer.from('1'), encoding: '' } };
  return { resultId: 1n, runId: run, path, attempt, token, outcome, ...parts };
}

describe('hello', () => {
  it('is answered with the nodes and an outcome for each workflow', async () => {
    const { join, told } = bridgeHarness();
    const worker = await join();
    expect(worker.received[0]?.welcome).toEqual({
      nodeId: 'node',
      tenantId: tenantId(1),
      nodes: ['10.0.0.1:7400', '10.0.0.2:7400'],
      registrations: [{ familySlug: 'flow', version: 1, published: true, problems: [] }],
      heartbeatIntervalMs: 5_000,
    });
    expect(told.connected).toEqual([{ worker: NAME, holds: [] }]);
  });

  it('may bring a refused definition: the worker stays for its other workflows', async () => {
    const problem = { path: 'steps', value: '', problem: 'are missing', remedy: 'add some' };
    const { join, bridge, clock } = bridgeHarness({
      register: (_, { family_slug: slug }) =>
        slug === 'bad'
          ? Promise.reject(new DuctorError('invalid_definition', 'it is bad', { details: [problem] }))
          : Promise.resolve({ version: 3, isNew: false }),
    });
    const workflows = ['bad', 'flow'].map((familySlug) => ({ definition: { familySlug }, handlers: ['work'] }));
    const worker = await join({ workflows });
    expect(worker.received[0]?.welcome?.registrations).toEqual([
      { familySlug: 'bad', version: 0, published: false, problems: [problem] },
      { familySlug: 'flow', version: 3, published: false, problems: [] },
    ]);
    worker.send({ credits: 2 });
    bridge.dispatch([task({ runId: runId(1) }), task({ runId: runId(2), familySlug: 'bad' })]);
    clock.settle();
    expect(tasksOf(worker)).toEqual([runId(1)]);
  });

  it('fails when the database does', async () => {
    const failure = new DuctorError('database_unavailable', 'gone');
    const { join, told } = bridgeHarness({ register: () => Promise.reject(failure) });
    expect((await join()).ending).toBe(failure);
    expect(told.gone).toEqual([]);
  });

  it('must come first, in time, once, and within bounds', async () => {
    const { open, join, clock } = bridgeHarness();
    const silent = open();
    clock.advance(4_999);
    expect(silent.ending).toBeUndefined();
    clock.advance(1);
    expect(silent.ending?.code).toBe('worker_unresponsive');
    const eager = open();
    eager.send({ credits: 1 });
    expect(eager.ending?.code).toBe('invalid_argument');
    const twice = await join();
    twice.send({ hello: HELLO });
    expect(twice.ending?.code).toBe('invalid_argument');
    for (const hello of [
      { slots: 0 },
      { slots: 10_001 },
      { workerId: 'me' },
      { queues: [''] },
      { queues: ['a\0b'] },
      { queues: Array.from({ length: 101 }, (_, at) => `q${at}`) },
      { workflows: [{ handlers: ['x'] }] },
      { workflows: [{ definition: {}, handlers: ['x'.repeat(129)] }] },
      { workflows: Array.from({ length: 1_001 }, () => ({ definition: {} })) },
    ]) {
      expect((await join(hello)).ending?.code).toBe('invalid_argument');
    }
    expect((await join({ slots: 10_000 })).ending).toBeUndefined();
  });

  it('is refused while the node has no coordinator or goes away', async () => {
    const { bridge, open } = bridgeHarness();
    bridge.drain();
    expect(() => open()).toThrow(/takes no workers/);
  });

  it('is refused beyond the streams of a tenant, and leaves others alone', async () => {
    const { open } = bridgeHarness();
    const streams = Array.from({ length: 1_000 }, () => open());
    expect(() => open()).toThrow(/1000 streams/);
    open(2);
    streams[0]?.events.gone();
    open();
  });
});

describe('credits', () => {
  it('are what is sent at most; the rest waits, and the worker hears that it does, once', async () => {
    const { join, bridge, clock, told } = bridgeHarness();
    const worker = await join();
    bridge.dispatch(some(5));
    clock.settle();
    expect(tasksOf(worker)).toEqual([]);
    expect(worker.received.map(({ wanted }) => wanted)).toEqual([0, 5]);
    worker.send({ credits: 2 });
    worker.send({ pong: 99n });
    expect(tasksOf(worker)).toEqual([runId(0), runId(1)]);
    expect(worker.received.map(({ wanted }) => wanted)).toEqual([0, 5, 3]);
    expect(told.sent).toEqual([{ worker: NAME, refs: some(2) }]);
    worker.send({ credits: 10 });
    expect(tasksOf(worker)).toHaveLength(5);
    expect(bridge.stats()).toMatchObject({ queuedTasks: 0, attemptsOut: 5 });
  });

  it('are given back when they are not used', async () => {
    const { join, bridge, clock } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 3, revoke: 2 });
    worker.send({ revoke: 5 });
    worker.send({ revoke: 5 });
    expect(worker.received.flatMap(({ revoked }) => (revoked === undefined ? [] : [revoked]))).toEqual([2, 1, 0]);
    bridge.dispatch(some(1));
    clock.settle();
    expect(tasksOf(worker)).toEqual([]);
  });

  it('beyond the slots end the stream', async () => {
    const { join } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 10 });
    expect(worker.ending).toBeUndefined();
    worker.send({ credits: 1 });
    expect(worker.ending?.message).toMatch(/11 credits on one stream of 10 slots/);
  });

  it('do not count while the worker drains or the stream is full', async () => {
    const { join, bridge, clock } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 5 });
    worker.takesMore = false;
    bridge.dispatch(some(1));
    clock.settle();
    bridge.dispatch(some(1, 1));
    clock.settle();
    expect(tasksOf(worker)).toHaveLength(1);
    worker.takesMore = true;
    worker.events.drained();
    clock.settle();
    expect(tasksOf(worker)).toHaveLength(2);
    worker.send({ draining: true });
    bridge.dispatch(some(1, 2));
    clock.settle();
    expect(tasksOf(worker)).toHaveLength(2);
  });
});

describe('messages', () => {
  it('carry all tasks of a turn, cut at 1 MiB, and a larger value alone', async () => {
    const { join, bridge, clock } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 10 });
    const sized = (bytes: number, run: number): Task =>
      task({ runId: runId(run), input: { data: new Uint8Array(bytes), encoding: 'json' } });
    bridge.dispatch([
      sized(400_000, 1),
      sized(400_000, 2),
      sized(400_000, 3),
      sized(MAX_VALUE_BYTES, 4),
      ...some(3, 5),
    ]);
    clock.settle();
    const sizes = worker.received.slice(1).map(({ tasks }) => tasks.length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(7);
    const bytes = worker.received.map(({ tasks }) => tasks.map((it) => it.input?.data.length ?? 0));
    for (const message of bytes) {
      expect(message.length === 1 || message.reduce((sum, size) => sum + size, 0) <= 1024 * 1024).toBe(true);
    }
    expect(bytes.some((message) => message.length === 1 && message[0] === MAX_VALUE_BYTES)).toBe(true);
  });
});

describe('results', () => {
  it('are acknowledged after the coordinator said so, many in one message', async () => {
    const { join, bridge, clock, told, tokens } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 2 });
    const [one, two] = some(2);
    if (one === undefined || two === undefined) throw new TypeError('two tasks');
    bridge.dispatch([one, two]);
    clock.settle();
    worker.send({
      results: [resultOf(tokens.issue(one), one), resultOf(tokens.issue(two), two, { resultId: 2n })],
      credits: 2,
    });
    expect(acksOf(worker)).toEqual([]);
    expect(told.settled.map(({ ref }) => ref)).toEqual([refOf(one), refOf(two)]);
    expect(told.settled[0]?.outcome).toEqual({
      kind: 'completed',
      output: { data: Buffer.from('1'), encoding: 'json' },
    });
    const before = worker.received.length;
    told.settled[0]?.answer('recorded');
    told.settled[1]?.answer('already_settled');
    clock.settle();
    expect(worker.received).toHaveLength(before + 1);
    expect(acksOf(worker)).toEqual([
      { resultId: 1n, state: AckState.ACK_STATE_RECORDED, problem: '' },
      { resultId: 2n, state: AckState.ACK_STATE_ALREADY_SETTLED, problem: '' },
    ]);
    expect(bridge.stats().attemptsOut).toBe(0);
  });

  it('with a token of another attempt, tenant or maker are refused and change nothing', async () => {
    const { join, told, tokens } = bridgeHarness();
    const worker = await join();
    const mine = task();
    worker.send({
      results: [
        resultOf(tokens.issue({ ...mine, attempt: 2 }), mine),
        resultOf(tokens.issue({ ...mine, tenantId: tenantId(2) }), mine),
        resultOf(Buffer.alloc(24), mine),
        resultOf(Buffer.alloc(0), mine),
        resultOf(tokens.issue(mine), { ...mine, path: 'x'.repeat(2_000) }),
      ],
    });
    expect(told.settled).toEqual([]);
    expect(acksOf(worker)).toEqual(
      Array.from({ length: 5 }, () => expect.objectContaining({ state: AckState.ACK_STATE_REFUSED })),
    );
    expect(worker.ending).toBeUndefined();
  });

  it('that are too large fail the attempt for good and are acknowledged with the reason', async () => {
    const { join, clock, told, tokens } = bridgeHarness();
    const worker = await join();
    const value = { data: Buffer.alloc(MAX_VALUE_BYTES + 1), encoding: 'json' };
    worker.send({ results: [resultOf(tokens.issue(task()), task(), { outcome: { $case: 'output', value } })] });
    expect(told.settled[0]?.outcome).toMatchObject({ kind: 'failed', code: 'value_too_large', nonRetryable: true });
    told.settled[0]?.answer('recorded');
    clock.settle();
    expect(acksOf(worker)).toEqual([
      expect.objectContaining({ state: AckState.ACK_STATE_RECORDED, problem: expect.stringMatching(/2097153 bytes/) }),
    ]);
  });

  it('carry failures with bounded texts, cancellations, and say so when they carry nothing', async () => {
    const { join, told, tokens } = bridgeHarness();
    const worker = await join();
    const token = tokens.issue(task());
    const error = { code: 'c'.repeat(999), message: 'm'.repeat(99_999), stack: 's'.repeat(99_999), retryAfterMs: 9 };
    worker.send({
      results: [
        resultOf(token, task(), { outcome: { $case: 'error', value: error } }),
        resultOf(token, task(), { outcome: { $case: 'cancelled', value: {} } }),
        { ...resultOf(token, task()), outcome: undefined },
      ],
    });
    expect(told.settled.map(({ outcome }) => outcome)).toEqual([
      {
        kind: 'failed',
        code: 'c'.repeat(128),
        message: 'm'.repeat(8_192),
        stack: 's'.repeat(32_768),
        nonRetryable: false,
        retryAfterMs: 9,
      },
      { kind: 'cancelled' },
      expect.objectContaining({ kind: 'failed', code: 'invalid_argument' }),
    ]);
  });

  it('that pile up in the coordinator stop the reading', async () => {
    const { join, clock, told, tokens } = bridgeHarness();
    const worker = await join({ slots: 1 });
    const token = tokens.issue(task());
    for (let sent = 0; sent < 1_005; sent += 1) worker.send({ results: [resultOf(token, task())] });
    expect(worker.isPaused).toBe(true);
    told.settled[0]?.answer('recorded');
    clock.settle();
    expect(worker.isPaused).toBe(false);
  });
});

describe('aborts', () => {
  it('take a task off the queue, or reach the worker that has it', async () => {
    const { join, bridge, clock } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 1 });
    const [out, queued, unknown] = some(3);
    if (out === undefined || queued === undefined || unknown === undefined) throw new TypeError('three tasks');
    bridge.dispatch([out, queued]);
    clock.settle();
    const orders = [out, queued, unknown].map((it) => ({ ...refOf(it), reason: 'cancelled' as const }));
    expect(bridge.abort(orders).map(refOf)).toEqual([refOf(queued)]);
    clock.settle();
    expect(abortsOf(worker)).toEqual([{ runId: out.runId, path: 'work', attempt: 1, reason: 'cancelled' }]);
  });

  it('are said again to a worker that comes back with the attempt', async () => {
    const { join, bridge, clock, tokens } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 1 });
    bridge.dispatch([task()]);
    clock.settle();
    worker.events.gone();
    expect(bridge.abort([{ ...refOf(task()), reason: 'timed_out' }])).toEqual([]);
    const holds = [{ ...refOf(task()), token: tokens.issue(task()) }];
    const again = await join({ inventory: { holds } });
    expect(abortsOf(again)).toEqual([expect.objectContaining({ reason: 'timed_out' })]);
  });
});

describe('workers that come and go', () => {
  it('are gone with their last stream, and name what they hold when they are back', async () => {
    const { join, bridge, clock, told, tokens } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 2 });
    const [kept, lost] = some(2);
    if (kept === undefined || lost === undefined) throw new TypeError('two tasks');
    bridge.dispatch([kept, lost]);
    clock.settle();
    worker.events.gone();
    expect(told.gone).toEqual([NAME]);
    const forged = { ...refOf(lost), token: Buffer.alloc(24) };
    const again = await join({ inventory: { holds: [{ ...refOf(kept), token: tokens.issue(kept) }, forged] } });
    expect(told.connected.at(-1)).toEqual({ worker: NAME, holds: [refOf(kept)] });
    again.send({ credits: 2 });
    bridge.dispatch([kept, lost]);
    clock.settle();
    expect(tasksOf(again)).toEqual([lost.runId]);
  });

  it('get an attempt again whose worker the coordinator has given up', async () => {
    const { join, bridge, clock } = bridgeHarness();
    const first = await join();
    first.send({ credits: 1 });
    bridge.dispatch([task()]);
    clock.settle();
    const second = await join({ workerId: workerId(2) });
    second.send({ credits: 1 });
    bridge.dispatch([task()]);
    clock.settle();
    expect(tasksOf(second)).toEqual([]);
    first.events.gone();
    bridge.dispatch([task()]);
    clock.settle();
    expect(tasksOf(second)).toEqual([task().runId]);
  });

  it('of another tenant with the same id are other workers', async () => {
    const { join, told } = bridgeHarness();
    const mine = await join();
    await join({}, 2);
    mine.events.gone();
    expect(told.gone).toEqual([NAME]);
    expect(told.connected.map(({ worker }) => worker)).toEqual([NAME, `${tenantId(2)}/${workerId(1)}`]);
  });

  it('with a second stream: the first gets nothing until it shows life, and is ended when it does not', async () => {
    const { join, bridge, clock, told } = bridgeHarness();
    const dead = await join();
    dead.send({ credits: 5 });
    bridge.dispatch([task()]);
    clock.settle();
    const fresh = await join();
    expect(dead.received.at(-1)?.ping).toBe(1n);
    fresh.send({ credits: 5 });
    bridge.dispatch(some(4, 10));
    clock.settle();
    expect([tasksOf(dead).length, tasksOf(fresh).length]).toEqual([1, 4]);
    clock.advance(1_000);
    expect(dead.ending?.code).toBe('worker_superseded');
    // What went down with it is asked for, and proven lost by an absence before the answer.
    expect(fresh.received.at(-1)?.inventoryRequest).toBe(true);
    expect(told.gone).toEqual([]);
    fresh.send({ inventory: { holds: [] } });
    expect(told.gone).toEqual([NAME]);
    expect(told.connected.at(-1)?.holds.map((ref) => ref.runId)).toEqual(some(4, 10).map((it) => it.runId));
    bridge.dispatch([task()]);
    clock.settle();
    expect(tasksOf(fresh)).toContain(task().runId);
  });

  it('with two living streams keep both', async () => {
    const { join, bridge, clock, told } = bridgeHarness();
    const one = await join();
    one.send({ credits: 2 });
    const two = await join();
    two.send({ credits: 2 });
    one.send({ pong: 1n });
    clock.advance(1_000);
    bridge.dispatch(some(4));
    clock.settle();
    expect([tasksOf(one).length, tasksOf(two).length]).toEqual([2, 2]);
    expect([one.ending, two.ending, told.gone.length]).toEqual([undefined, undefined, 0]);
  });

  it('are forgotten after a while', async () => {
    const { join, bridge, clock } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 1 });
    bridge.dispatch([task()]);
    clock.settle();
    worker.events.gone();
    expect(bridge.stats()).toMatchObject({ attemptsOut: 1, workers: 0, sessions: 0 });
    clock.advance(120_000);
    expect(bridge.stats().attemptsOut).toBe(0);
  });

  it('are asked for their inventory on demand', async () => {
    const { join, bridge, clock, told } = bridgeHarness();
    const worker = await join();
    expect(bridge.inventory()).toEqual([NAME]);
    clock.settle();
    expect(worker.received.at(-1)?.inventoryRequest).toBe(true);
    worker.send({ inventory: { holds: [] } });
    expect(told.connected).toHaveLength(2);
    expect(told.gone).toEqual([]);
  });
});

describe('pings', () => {
  it('end a stream that leaves three unanswered', async () => {
    const { join, clock } = bridgeHarness();
    const worker = await join();
    clock.advance(5_000);
    expect(worker.received.at(-1)?.ping).toBe(1n);
    worker.send({ pong: 1n });
    clock.advance(5_000);
    // An answer to an older ping is none.
    worker.send({ pong: 1n });
    clock.advance(10_000);
    expect(worker.ending).toBeUndefined();
    clock.advance(5_000);
    expect(worker.ending?.code).toBe('worker_unresponsive');
  });

  it('go through the queue of messages: a stream that takes none is ended, too', async () => {
    const { join, clock, told } = bridgeHarness();
    const worker = await join();
    worker.takesMore = false;
    clock.advance(20_000);
    expect(worker.ending?.code).toBe('worker_unresponsive');
    expect(told.gone).toEqual([NAME]);
  });
});

describe('the end', () => {
  it('of a worker that has finished sending waits for its acknowledgements', async () => {
    const { join, clock, told, tokens } = bridgeHarness();
    const worker = await join();
    worker.send({ results: [resultOf(tokens.issue(task()), task())] });
    worker.events.finished();
    clock.settle();
    expect(worker.ending).toBeUndefined();
    told.settled[0]?.answer('recorded');
    clock.settle();
    expect(acksOf(worker)).toHaveLength(1);
    expect(worker.ending).toBeNull();
  });

  it('of the node is announced, and comes after what is still to be sent', async () => {
    const { join, bridge, clock, told, tokens } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 5 });
    bridge.drain();
    bridge.dispatch(some(1));
    clock.settle();
    expect(worker.received.at(-1)?.draining).toBe(true);
    expect(tasksOf(worker)).toEqual([]);
    worker.send({ results: [resultOf(tokens.issue(task()), task())] });
    told.settled[0]?.answer('recorded');
    bridge.close();
    expect(acksOf(worker)).toHaveLength(1);
    expect(worker.ending).toBeNull();
    await promises();
    clock.settle();
  });
});

describe('room', () => {
  it('refuses what is too much and tells when there is some again', async () => {
    const limits = { maxTasks: 100, maxBytes: 1e6, maxTasksPerTenant: 2 };
    const { join, bridge, clock, told } = bridgeHarness({ queueLimits: limits });
    bridge.dispatch(some(5));
    clock.settle();
    expect(bridge.stats()).toMatchObject({ queuedTasks: 2, refusedTasks: 3 });
    const worker = await join();
    worker.send({ credits: 5 });
    expect(told.rechecked).toEqual([2, 3, 4].map((run) => ({ tenantId: tenantId(1), runId: runId(run) })));
    bridge.dispatch(some(5));
    clock.settle();
    expect(tasksOf(worker)).toHaveLength(4);
  });

  it('forgets what waits of shards that move, and nothing that is out', async () => {
    const { join, bridge, clock } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 1 });
    bridge.dispatch(some(3));
    clock.settle();
    bridge.dropShards([0, 1]);
    expect(bridge.stats()).toMatchObject({ queuedTasks: 1, attemptsOut: 1 });
  });
});
