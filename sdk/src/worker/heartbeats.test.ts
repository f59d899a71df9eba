import { describe, expect, it } from 'vitest';
import { Task, type TaskHeartbeat } from '../gen/ductor/v1/bridge.js';
import type { System } from '../connection/system.js';
import { Heartbeats } from './heartbeats.js';
import { outcomeOfError } from './attempt-outcome.js';

/** A machine whose time passes by hand. */
function handClock() {
  let now = 0;
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  const system: System = {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return { cancel: () => (timers = timers.filter((one) => one !== timer)) };
    },
    keepAlive: () => ({ cancel: () => undefined }),
    nextTurn: (callback) => callback(),
    random: () => 0,
    uuid: () => '',
  };
  const pass = (ms: number): void => {
    now += ms;
    const due = timers.filter(({ at }) => at <= now);
    timers = timers.filter(({ at }) => at > now);
    for (const { run } of due) run();
  };
  return { system, pass, waiting: () => timers.length };
}

function started(heartbeatTimeoutMs = 0) {
  const clock = handClock();
  const sent: unknown[] = [];
  const send = ({ progress }: TaskHeartbeat): void =>
    void sent.push(progress === undefined ? 'alive' : JSON.parse(String(progress.data)));
  const task = Task.fromPartial({ runId: 'r', path: 'p', attempt: 1, heartbeatTimeoutMs });
  return { ...clock, sent, task, beats: new Heartbeats(clock.system, send) };
}

describe('heartbeats of a worker', () => {
  it('go at once, then the last of many after the interval', () => {
    const { beats, task, sent, pass, waiting } = started();
    for (let page = 1; page <= 50; page += 1) beats.beat(task, { page });
    expect(sent).toEqual([{ page: 1 }]);
    pass(999);
    expect(sent).toHaveLength(1);
    pass(1);
    expect(sent).toEqual([{ page: 1 }, { page: 50 }]);
    expect(waiting()).toBe(0);
  });

  it('come four times within a heartbeat timeout', () => {
    const { beats, task, sent, pass } = started(800);
    for (let at = 0; at < 800; at += 10) {
      beats.beat(task, undefined);
      pass(10);
    }
    expect(sent.length).toBeGreaterThanOrEqual(4);
    expect(sent.length).toBeLessThanOrEqual(6);
    expect(new Set(sent)).toEqual(new Set(['alive']));
  });

  it('keep what was reported when a sign of life without progress follows', () => {
    const { beats, task, sent, pass } = started();
    beats.beat(task, undefined);
    beats.beat(task, { page: 3 });
    beats.beat(task, undefined);
    pass(1000);
    expect(sent).toEqual(['alive', { page: 3 }]);
  });

  it('let the last report go before the result, and nothing after it', () => {
    const { beats, task, sent, pass, waiting } = started();
    beats.beat(task, 1);
    beats.beat(task, 2);
    beats.end(task);
    expect(sent).toEqual([1, 2]);
    expect(waiting()).toBe(0);
    pass(10_000);
    beats.end(task);
    expect(sent).toEqual([1, 2]);
  });

  it('refuse progress that the engine would not keep', () => {
    const { beats, task, sent } = started();
    expect(() => beats.beat(task, 'x'.repeat(64 * 1024))).toThrow(expect.objectContaining({ code: 'value_too_large' }));
    expect(sent).toEqual([]);
  });
});

describe('an attempt that ran out of time', () => {
  it('is known as a timeout, whatever its body threw', () => {
    const outcome = outcomeOfError(new RangeError('stopped as told'), 'timed_out');
    expect(outcome).toMatchObject({ $case: 'error', value: { code: 'timeout', nonRetryable: false } });
    expect(outcomeOfError(new RangeError('x'), 'cancelled')).toEqual({ $case: 'cancelled', value: {} });
    expect(outcomeOfError(new RangeError('x'), undefined)).toMatchObject({ value: { code: 'RangeError' } });
  });
});
