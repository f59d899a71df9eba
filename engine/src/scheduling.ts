/** Joins the schedules with the rooms that have runs and shards. */
import type { Bus } from './bus/index.js';
import type { Clock, Random } from './kernel/index.js';
import {
  createScheduleDriver,
  createSchedules,
  type ScheduleDriver,
  type ScheduleRuns,
  type Schedules,
} from './schedules/index.js';
import type { Database } from './store/index.js';
import type { Coordinator, CoordinatorHooks, RunReader, WorkflowRegistry } from './workflow/index.js';

/** Who asks to cancel a run whose next slot came. */
const REQUESTED_BY = 'schedule';

/** What schedules need. */
export interface SchedulingParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly bus: Bus;
  readonly coordinator: Pick<Coordinator, 'start' | 'cancel' | 'onChange' | 'nodeId' | 'ownedShards'>;
  readonly registry: Pick<WorkflowRegistry, 'currentVersion'>;
  readonly reader: Pick<RunReader, 'openAmong'>;
  /** Told of turns of the driver that failed. */
  readonly onError: (error: unknown) => void;
}

/** Schedules for callers, and what drives them on this node. */
export interface Scheduling {
  readonly schedules: Schedules;
  readonly driver: ScheduleDriver;
}

function runsOf({ coordinator, registry, reader }: SchedulingParts): ScheduleRuns {
  return {
    async start({ tenantId, familySlug, input, attributes, idempotencyKey, fingerprint, ...start }) {
      const version = start.version || (await registry.currentVersion(tenantId, familySlug));
      const startKey = { key: idempotencyKey, fingerprint };
      return coordinator.start({ tenantId, familySlug, version, input, attributes, startKey });
    },
    openAmong: (runs) => reader.openAmong(runs),
    cancel: (run, reason) => coordinator.cancel(run, reason, REQUESTED_BY),
  };
}

/** Makes them; the driver still has to be started, and told when shards change owner. */
export function createScheduling(parts: SchedulingParts): Scheduling {
  const { db, clock, random, bus, coordinator, onError } = parts;
  const driver = createScheduleDriver({ db, clock, bus, runs: runsOf(parts), owner: coordinator, onError });
  coordinator.onChange(({ runId, closed }) => {
    if (closed !== null) driver.runsChanged([runId]);
  });
  const schedules = createSchedules({ db, clock, random, changed: (shard) => driver.changed(shard) });
  return { schedules, driver };
}

/** Hooks that also call back when shards change owner. */
export function hearingOfShards(hooks: CoordinatorHooks, changed: () => void): CoordinatorHooks {
  return {
    ...hooks,
    shards(count) {
      hooks.shards(count);
      changed();
    },
  };
}
