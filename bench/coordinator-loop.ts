/**
 * What the coordinator itself costs a step: runs of three steps in a row, a store in memory that answers at once, a
 * worker that answers at once. No database, no wire: only the loop, the machine and the codec.
 *
 *   npx tsx bench/coordinator-loop.ts [seconds]
 *
 * Figures stand in docs/decisions/0007-coordinator.md.
 */
import { DuctorError, systemClock, systemRandom, uuidV7, type Clock } from '../engine/src/kernel/index.js';
import { createCoordinator } from '../engine/src/workflow/coordinator/index.js';
import type { Coordinator, Invoker, Task } from '../engine/src/workflow/coordinator/index.js';
import { jsonValue } from '../engine/src/workflow/machine/index.js';
import { MemoryDatabase } from '../engine/src/workflow/testing/memory-database.js';
import { memoryStores } from '../engine/src/workflow/testing/memory-stores.js';
import { sequence } from '../engine/src/workflow/testing/plan-builder.js';

const seconds = Number(process.argv[2] ?? 5);
const WORKER = 'bench-worker';
const plan = sequence('a', 'b', 'c');
const output = jsonValue({ ok: true });

/** A worker that answers everything as soon as the current work is done. */
function instantWorker(clock: Clock, target: () => Coordinator): Invoker {
  let waiting: Task[] = [];
  const answer = (): void => {
    const tasks = waiting;
    waiting = [];
    target().sent(WORKER, tasks);
    for (const task of tasks) target().settle(task, { kind: 'completed', output }, () => undefined);
  };
  return {
    dispatch(tasks) {
      if (waiting.length === 0) clock.defer(answer);
      waiting.push(...tasks);
    },
    abort: () => [],
    dropShards: () => undefined,
  };
}

async function measure(inFlight: number): Promise<void> {
  const clock = systemClock();
  const random = systemRandom();
  const db = new MemoryDatabase({ nowUs: () => clock.nowUs() });
  let batches = 0;
  let computeMs = 0;
  const coordinator: Coordinator = createCoordinator({
    node: { nodeId: uuidV7(clock.nowUs(), random), address: 'bench:1' },
    clock,
    random,
    ...memoryStores(db),
    plans: { peek: () => plan, load: () => Promise.resolve(plan), current: () => Promise.resolve(1) },
    invoker: instantWorker(clock, () => coordinator),
    bus: { publish: () => undefined, subscribe: () => () => undefined },
    hooks: {
      batch: (facts) => {
        batches += 1;
        computeMs += facts.computeMs;
      },
      log: (level, message, facts) => {
        if (level !== 'debug') console.error(level, message, facts);
      },
    },
  });
  await coordinator.run();
  coordinator.workerConnected(WORKER, []);
  let ended = 0;
  let isOver = false;
  const request = { tenantId: 'bench', familySlug: plan.familySlug, version: plan.version, attributes: {} };
  const next = (): void => {
    if (!isOver) void coordinator.start({ ...request, input: output, startKey: null });
  };
  coordinator.onChange((change) => {
    if (change.closed === null) return;
    ended += 1;
    db.runs.delete(`bench/${change.runId}`);
    next();
  });
  for (let run = 0; run < inFlight; run += 1) next();
  const wait = (ms: number): Promise<void> => new Promise((resolve) => clock.setTimer(ms, resolve));
  await wait(1_000);
  const [endedBefore, batchesBefore, computeBefore, startMs] = [ended, batches, computeMs, clock.monotonicMs()];
  const cpuBefore = process.cpuUsage();
  await wait(seconds * 1_000);
  const tookMs = clock.monotonicMs() - startMs;
  const cpu = process.cpuUsage(cpuBefore);
  const steps = (ended - endedBefore) * 3;
  const perSecond = Math.round((steps / tookMs) * 1000);
  const cpuUs = ((cpu.user + cpu.system) / steps).toFixed(1);
  const size = (((ended - endedBefore) * 4) / (batches - batchesBefore)).toFixed(0);
  const advanceUs = (((computeMs - computeBefore) * 1000) / ((ended - endedBefore) * 4)).toFixed(1);
  console.log(
    `${inFlight} in flight: ${perSecond} steps/s, ${cpuUs} us CPU a step, ${advanceUs} us a tick, batch ${size}`,
  );
  if (db.violations.length > 0) throw new DuctorError('internal', db.violations.join('; '));
  isOver = true;
  await coordinator.stop();
}

for (const inFlight of [1, 64, 512]) await measure(inFlight);
