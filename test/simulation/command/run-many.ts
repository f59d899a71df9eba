/** Many seeds in processes: the kept ones, the fresh ones, some of them twice, and the planted bugs. */
import { PLANTED_BUGS, CANARY } from '../planted/bugs.js';
import type { SeedReport } from '../scenario/run-seed.js';
import { BUG_SEEDS, goalLines, goalsOf } from './goals.js';
import { keepSeeds, keptSeeds } from './kept-seeds.js';
import type { CommandOptions } from './options.js';
import { runInProcesses } from './pool.js';
import { shrinkFaults } from './shrink.js';
import { Summary } from './summary.js';
import type { Task } from './task.js';

/** Seeds that run a second time in another process. */
const TWICE = 10;
const PROGRESS_EVERY = 100;
/** Failing seeds that are shown at length. */
const SHOWN = 3;
const TAIL_LINES = 40;

/** Tasks of each process, and those that any process takes when it has room: the longest first. */
interface TaskPlan {
  readonly own: readonly (readonly Task[])[];
  readonly shared: readonly Task[];
}

/** Those that run twice do so in two processes, whatever they come to. */
function plan(options: CommandOptions): TaskPlan {
  const own: Task[][] = Array.from({ length: options.jobs }, () => []);
  const put = (index: number, task: Task): void => void own[index % options.jobs]?.push(task);
  const fresh = Array.from({ length: options.seeds }, (_, index) => options.from + index);
  const seeds = [...new Set([...keptSeeds(), ...fresh])];
  for (const [index, seed] of seeds.slice(0, TWICE).entries()) put(index, { kind: 'seed', seed });
  for (const [index, seed] of seeds.slice(0, TWICE).entries()) put(index + 1, { kind: 'again', seed });
  const bugs = options.hunts ? [CANARY, ...PLANTED_BUGS] : [];
  const hunts = bugs.map(({ name }): Task => ({ kind: 'bug', name, seeds: BUG_SEEDS }));
  return { own, shared: [...hunts, ...seeds.slice(TWICE).map((seed): Task => ({ kind: 'seed', seed }))] };
}

/** Shows a failing seed: what is wrong, what it takes, how it came to it, how to see it again. */
export async function showFailure(report: SeedReport, say: (line: string) => void): Promise<void> {
  say(`\nSEED ${report.seed} FAILED`);
  for (const violation of report.violations.slice(0, 5)) say(`  ${violation}`);
  if (report.violations.length > 5) say(`  and ${report.violations.length - 5} more`);
  say(`  faults drawn: ${report.faults.join(', ')}`);
  say(`  of which it takes: ${(await shrinkFaults(report.seed, report.faults)).join(', ') || 'none'}`);
  for (const line of report.tail.slice(-TAIL_LINES)) say(`  ${line}`);
  say(`  again: npm run simulate -- --seed ${report.seed} --trace`);
}

/** Runs many seeds. Returns whether all is well. */
export async function runMany(
  options: CommandOptions,
  say: (line: string) => void,
  nowMs: () => number,
): Promise<boolean> {
  const startMs = nowMs();
  const summary = new Summary();
  const { own, shared } = plan(options);
  await runInProcesses(own, shared, (answer) => {
    summary.add(answer);
    if (answer.kind === 'seed' && answer.report.violations.length > 0) {
      say(`seed ${answer.report.seed} failed: ${answer.report.violations[0] ?? ''}`);
    }
    if (answer.kind !== 'seed' || summary.seeds % PROGRESS_EVERY !== 0) return;
    say(`${summary.seeds} seeds, ${summary.failed.length} failed, ${((nowMs() - startMs) / 1000).toFixed(1)} s`);
  });
  for (const report of summary.failed.slice(0, SHOWN)) await showFailure(report, say);
  for (const line of summary.lines(nowMs() - startMs)) say(line);
  for (const { seed, violations } of summary.failed) say(`FAILED seed ${seed}: ${violations[0] ?? ''}`);
  for (const seed of summary.differing) say(`FAILED seed ${seed}: two runs of it gave two traces`);
  for (const name of summary.uncaught()) say(`FAILED planted bug ${name}: not caught within ${BUG_SEEDS} seeds`);
  for (const mark of summary.missingMarks()) say(`FAILED mark ${mark}: never reached`);
  if (options.keeps && summary.failed.length > 0) keepSeeds(summary.failed.map((report) => report.seed));
  const goals = goalsOf(summary.figures());
  for (const line of ['goals:', ...goalLines(goals)]) say(line);
  const { passed, failed } = summary.counts();
  const missed = options.requires ? goals.filter(({ isMet }) => !isMet).length : 0;
  const met = options.requires ? goals.length - missed : 0;
  say(`${passed + met} passed, ${failed + missed} failed`);
  return failed + missed === 0;
}
