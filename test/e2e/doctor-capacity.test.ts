/** `ductor doctor --restart-within`: what is held outlives the death of an engine, as somebody who runs one sees it. */
import { afterAll, expect, it } from 'vitest';
import { runProgram } from '../../engine/src/cli/index.js';
import { capturedTerminal } from '../../engine/src/cli/testing/captured-terminal.js';
import { startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { dataFolder } from '../support/scratch.js';
import { until } from '../support/wait.js';

cleanUpProcesses();

const dataDir = dataFolder('doctor-capacity');
const terminal = capturedTerminal();
afterAll(() => console.log(terminal.written()));

it('tries admission, then drain after a SIGKILL and a start of the engine', async () => {
  const engine = await startEngine({ dataDir });
  const env = { DUCTOR_DATA_DIR: '/nonexistent', DUCTOR_ADDRESS: engine.address, DUCTOR_API_KEY: engine.apiKey };
  const examined = runProgram(['node', 'ductor', 'doctor', '--capacity', '--restart-within', '2m'], env, terminal);
  await until('the doctor to wait', () => terminal.complained().includes('restart the engine'), { limitMs: 60_000 });
  await engine.kill();
  await engine.start();
  expect(await examined, terminal.written()).toBe(0);
  expect(terminal.written()).toMatch(/OK {4}capacity\.admission +12 runs at once for 3 units: 3 admitted, 3 held/);
  expect(terminal.written()).toMatch(/OK {4}capacity\.restart +3 held before and after a restart/);
  expect(terminal.written()).toMatch(/OK {4}capacity\.drain +3 cancelled runs kept what they held/);
}, 240_000);
