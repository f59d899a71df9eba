/** Clocks and offers of assignments on this node: what becomes of them stands in the log, and is routed on. */
import type { Clock } from './kernel/index.js';
import { OfferDriver, SlaDriver, type Routing } from './routing/index.js';
import type { Database } from './store/index.js';
import type { Log } from './telemetry/index.js';

/** What it works with. */
export interface LateWorkParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly routing: Pick<Routing, 'assignments' | 'router'>;
}

/** What looks at them. */
export interface LateWork {
  start(): void;
  /** Resolves when nothing of it is under way. */
  stop(): Promise<void>;
}

function slaDriver({ db, clock, log, routing }: LateWorkParts): SlaDriver {
  return new SlaDriver({
    ...{ db, clock, assignments: routing.assignments },
    route: (call) => routing.router.route(call),
    onEvent({
      kind,
      clock: { tenantId: tenant, assignmentId: assignment, clause },
      recipientId: recipient,
      poolId: pool,
    }) {
      log.warn({ tenant, assignment, clause, recipient, pool }, `an SLA was ${kind}`);
    },
    onError: (err) => log.error({ err }, 'a look at the clocks of assignments failed'),
  });
}

function offerDriver({ db, clock, log, routing }: LateWorkParts): OfferDriver {
  return new OfferDriver({
    ...{ db, clock, assignments: routing.assignments },
    route: (call) => routing.router.route(call),
    onEvent({ kind, outcome, offer: { tenantId: tenant, assignmentId: assignment, recipientId: recipient, poolId } }) {
      log.info({ tenant, assignment, recipient, pool: poolId, outcome }, `an offer was ${kind.replace('_', ' ')}`);
    },
    onError: (err) => log.error({ err }, 'an offer could not be routed on'),
  });
}

/** Makes the drivers; they still have to be started. */
export function lateWork(parts: LateWorkParts): LateWork {
  const drivers = [slaDriver(parts), offerDriver(parts)];
  return {
    start() {
      for (const driver of drivers) driver.start();
    },
    async stop() {
      await Promise.all(drivers.map((driver) => driver.stop()));
    },
  };
}
