/**
 * `npm run demo`. Starts an engine with an embedded PostgreSQL and the example app, runs leads through a workflow while
 * engine and worker are killed, and ends red when an effect is missing or was had twice.
 *
 *     npm run demo                      exit 0 when all is well
 *     npm run demo -- --plant-double    adds a second effect to the ledger: must end red
 */
import { parseArgs } from 'node:util';
import { removeScratchFolders } from '../support/scratch.js';
import { runDemo } from './run-demo.js';
import { seconds, startShow } from './show.js';
import { clearStage } from './stage.js';

const { values } = parseArgs({ options: { 'plant-double': { type: 'boolean', default: false } } });
const show = startShow();
const beganMs = performance.now();

let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // A terminal's Ctrl-C comes twice: to the whole group, and again from the launcher that passes it on.
    if (isStopping) return;
    isStopping = true;
    void clearStage().finally(() => process.exit(130));
  });
}

async function verdict(): Promise<readonly string[]> {
  try {
    return await runDemo(show, { plantDouble: values['plant-double'] });
  } catch (error) {
    return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  } finally {
    await clearStage();
    removeScratchFolders();
  }
}

const wrong = await verdict();
for (const each of wrong) show.bad(each);
const took = seconds(performance.now() - beganMs);
if (wrong.length === 0) show.good(`GREEN in ${took}: every effect exactly once, every idempotency key once`);
else show.bad(`RED in ${took}, for the reasons above`);
process.exitCode = wrong.length === 0 ? 0 : 1;
