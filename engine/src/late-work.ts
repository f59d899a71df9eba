/** The clocks of assignments on this node: what they come to stands in the log, and late work is routed again. */
import type { Clock } from './kernel/index.js';
import { SlaDriver, type Routing } from './routing/index.js';
import type { Database } from './store/index.js';
import type { Log } from './telemetry/index.js';

/** What it works with. */
export interface LateWorkParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly routing: Pick<Routing, 'assignments' | 'router'>;
}

/** Makes the driver; it still has to be started. */
export function lateWork({ db, clock, log, routing }: LateWorkParts): SlaDriver {
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
