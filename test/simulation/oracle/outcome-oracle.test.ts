import { describe, expect, it } from 'vitest';
import { doTask } from '../command/task.js';
import { runSeed } from '../scenario/run-seed.js';

const PATIENCE_MS = 300_000;

describe('what runs come to', () => {
  it('is compared with the machine in one process, in every world', { timeout: PATIENCE_MS }, async () => {
    const { compared, runs, violations } = await runSeed(1);
    expect(violations).toEqual([]);
    expect(compared).toBeGreaterThan(3);
    expect(compared).toBeLessThan(runs);
  });

  it.each(['outputs_swapped', 'conditions_forgotten'])('finds %s by it', { timeout: PATIENCE_MS }, async (name) => {
    const answer = await doTask({ kind: 'bug', name, seeds: 40 });
    const said = expect.stringMatching(/^run \S+ of \w+ \d+ came to .+, not \{/);
    expect(answer).toMatchObject({ kind: 'bug', seed: expect.any(Number), violation: said });
  });
});
