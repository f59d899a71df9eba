/** Bodies of the steps, the same for every engine, and what they note for the measurement. */
import { openSync, writeSync } from 'node:fs';

/** Time a step of slow3 takes, ms. */
export const SLOW_MS = 100;

const lateMs: number[] = [];
let log: number | undefined;

/** A step that does nothing. */
export const noop = (): Promise<number> => Promise.resolve(1);

/** Code after a sleep: notes by how many ms it is late. */
export function late(dueMs: number): number {
  lateMs.push(Date.now() - dueMs);
  return 1;
}

/** What `late` noted since the last call, ms. */
export function takeLateness(): number[] {
  return lateMs.splice(0);
}

/** A step of 100 ms. Its start and end are one line each in the step log (BENCH_STEP_LOG), which outlives a kill. */
export async function slow(run: number, step: string): Promise<number> {
  note(`s ${run} ${step}`);
  await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
  note(`e ${run} ${step}`);
  return 1;
}

function note(line: string): void {
  log ??= openSync(process.env['BENCH_STEP_LOG'] ?? '/dev/null', 'a');
  writeSync(log, `${line} ${Date.now()}\n`);
}
