/**
 * `npm run simulate`: the real machine and the real coordinator in a simulated world (docs/simulation.md).
 * Exits with 1 when something failed; the last line says how much passed and failed.
 */
import { DuctorError } from '../../engine/src/kernel/index.js';
import { readOptions, USAGE } from './command/options.js';
import { runMany } from './command/run-many.js';
import { runOne } from './command/run-one.js';

const say = (line: string): void => console.log(line);

/** Does what the command line says. */
async function main(args: readonly string[]): Promise<boolean> {
  const options = readOptions(args);
  if (options.seed !== null) return runOne(options.seed, options, say);
  return runMany(options, say, () => performance.now());
}

try {
  process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
} catch (error) {
  say(`${DuctorError.from(error).message}\n${USAGE}\n0 passed, 1 failed`);
  process.exitCode = 1;
}
