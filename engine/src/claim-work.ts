/** The items of claim queues on this node: waves begin, and what nobody claims expires. */
import type { Clock } from './kernel/index.js';
import { ClaimDriver, type Routing } from './routing/index.js';
import type { Database } from './store/index.js';
import type { Log } from './telemetry/index.js';

/** What it works with. */
export interface ClaimWorkParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly routing: Pick<Routing, 'claims' | 'router'>;
}

/** Makes the driver; it still has to be started. */
export function claimWork({ db, clock, log, routing }: ClaimWorkParts): ClaimDriver {
  return new ClaimDriver({
    ...{ db, clock, waiters: routing.claims.waiters },
    route: (call) => routing.router.route(call),
    onLook({ kind, item: { tenantId: tenant, itemId: item, queueId: queue, visible: offered } }) {
      log.info({ tenant, item, queue, offered }, kind === 'opened' ? 'a wave has begun' : 'nobody claimed an item');
    },
    onError: (err) => log.error({ err }, 'a look at the items of claim queues failed'),
  });
}
