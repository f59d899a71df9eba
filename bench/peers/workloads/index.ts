/** All workloads, in the order they are run. */
import type { WorkloadId } from '../workload-ids.js';
import { kill } from './kill.js';
import { storage } from './storage.js';
import { runsWorkload, startsWorkload } from './throughput.js';
import { timers } from './timers.js';
import type { Workload } from './workload.js';

const ALL: Readonly<Record<WorkloadId, Workload>> = {
  w1c1: runsWorkload('w1c1', 'W1: three no-op steps in a row, 1 run at once', 'seq3', 1),
  w1c64: runsWorkload('w1c64', 'W1: three no-op steps in a row, 64 runs at once', 'seq3', 64),
  w2c1: runsWorkload('w2c1', 'W2: fan-out of 50 and a join, 1 run at once', 'fan50', 1),
  w2c16: runsWorkload('w2c16', 'W2: fan-out of 50 and a join, 16 runs at once', 'fan50', 16),
  w3: timers,
  w4: startsWorkload('w4', 'W4: starts alone, 64 callers', 64),
  w5: storage,
  w6: kill,
};

/** A workload by its name. */
export function workloadOf(id: WorkloadId): Workload {
  return ALL[id];
}
