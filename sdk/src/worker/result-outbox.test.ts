import { describe, expect, it } from 'vitest';
import { type Result, ResultOutbox, attemptKey } from './result-outbox.js';

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
    const outbox = new ResultOutbox<string>();
    outbox.add(result('r1'), 's1');
    const [sent] = outbox.take(straight).get('s1') ?? [];
    expect(sent?.runId).toBe('r1');
    expect(outbox.take(straight).size).toBe(0);
    expect(outbox.size).toBe(1);
    expect(outbox.acknowledge(sent?.resultId ?? 0n)?.runId).toBe('r1');
    expect(outbox.size).toBe(0);
    expect(outbox.acknowledge(sent?.resultId ?? 0n)).toBeUndefined();
  });

  it('sends again what a lost stream carried, under a new number; the old one means nothing any more', () => {
    const outbox = new ResultOutbox<string>();
    outbox.add(result('r1'), 's1');
    const [first] = outbox.take(straight).get('s1') ?? [];
    outbox.lost('s1');
    const [second] = outbox.take(() => 's2').get('s2') ?? [];
    expect(second?.resultId).not.toBe(first?.resultId);
    expect(outbox.acknowledge(first?.resultId ?? 0n)).toBeUndefined();
    expect(outbox.acknowledge(second?.resultId ?? 0n)?.runId).toBe('r1');
  });

  it('holds a result back while no stream is ready', () => {
    const outbox = new ResultOutbox<string>();
    outbox.add(result('r1'), 's1');
    expect(outbox.take(() => undefined).size).toBe(0);
    expect(outbox.take(straight).get('s1')).toHaveLength(1);
  });

  it('renews the token when the attempt is dispatched again', () => {
    const outbox = new ResultOutbox<string>();
    outbox.add(result('r1'), 's1');
    outbox.take(straight);
    outbox.renew(attemptKey(result('r1')), Buffer.from('new'), 's2');
    expect(outbox.take(straight).get('s2')?.[0]?.token.toString()).toBe('new');
    expect(outbox.size).toBe(1);
  });
});
