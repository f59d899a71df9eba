/** Nodes that look at queues of pools, and share nothing but a database whose time is the test's. */
import { memoryBus } from '../../engine/src/bus/index.js';
import { createCelCompiler } from '../../engine/src/expressions/index.js';
import { DuctorError, systemClock, systemRandom, uuidV7 } from '../../engine/src/kernel/index.js';
import {
  createRouting,
  QueueDriver,
  SlaDriver,
  type RouteCall,
  type Routed,
  type Routing,
} from '../../engine/src/routing/index.js';
import { checkRoutable } from '../../engine/src/routing/core/routable.js';
import type { Database, Row } from '../../engine/src/store/index.js';

/** A node. */
interface QueueNode {
  readonly routing: Routing;
  readonly driver: QueueDriver;
  readonly clocks: SlaDriver;
}

/** What was decided about work, in the order in which it was. */
export interface Decided {
  readonly decision_id: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly queued_by: string | null;
  readonly recipient: string | null;
}

/** See above. */
export class QueueWorld {
  readonly nodes: readonly QueueNode[];
  /** Work that has left a queue, as its decision, in order. */
  readonly left: string[] = [];
  readonly errors: unknown[] = [];
  /** What became of clauses, as `kind clause assignment`. */
  readonly clauses: string[] = [];
  /** Whether nodes die once they have had late work routed again. */
  isDying = false;
  readonly #clock = systemClock();
  readonly #random = systemRandom();
  readonly caller;

  constructor(
    readonly db: Database,
    readonly tenantId: string,
    nodes = 2,
  ) {
    this.nodes = Array.from({ length: nodes }, () => this.#node());
    const by = { tenantId, principalId: this.newId(), name: 'test', scopes: new Set<never>() };
    this.caller = { by, method: 'test' };
  }

  newId(): string {
    return uuidV7(this.#clock.nowUs(), this.#random);
  }

  routing(number = 0): Routing {
    return this.nodes[number % this.nodes.length]?.routing ?? this.#node().routing;
  }

  /** A pool whose recipients, in the order of their numbers, can each do so much at a time. */
  async pool(
    limits: readonly number[],
    config: object = {},
  ): Promise<{ readonly poolId: string; readonly ids: readonly string[] }> {
    const whole = { fallback: { kind: 'queue' }, ...config };
    const fields = { name: `pool-${this.newId()}`, strategy: 'waterfall', config: whole };
    const { poolId } = await this.routing().pools.create(this.caller, fields);
    const ids: string[] = [];
    for (const [order, limit] of limits.entries()) ids.push(await this.recipient(poolId, limit, { order }));
    return { poolId, ids };
  }

  async recipient(poolId: string, limit: number, fields: object = {}): Promise<string> {
    const capacity = { max_concurrent: limit };
    const whole = { name: `r-${this.newId()}`, state: 'RECIPIENT_STATE_AVAILABLE', capacity, ...fields };
    return (await this.routing().recipients.create(this.caller, poolId, whole)).recipient.recipientId;
  }

  /** Routes, and says what it came to. */
  async route(
    poolId: string | undefined,
    routable: { readonly id: string; readonly [field: string]: unknown },
    options: { readonly key?: string; readonly node?: number } = {},
  ): Promise<{ readonly decisionId: string; readonly outcome: string; readonly reason: string | null }> {
    const { stored } = await this.routing(options.node).router.route({
      ...{ tenantId: this.tenantId, principalId: this.newId(), idempotencyKey: options.key ?? '' },
      ask: { routable: checkRoutable(routable), poolId, recipientId: undefined, excluded: [], previous: [] },
    });
    return stored;
  }

  /** What was decided about work, in the order in which it was. */
  async decided(id: string): Promise<readonly Decided[]> {
    const { rows } = await this.db.query<Row & Decided>(
      `select decision_id, outcome, reason, queued_by, recipient_ids[1] as recipient from ductor.routing_decision
        where tenant_id = $1::uuid and routable_id = $2 order by decided_at, decision_id`,
      [this.tenantId, id],
    );
    return rows;
  }

  async outcomes(id: string): Promise<readonly string[]> {
    return (await this.decided(id)).map(({ outcome }) => outcome);
  }

  /** Ends all active assignments of work. */
  async complete(...works: readonly string[]): Promise<void> {
    const { rows } = await this.db.query<Row & { id: string }>(
      `select assignment_id as id from ductor.assignment
        where tenant_id = $1::uuid and routable_id = any($2) and state = 'active'`,
      [this.tenantId, works],
    );
    const actions = rows.map(({ id }) => ({ assignmentId: id, verb: 'complete' as const, reason: '' }));
    await this.routing().assignments.act(this.caller, actions);
  }

  /** Works of a pool that are assigned now, in the order in which they were. */
  async active(poolId: string): Promise<readonly string[]> {
    const { rows } = await this.db.query<Row & { routable_id: string }>(
      `select routable_id from ductor.assignment where tenant_id = $1::uuid and pool_id = $2::uuid and state = 'active'
        order by created_at, assignment_id`,
      [this.tenantId, poolId],
    );
    return rows.map(({ routable_id: id }) => id);
  }

  /** Works that wait in the queue of a pool, in its order. */
  async waiting(poolId: string): Promise<readonly string[]> {
    const query = { poolId, after: undefined, limit: 1_000 };
    return (await this.routing().waiting.list(this.tenantId, query)).map(({ routableId }) => routableId);
  }

  /** All nodes look at once at whatever is due by the time of the database. */
  async look(): Promise<void> {
    await Promise.all(this.nodes.map(({ driver }) => driver.batchUntilDone()));
  }

  /** All nodes look at the clocks of assignments at once. */
  async lookAtClocks(): Promise<void> {
    await Promise.all(this.nodes.map(({ clocks }) => clocks.turn()));
  }

  #node(): QueueNode {
    const [clock, cel] = [this.#clock, createCelCompiler()];
    const routing = createRouting({
      ...{ db: this.db, cel, clock, bus: memoryBus(clock), newId: () => this.newId() },
      ...{ seedKey: new Uint8Array(32), engine: { version: 'test', tzdb: '' } },
    });
    const driver = new QueueDriver({
      ...{ db: this.db, clock, ...routing.queueing },
      onEvent: ({ decisionId }) => void this.left.push(decisionId),
      onError: (error) => void this.errors.push(error),
    });
    const route = async (call: RouteCall): Promise<Routed> => {
      const routed = await routing.router.route(call);
      if (this.isDying) throw new DuctorError('database_unavailable', 'the node dies here');
      return routed;
    };
    const clocks = new SlaDriver({
      ...{ db: this.db, clock, assignments: routing.assignments, route },
      onEvent: ({ kind, clock: { clause, assignmentId } }) =>
        void this.clauses.push(`${kind} ${clause} ${assignmentId}`),
      onError: (error) => void this.errors.push(error),
    });
    return { routing, driver, clocks };
  }
}
