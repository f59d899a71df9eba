/**
 * What a node does beside its work: partitions and keys each hour, old slots of schedules and decisions, runs whose
 * retention is over.
 */
import type { Clock, Timer } from './kernel/index.js';
import { maintainRouting } from './routing/index.js';
import { maintainSchedules } from './schedules/index.js';
import type { Database } from './store/index.js';
import type { Log, Metrics } from './telemetry/index.js';
import { createJanitor, maintainRuns } from './workflow/index.js';

/** What it works with. */
export interface HousekeepingParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
}

const MAINTENANCE_MS = 3_600_000;

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
  const maintenance = everyHour(clock, async () => {
    try {
      await maintainRuns(db);
      await maintainSchedules(db, clock);
      await maintainRouting(db);
    } catch (err) {
      log.error({ err }, 'a background task failed');
    }
  });
  janitor.start();
  return {
    async stop() {
      maintenance.cancel();
      await janitor.stop();
    },
  };
}

/** Runs the task each hour until cancelled. */
function everyHour(clock: Clock, task: () => Promise<void>): Timer {
  let timer: Timer;
  const arm = (): Timer => clock.setTimer(MAINTENANCE_MS, () => void task().finally(() => (timer = arm())));
  timer = arm();
  return { cancel: () => timer.cancel() };
}
