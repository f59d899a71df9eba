/**
 * What a node does beside its work: partitions and keys each hour, old slots of schedules and decisions, runs whose
 * retention is over; each minute what families left behind, and a look at reservations that must not be.
 */
import { repeating, type Clock } from './kernel/index.js';
import { maintainRouting } from './routing/index.js';
import { maintainSchedules } from './schedules/index.js';
import type { Database } from './store/index.js';
import type { Log, Metrics } from './telemetry/index.js';
import { createJanitor, endLeftFamilies, findCapacityDefects, maintainRuns } from './workflow/index.js';

/** What it works with. */
export interface HousekeepingParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
}

const MAINTENANCE_MS = 3_600_000;
/** What is reserved is looked at so often, ms; a reservation that is found is reported, never released. */
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
  const maintain = async (): Promise<void> => {
    await maintainRuns(db);
    await maintainSchedules(db, clock);
    await maintainRouting(db);
  };
  const sweep = async (): Promise<void> => {
    await endLeftFamilies(db);
    const defects = await findCapacityDefects(db);
    metrics.capacityDefects.set(defects.length);
    for (const defect of defects) log.error({ ...defect }, 'a reservation or account is not as it must be');
  };
  const parts = [
    janitor,
    repeating(clock, MAINTENANCE_MS, maintain, (err) => log.error({ err }, 'a background task failed')),
    repeating(clock, SWEEP_MS, sweep, (err) => log.warn({ err }, 'looking at reservations failed and is tried again')),
  ];
  for (const part of parts) part.start();
  return { stop: async () => void (await Promise.all(parts.map((part) => part.stop()))) };
}
