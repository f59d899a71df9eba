import { describe, expect, it } from 'vitest';
import { AckState } from '../../gen/ductor/v1/bridge.js';
import { MAX_VALUE_BYTES, type Task } from '../ports.js';
import { bridgeHarness, workerId } from '../testing/harness.js';
import { acksOf, refOf, resultOf, some, tasksOf, two } from '../testing/seen.js';
import { runId, task, tenantId } from '../testing/tasks.js';

const NAME = `${tenantId(1)}/${workerId(1)}`;

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
    const [one, other] = two();
    bridge.dispatch([one, other]);
    clock.settle();
    worker.send({
      results: [resultOf(tokens.issue(one), one), resultOf(tokens.issue(other), other, { resultId: 2n })],
      credits: 2,
    });
    expect(acksOf(worker)).toEqual([]);
    expect(told.settled.map(({ ref }) => ref)).toEqual([refOf(one), refOf(other)]);
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

  it('with the token sent are taken, also again; with one sent for another attempt they are not', async () => {
    const { join, bridge, clock, told } = bridgeHarness();
    const worker = await join();
    worker.send({ credits: 2 });
    const [mine, other] = two();
    bridge.dispatch([mine, other]);
    clock.settle();
    const sent = worker.received.flatMap(({ tasks }) => tasks.map((it) => it.token));
    const [token = Buffer.alloc(0), othersToken = Buffer.alloc(0)] = sent;
    worker.send({ results: [resultOf(othersToken, mine), resultOf(token, other)] });
    expect(told.settled).toEqual([]);
    worker.send({ results: [resultOf(token, mine)] });
    told.settled[0]?.answer('recorded');
    worker.send({ results: [resultOf(token, mine)] });
    expect(told.settled.map(({ ref }) => ref)).toEqual([refOf(mine), refOf(mine)]);
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
