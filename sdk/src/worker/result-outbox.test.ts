import { describe, expect, it } from 'vitest';
import { type Result, ResultOutbox, attemptKey, counter } from './result-outbox.js';

const result = (runId: string): Result => ({
  runId,
  path: 'a',
  attempt: 1,
  token: Buffer.from(runId),
  outcome: { $case: 'cancelled', value: {} },
});
const straight = (origin: string): string => origin;

describe('ResultOutbox', () => {
  it('keeps a result until it is acknowledged, and sends it once meanwhile', () => {
    const outbox = new ResultOutbox<string>(counter(), attemptKey);
    outbox.add(result('r1'), 's1');
    const [sent] = outbox.take(straight, 0).get('s1') ?? [];
    expect(sent?.runId).toBe('r1');
    expect(outbox.take(straight, 0).size).toBe(0);
    expect(outbox.size).toBe(1);
    expect(outbox.acknowledge(sent?.resultId ?? 0n)?.runId).toBe('r1');
    expect(outbox.size).toBe(0);
    expect(outbox.acknowledge(sent?.resultId ?? 0n)).toBeUndefined();
  });

  it('sends again what a lost stream carried, under a new number; the old one means nothing any more', () => {
    const outbox = new ResultOutbox<string>(counter(), attemptKey);
    outbox.add(result('r1'), 's1');
    const [first] = outbox.take(straight, 0).get('s1') ?? [];
    outbox.lost('s1');
    const [second] = outbox.take(() => 's2', 0).get('s2') ?? [];
    expect(second?.resultId).not.toBe(first?.resultId);
    expect(outbox.acknowledge(first?.resultId ?? 0n)).toBeUndefined();
    expect(outbox.acknowledge(second?.resultId ?? 0n)?.runId).toBe('r1');
  });

  it('holds a result back while no stream is ready', () => {
    const outbox = new ResultOutbox<string>(counter(), attemptKey);
    outbox.add(result('r1'), 's1');
    expect(outbox.take(() => undefined, 0).size).toBe(0);
    expect(outbox.take(straight, 0).get('s1')).toHaveLength(1);
  });

  it('renews the token when the attempt is dispatched again', () => {
    const outbox = new ResultOutbox<string>(counter(), attemptKey);
    outbox.add(result('r1'), 's1');
    outbox.take(straight, 0);
    outbox.renew(attemptKey(result('r1')), Buffer.from('new'), 's2');
    expect(outbox.take(straight, 0).get('s2')?.[0]?.token.toString()).toBe('new');
    expect(outbox.size).toBe(1);
  });

  it('sends a result by another stream when its acknowledgement is late, and takes either acknowledgement', () => {
    const outbox = new ResultOutbox<string>(counter(), attemptKey);
    const other = (origin: string, late: string | undefined): string => (late === origin ? 's2' : origin);
    for (const firstWins of [true, false]) {
      outbox.add(result('r1'), 's1');
      const [first] = outbox.take(other, 1_000).get('s1') ?? [];
      outbox.hurry(2_999, 2_000);
      expect(outbox.take(other, 2_999).size).toBe(0);
      outbox.hurry(3_000, 2_000);
      const [second] = outbox.take(other, 3_000).get('s2') ?? [];
      expect(second?.runId).toBe('r1');
      const [winner, loser] = firstWins ? [first, second] : [second, first];
      expect(outbox.acknowledge(winner?.resultId ?? 0n)?.runId).toBe('r1');
      expect(outbox.acknowledge(loser?.resultId ?? 0n)).toBeUndefined();
      expect(outbox.size).toBe(0);
      outbox.hurry(60_000, 2_000);
      expect(outbox.take(other, 60_000).size).toBe(0);
    }
  });

  it('waits twice as long before each further time', () => {
    const outbox = new ResultOutbox<string>(counter(), attemptKey);
    const sentAtMs: number[] = [];
    outbox.add(result('r1'), 's1');
    for (let nowMs = 0; nowMs <= 30_000; nowMs += 500) {
      outbox.hurry(nowMs, 2_000);
      if (outbox.take(straight, nowMs).size > 0) sentAtMs.push(nowMs);
    }
    expect(sentAtMs).toEqual([0, 2_000, 6_000, 14_000, 30_000]);
  });

  it('stays out on one stream when the other that carried it is lost', () => {
    const outbox = new ResultOutbox<string>(counter(), attemptKey);
    outbox.add(result('r1'), 's1');
    outbox.take(straight, 0);
    outbox.hurry(2_000, 2_000);
    const [second] = outbox.take(() => 's2', 2_000).get('s2') ?? [];
    outbox.lost('s1');
    expect(outbox.take(straight, 2_000).size).toBe(0);
    expect(outbox.acknowledge(second?.resultId ?? 0n)?.runId).toBe('r1');
  });
});
