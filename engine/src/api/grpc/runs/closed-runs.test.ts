import { describe, expect, it } from 'vitest';
import { manualClock } from '../../../kernel/testing/manual-clock.js';
import { ClosedRuns } from './closed-runs.js';

const key = (run: number, tenantId = 'a'): { tenantId: string; runId: string } => ({ tenantId, runId: `run ${run}` });
const ended = (
  bytes = 1,
): { status: 'COMPLETED'; output: { data: Buffer; encoding: string }; error: null; continuedAs: null } => ({
  status: 'COMPLETED',
  output: { data: Buffer.alloc(bytes), encoding: 'json' },
  error: null,
  continuedAs: null,
});

describe('ClosedRuns', () => {
  it('remembers an end for its tenant and for a while', () => {
    const clock = manualClock();
    const runs = new ClosedRuns(clock);
    runs.add(key(1), ended());
    expect(runs.get(key(1))?.status).toBe('COMPLETED');
    expect(runs.get(key(1, 'b'))).toBeUndefined();
    expect(runs.get(key(2))).toBeUndefined();
    clock.advance(30_000);
    expect(runs.get(key(1))).toBeUndefined();
  });

  it('keeps within its bounds; the oldest go first', () => {
    const runs = new ClosedRuns(manualClock());
    for (let run = 0; run < 20_001; run += 1) runs.add(key(run), ended());
    expect([runs.get(key(0)), runs.get(key(1))?.status]).toEqual([undefined, 'COMPLETED']);
    runs.add(key(30_000), ended(31 * 1024 * 1024));
    runs.add(key(30_001), ended(1024 * 1024));
    expect([runs.get(key(20_000)), runs.get(key(30_000))]).toEqual([undefined, undefined]);
    expect(runs.get(key(30_001))?.status).toBe('COMPLETED');
  });

  it('counts a run that ends twice once', () => {
    const runs = new ClosedRuns(manualClock());
    for (let times = 0; times < 100; times += 1) runs.add(key(1), ended(1024 * 1024));
    expect(runs.get(key(1))?.status).toBe('COMPLETED');
  });
});
