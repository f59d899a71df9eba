/** W6: engine and worker are killed at once, in the middle of 200 runs of three 100 ms steps. */
import { join } from 'node:path';
import { z } from 'zod';
import { STEPS_OF } from '../kinds.js';
import { metered } from '../meter.js';
import { type Arena, rolesOf } from '../peer.js';
import { StepLog, judgeKill } from '../step-log.js';
import { sleep, until } from '../wait.js';
import { type Sample, type Workload, scaled } from './workload.js';

const RUNS = 200;
const CALLERS = 32;
const SLOTS = 64;
/** Share of all steps that have ended when the kill is prepared: 250 of 600. */
const KILL_SHARE = 250 / 600;
/** From there to the kill: the next steps are then half done. */
const HALF_STEP_MS = 50;
const LIMIT_MS = 200_000;
/** From the last step's end to the engine's own word that all runs have completed. */
const RECORD_LIMIT_MS = 30_000;

async function killed(arena: Arena, log: StepLog, runs: number): Promise<Sample['values']> {
  const steps = runs * STEPS_OF.slow3;
  const started = arena.client.ask({ do: 'loop', what: 'start', kind: 'slow3', callers: CALLERS, count: runs });
  const detail = (): string => `${log.ended()} of ${steps} steps have ended`;
  await until('the middle of the work', () => log.ended() >= steps * KILL_SHARE, {
    limitMs: LIMIT_MS,
    everyMs: 2,
    detail,
  });
  await started;
  await sleep(HALF_STEP_MS);
  const killMs = Date.now();
  await arena.crash();
  await arena.revive();
  await until('all steps to end', () => log.ended() >= steps, { limitMs: LIMIT_MS, everyMs: 10, detail });
  const finished = async (): Promise<number> => z.number().parse(await arena.client.ask({ do: 'finished' }));
  await until('all runs to complete', async () => (await finished()) === runs, {
    limitMs: RECORD_LIMIT_MS,
    everyMs: 100,
  });
  // A step that was sent twice may still be running.
  await sleep(500);
  log.ended();
  return { ...judgeKill(log.marks, killMs) };
}

/** Kill and restart. */
export const kill: Workload = {
  id: 'w6',
  title: 'W6: 200 runs of three 100 ms steps, engine and worker killed at once',
  rows: [
    { key: 'killToLastMs', label: 'kill to last step, ms', better: 'less' },
    { key: 'inFlight', label: 'steps running at the kill', better: 'none' },
    { key: 'duplicates', label: 'duplicate executions', better: 'none' },
    { key: 'endedButRunAgain', label: 'of them ended before the kill', better: 'less' },
  ],
  async measure(peer, how) {
    const runs = scaled(RUNS, how);
    const stepLog = join(how.folder, `steps-${peer.name}.log`);
    const log = new StepLog(stepLog);
    const arena = await peer.setUp({ via: 'queue', slots: SLOTS, stepLog });
    try {
      const who = { roles: rolesOf(arena), postmaster: how.postmaster };
      const { value: values, load } = await metered(who, () => killed(arena, log, runs));
      return { values, foreign: load?.foreign };
    } finally {
      await arena.close();
    }
  },
};
