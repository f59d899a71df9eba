import { describe, expect, it } from 'vitest';
import { keptSeeds } from './command/kept-seeds.js';
import { runInProcesses } from './command/pool.js';
import { showFailure } from './command/run-many.js';
import { doTask, type Answer } from './command/task.js';
import { FAULT_KINDS } from './faults.js';
import { MARK_NAMES } from './marks.js';
import { CANARY, PLANTED_BUGS } from './planted/bugs.js';
import { runSeed } from './scenario/run-seed.js';

/** Other builds may need the machine at the same time. */
const PATIENCE_MS = 300_000;
const FRESH_SEEDS = Array.from({ length: 12 }, (_, index) => index + 1);
const SEEDS = [...new Set([...FRESH_SEEDS, ...keptSeeds()])];

/** Hash of a seed's trace as another process gives it. */
async function hashElsewhere(seed: number): Promise<string | undefined> {
  const answers: Answer[] = [];
  await runInProcesses([[{ kind: 'seed', seed }]], [], (answer) => answers.push(answer));
  const [answer] = answers;
  return answer === undefined || answer.kind === 'bug' ? undefined : answer.report.hash;
}

describe('the simulated world', () => {
  it.each(SEEDS)('of seed %i holds all promises and comes to its end', { timeout: PATIENCE_MS }, async (seed) => {
    const { violations, runs } = await runSeed(seed);
    expect(violations).toEqual([]);
    expect(runs).toBeGreaterThan(0);
  });

  it('is the same for the same seed, also in another process', { timeout: PATIENCE_MS }, async () => {
    const first = await runSeed(7);
    const second = await runSeed(7);
    expect(second.hash).toBe(first.hash);
    expect(await hashElsewhere(7)).toBe(first.hash);
    expect((await runSeed(8)).hash).not.toBe(first.hash);
  });

  it('knows the kinds of faults and the rare branches it has to', () => {
    expect(FAULT_KINDS.length).toBeGreaterThanOrEqual(24);
    expect(MARK_NAMES.length).toBeGreaterThanOrEqual(60);
    expect(PLANTED_BUGS.length).toBeGreaterThanOrEqual(20);
  });
});

/** `npm run simulate` hunts them all. */
const HUNTED = ['fence_removed', 'ack_before_commit', 'key_forgotten'];

describe('a planted bug', () => {
  it.each(HUNTED)('%s is caught within 100 seeds', { timeout: PATIENCE_MS }, async (name) => {
    const answer = await doTask({ kind: 'bug', name, seeds: 100 });
    expect(answer).toMatchObject({ kind: 'bug', name, seed: expect.any(Number) });
  });

  it('as plain as the canary fails at once, and tells how to see it again', { timeout: PATIENCE_MS }, async () => {
    const report = await runSeed(1, { bug: CANARY });
    expect(report.violations.length).toBeGreaterThan(0);
    const lines: string[] = [];
    await showFailure(report, (line) => lines.push(line));
    const text = lines.join('\n');
    expect(text).toContain('SEED 1 FAILED');
    expect(text).toContain(report.violations[0]);
    expect(text).toContain(`faults drawn: ${report.faults.join(', ')}`);
    expect(text).toContain('npm run simulate -- --seed 1 --trace');
    expect(lines.filter((line) => /^ {2} +\d+\.\d{6} /.test(line)).length).toBeGreaterThan(10);
  });
});
