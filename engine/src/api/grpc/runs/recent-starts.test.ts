import { expect, it } from 'vitest';
import { RecentStarts } from './recent-starts.js';

it('remembers the last 50,000 starts, each for its tenant', () => {
  const starts = new RecentStarts();
  for (let run = 0; run <= 50_000; run += 1) starts.add({ tenantId: 'a', runId: `run ${run}` });
  expect(starts.has({ tenantId: 'a', runId: 'run 0' })).toBe(false);
  expect(starts.has({ tenantId: 'a', runId: 'run 1' })).toBe(true);
  expect(starts.has({ tenantId: 'b', runId: 'run 1' })).toBe(false);
});
