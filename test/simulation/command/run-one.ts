/** One seed, to be looked at. */
import { runSeed } from '../scenario/run-seed.js';
import type { CommandOptions } from './options.js';
import { showFailure } from './run-many.js';
import { bugNamed } from './task.js';

/** Runs one seed twice, shows what became of it. Returns whether all is well. */
export async function runOne(seed: number, options: CommandOptions, say: (line: string) => void): Promise<boolean> {
  const bug = options.bug === null ? undefined : bugNamed(options.bug);
  const shared = { without: new Set(options.without), ...(bug === undefined ? {} : { bug }) };
  const report = await runSeed(seed, options.isTraced ? { ...shared, print: say } : shared);
  const again = await runSeed(seed, shared);
  const isSame = again.hash === report.hash;
  if (report.violations.length > 0) await showFailure(report, say);
  say(`seed ${seed}: ${report.events} events, ${report.runs} runs, ${(report.virtualMs / 1000).toFixed(1)} virtual s`);
  say(
    `faults: ${Object.entries(report.struck)
      .map(([kind, times]) => `${kind} ${times}`)
      .join(', ')}`,
  );
  say(
    `marks: ${Object.entries(report.marks)
      .map(([mark, times]) => `${mark} ${times}`)
      .join(', ')}`,
  );
  say(`trace ${report.hash}${isSame ? '' : `, the second time ${again.hash}`}`);
  const failed = (report.violations.length > 0 ? 1 : 0) + (isSame ? 0 : 1);
  say(`${2 - failed} passed, ${failed} failed`);
  return failed === 0;
}
