/**
 * What a node does beside its work: partitions and keys each hour, old slots of schedules and decisions, runs whose
 * retention is over; each minute a look at reservations that must not be.
 */
import type { Clock, Timer } from './kernel/index.js';
import { maintainRouting } from './routing/index.js';
import { maintainSchedules } from './schedules/index.js';
import type { Database } from './store/index.js';
import type { Log, Metrics } from './telemetry/index.js';
import { createJanitor, findCapacityDefects, maintainRuns } from './workflow/index.js';

/** What it works with. */
export interface HousekeepingParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
}

const MAINTENANCE_MS = 3_600_000;
/** What is reserved is looked at so often, ms; what is found is reported, never released. */
const SWEEP_MS = 60_000;

/** Begins; stop() resolves when nothing of it is under way. Failures are logged and tried again. */
export function startHousekeeping({ db, clock, metrics, log }: HousekeepingParts): { stop(): Promise<void> } {
  const janitor = createJanitor({
    ...{ db, clock },
    onStep({ runs, partitions }, tookMs) {
      metrics.removedRuns.inc(runs);
      metrics.droppedPartitions.inc(partitions);
      metrics.removalSeconds.observe(tookMs / 1000);
    },
    onPass: (report) => log.info({ ...report }, 'removed runs whose retention was over'),
    onError: (err) => log.warn({ err }, 'removing runs broke off and is tried again'),
  });
  const maintenance = every(clock, MAINTENANCE_MS, async () => {
    try {
      await maintainRuns(db);
      await maintainSchedules(db, clock);
      await maintainRouting(db);
    } catch (err) {
      log.error({ err }, 'a background task failed');
    }
  });
  const sweep = every(clock, SWEEP_MS, async () => {
    try {
      const defects = await findCapacityDefects(db);
      metrics.capacityDefects.set(defects.length);
      for (const defect of defects) log.error({ ...defect }, 'a reservation or account is not as it must be');
    } catch (err) {
      log.warn({ err }, 'looking at reservations failed and is tried again');
    }
  });
  janitor.start();
  return {
    async stop() {
      maintenance.cancel();
      sweep.cancel();
      await janitor.stop();
    },
  };
}

/** Runs the task again and again, so long after it has ended, until cancelled. */
function every(clock: Clock, ms: number, task: () => Promise<void>): Timer {
  let timer: Timer | null = null;
  let isCancelled = false;
  const arm = (): void => {
    // Cancelled while it ran: a timer would keep the process alive.
    if (!isCancelled) timer = clock.setTimer(ms, () => void task().finally(arm));
  };
  arm();
  return {
    cancel() {
      isCancelled = true;
      timer?.cancel();
    },
  };
}
