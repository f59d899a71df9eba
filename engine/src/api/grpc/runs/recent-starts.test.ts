import { expect, it } from 'vitest';
import { RecentStarts } from './recent-starts.js';

it('remembers the last 50,000 starts, each for its tenant', () => {
  const starts = new RecentStarts(() => 'node-1');
  for (let run = 0; run <= 50_000; run += 1) starts.add({ tenantId: 'a', runId: `run ${run}` });
  expect(starts.has({ tenantId: 'a', runId: 'run 0' })).toBe(false);
  expect(starts.has({ tenantId: 'a', runId: 'run 1' })).toBe(true);
  expect(starts.has({ tenantId: 'b', runId: 'run 1' })).toBe(false);
});

it('knows nothing of starts under another node id, nor under none', () => {
  let nodeId: string | null = 'node-1';
  const starts = new RecentStarts(() => nodeId);
  const run = { tenantId: 'a', runId: 'run' };
  starts.add(run);
  for (const [id, isKnown] of [
    ['node-2', false],
    [null, false],
    ['node-1', true],
  ] as const) {
    nodeId = id;
    expect(starts.has(run)).toBe(isKnown);
  }
  nodeId = null;
  starts.add({ ...run, runId: 'other' });
  nodeId = 'node-1';
  expect(starts.has({ ...run, runId: 'other' })).toBe(false);
});
