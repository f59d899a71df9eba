/** Routing of a node: pools, recipients and rules for those who write them; decisions for those who have work. */
import type { Bus } from '../bus/index.js';
import { createAssignments, createBoard, type Assignments, type CapacityBoard } from '../capacity/index.js';
import { NO_WAITERS, type ClaimWaiters } from '../claims/index.js';
import type { CelCompiler } from '../expressions/index.js';
import { DuctorError } from '../kernel/index.js';
import { claimsFollow, createClaims, type Claims } from './claiming/claims.js';
import { createDecisions, type Decisions } from './decisions/store/decisions.js';
import { createDirectory, type Directory } from './directory.js';
import type { RouteAsk } from './lane/ask.js';
import { Asking } from './lane/asking.js';
import { BatchRunner } from './lane/batch-runner.js';
import { RouteLane } from './lane/lane.js';
import type { LaneParts } from './lane/lane-parts.js';
import { Previews } from './lane/preview.js';
import { QueueLooks } from './lane/queue-looks.js';
import { SharedReads } from './lane/shared-reads.js';
import { NO_APPS, type StrategyApps } from './lane/strategy-apps.js';
import type { RouteCall, Routed } from './lane/route-call.js';
import { createOutcomes, type Outcomes } from './outcomes/outcomes.js';
import type { Decision } from './pipeline/decision.js';
import { QueueHints } from './queue/queue-hints.js';
import type { QueueDriverParts } from './queue/queue-driver.js';
import { NO_QUEUE_WAITERS, type QueueWaiters } from './queue/queue-waiters.js';
import { NO_POOL } from './queue/waiting-item.js';
import { createWaiting, type Waiting } from './queue/waiting.js';
import { answerOffers } from './offers/sql/offers.js';
import { createShadows, type Shadows } from './shadow/shadows.js';
import { lookSoon, readClocks, type StoredClock } from './sla/sql/clocks.js';
import { createWorkStates, type SetWorkState } from './sla/work-states.js';
import { PoolViews } from './views/pool-views.js';

/** What it needs. */
export interface RoutingOptions extends Omit<LaneParts, 'views' | 'apps' | 'waiters'> {
  /** Apps that have strategies in code. Default: none. */
  readonly apps?: StrategyApps;
  /** Who waits for items of claim queues. Default: nobody. */
  readonly claimWaiters?: ClaimWaiters;
  /** Whoever waits for work in queues of pools. Default: nobody. */
  readonly queueWaiters?: QueueWaiters;
  readonly cel: CelCompiler;
  readonly bus: Bus;
}

/** What makes decisions. */
export interface Router {
  /**
   * Decides and assigns. Throws idempotency_conflict, unimplemented, capacity_authority_unavailable, limit_exceeded,
   * database_unavailable.
   */
  route(call: RouteCall): Promise<Routed>;
  /** What route would decide now; writes nothing. Throws database_unavailable. */
  preview(tenantId: string, ask: RouteAsk): Promise<Decision>;
}

/** What steps of workflows decide with. */
export interface SelectionParts extends Pick<LaneParts, 'views' | 'seedKey' | 'engine'> {
  /** Asks strategies in apps' code about pools, as far as they were not asked. Throws database_unavailable. */
  readonly askApps: Asking['fill'];
}

/** See above. */
export interface Routing extends Directory {
  readonly router: Router;
  readonly decisions: Decisions;
  readonly shadows: Shadows;
  readonly assignments: Assignments;
  readonly claims: Claims;
  readonly board: CapacityBoard;
  /** What waits in queues of pools. */
  readonly waiting: Waiting;
  /** For the driver of queues. */
  readonly queueing: Pick<QueueDriverParts, 'looks' | 'hints'>;
  readonly outcomes: Outcomes;
  /** Clocks of assignments, in the order in which they are due. */
  readonly slaClocks: (tenantId: string, assignmentIds: readonly string[]) => Promise<readonly StoredClock[]>;
  readonly setWorkState: SetWorkState;
  /** Told each time that an offer was declined here, once it is committed. */
  readonly whenDeclined: (listener: () => void) => void;
  /** For workflows that select. */
  readonly selection: SelectionParts;
}

/** The assignments; who listens is told of declines, and queues of units that are given back. */
function telling(assignments: Assignments, listeners: readonly (() => void)[], hints: QueueHints): Assignments {
  return {
    ...assignments,
    async act(caller, actions) {
      const results = await assignments.act(caller, actions);
      const isDeclined = results.some((each) => !(each instanceof DuctorError) && each.state === 'declined');
      if (isDeclined) for (const listener of listeners) listener();
      const ended = results.flatMap((each) => ('code' in each || each.endedAtUs === null ? [] : [each.recipientId]));
      hints.freed(caller.by.tenantId, ended);
      return results;
    },
  };
}

/** Claims that end do, too. */
function hintingClaims(hints: QueueHints, claims: Claims): Claims {
  return {
    ...claims,
    async act(call) {
      const item = await claims.act(call);
      if (call.verb !== 'claim') hints.freed(call.by.tenantId, [call.recipientId]);
      return item;
    },
  };
}

/** Routing in this database. */
export function createRouting(options: RoutingOptions): Routing {
  const { db, cel, clock, bus, newId, seedKey, engine, queueWaiters: told = NO_QUEUE_WAITERS } = options;
  const views = new PoolViews({ db, cel, clock, bus });
  const parts = { ...{ db, clock, views, newId, seedKey, engine }, apps: options.apps ?? NO_APPS, waiters: told };
  const reads = new SharedReads(parts);
  const asking = new Asking(parts, reads);
  const runner = new BatchRunner(parts);
  const lane = new RouteLane(parts, asking, runner);
  const previews = new Previews(parts, reads, asking);
  const waiters = options.claimWaiters ?? NO_WAITERS;
  const declines: (() => void)[] = [];
  const hints = new QueueHints();
  return {
    ...createDirectory({
      ...{ db, cel, newId },
      onChange(tenantId, poolIds) {
        views.poolsChanged(tenantId, poolIds);
        hints.changed(tenantId, poolIds);
      },
      onRulesChange(tenantId) {
        views.rulesChanged(tenantId);
        hints.changed(tenantId, [NO_POOL]);
      },
    }),
    router: {
      route: (call) => lane.route(call),
      preview: (tenantId, ask) => previews.preview(tenantId, ask),
    },
    decisions: createDecisions(db),
    shadows: createShadows(db),
    assignments: telling(
      createAssignments(db, {
        onAnswered: (tx, tenantId, answered) =>
          answerOffers(
            tx,
            tenantId,
            answered.map(({ assignmentId, state }) => ({ assignmentId, isDeclined: state === 'declined' })),
          ),
        onEnded: claimsFollow(waiters),
        onWaited: (tx, tenantId, waited) =>
          lookSoon(
            tx,
            tenantId,
            waited.map(({ assignmentId }) => assignmentId),
          ),
      }),
      declines,
      hints,
    ),
    whenDeclined: (listener) => void declines.push(listener),
    claims: hintingClaims(hints, createClaims({ db, clock, views, newId, waiters })),
    waiting: createWaiting(db, told),
    queueing: { looks: new QueueLooks(parts, asking, runner), hints },
    board: createBoard(db),
    outcomes: createOutcomes(db, views),
    setWorkState: createWorkStates(db, views),
    slaClocks: (tenantId, assignmentIds) => readClocks(db.asTenant(tenantId), tenantId, assignmentIds),
    selection: { views, seedKey, engine, askApps: (call, found) => asking.fill(call, found) },
  };
}
