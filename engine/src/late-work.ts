/**
 * Clocks and offers of assignments, items of claim queues, queues of pools, and what ends with runs on this node: what
 * becomes of them stands in the log, and is routed on.
 */
import type { Clock } from './kernel/index.js';
import { ClaimDriver, DueWork, EndingDriver, OfferDriver, QueueDriver, SlaDriver } from './routing/index.js';
import type { Routing } from './routing/index.js';
import type { Database } from './store/index.js';
import type { Log, Metrics } from './telemetry/index.js';
import { openChains } from './workflow/index.js';

/** How long one answer about what is due counts for all drivers, who look each second. */
const SHARED_US = 900_000;

/** What it works with. */
export interface LateWorkParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'slaEvents' | 'offerEvents'>;
  readonly routing: Pick<Routing, 'assignments' | 'claims' | 'queueing' | 'router' | 'whenDeclined'>;
}

/** What looks at them. */
export interface LateWork {
  start(): void;
  /** Resolves when nothing of it is under way. */
  stop(): Promise<void>;
}

function slaDriver({ db, clock, log, metrics, routing }: LateWorkParts, due: DueWork): SlaDriver {
  return new SlaDriver({
    ...{ db, clock, due, assignments: routing.assignments },
    route: (call) => routing.router.route(call),
    onEvent({
      kind,
      clock: { tenantId: tenant, assignmentId: assignment, clause },
      recipientId: recipient,
      poolId: pool,
    }) {
      metrics.slaEvents.inc({ clause, kind });
      log.warn({ tenant, assignment, clause, recipient, pool }, `an SLA was ${kind}`);
    },
    onError: (err) => log.error({ err }, 'a look at the clocks of assignments failed'),
  });
}

function offerDriver({ db, clock, log, metrics, routing }: LateWorkParts, due: DueWork): OfferDriver {
  return new OfferDriver({
    ...{ db, clock, due, assignments: routing.assignments },
    route: (call) => routing.router.route(call),
    onEvent({ kind, outcome, offer: { tenantId: tenant, assignmentId: assignment, recipientId: recipient, poolId } }) {
      metrics.offerEvents.inc({ kind });
      log.info({ tenant, assignment, recipient, pool: poolId, outcome }, `an offer was ${kind.replace('_', ' ')}`);
    },
    onError: (err) => log.error({ err }, 'an offer could not be routed on'),
  });
}

function claimDriver({ db, clock, log, routing }: LateWorkParts, due: DueWork): ClaimDriver {
  return new ClaimDriver({
    ...{ db, clock, due, waiters: routing.claims.waiters },
    route: (call) => routing.router.route(call),
    onLook({ kind, item: { tenantId: tenant, itemId: item, queueId: queue, visible: offered } }) {
      log.info({ tenant, item, queue, offered }, kind === 'opened' ? 'a wave has begun' : 'nobody claimed an item');
    },
    onError: (err) => log.error({ err }, 'a look at the items of claim queues failed'),
  });
}

function queueDriver({ db, clock, log, routing }: LateWorkParts, due: DueWork): QueueDriver {
  return new QueueDriver({
    ...{ db, clock, due, ...routing.queueing },
    onEvent({ tenantId: tenant, poolId: pool, decisionId: decision, outcome, waitedUs }) {
      const waited = Math.round(waitedUs / 1000);
      log.info({ tenant, pool, decision, outcome, waited_ms: waited }, 'work has left the queue of its pool');
    },
    onError: (err) => log.error({ err }, 'a look at the queue of a pool failed'),
  });
}

function endingDriver({ db, clock, log, routing }: LateWorkParts, due: DueWork): EndingDriver {
  return new EndingDriver({
    ...{ db, clock, due, assignments: routing.assignments },
    openAmong: (chains) => openChains(db, chains),
    onReleased({ tenantId: tenant, assignmentId: assignment }) {
      log.info({ tenant, assignment }, 'an assignment has ended with its run');
    },
    onError: (err) => log.error({ err }, 'a look at what ends with runs failed'),
  });
}

/** Makes the drivers; they still have to be started. */
export function lateWork(parts: LateWorkParts): LateWork {
  const due = new DueWork(parts.db, parts.clock, SHARED_US);
  const offers = offerDriver(parts, due);
  const others = [slaDriver, claimDriver, queueDriver, endingDriver].map((driver) => driver(parts, due));
  const drivers = [offers, ...others];
  // Work that somebody has turned down goes on at once; other nodes find it when this one dies.
  parts.routing.whenDeclined(() => offers.wake());
  return {
    start() {
      for (const driver of drivers) driver.start();
    },
    async stop() {
      await Promise.all(drivers.map((driver) => driver.stop()));
    },
  };
}
