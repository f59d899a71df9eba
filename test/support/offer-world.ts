/** Nodes that offer work, and share nothing but a database whose time is the test's. */
import { memoryBus } from '../../engine/src/bus/index.js';
import { createCelCompiler } from '../../engine/src/expressions/index.js';
import { DuctorError, systemClock, systemRandom, uuidV7 } from '../../engine/src/kernel/index.js';
import {
  createRouting,
  OfferDriver,
  SlaDriver,
  type OfferEvent,
  type Routing,
  type RouteCall,
} from '../../engine/src/routing/index.js';
import { checkRoutable } from '../../engine/src/routing/core/routable.js';
import type { Database, Row } from '../../engine/src/store/index.js';

/** A node. */
interface OfferNode {
  readonly routing: Routing;
  readonly driver: OfferDriver;
  readonly clocks: SlaDriver;
}

/** A decision about work, with its assignments as they are now. */
export interface Decided {
  readonly decisionId: string;
  readonly outcome: string;
  readonly record: Buffer;
  readonly assignments: readonly { readonly id: string; readonly recipientId: string; readonly state: string }[];
}

/** See above. */
export class OfferWorld {
  readonly nodes: readonly OfferNode[];
  /** What the drivers told, as `kind outcome`. */
  readonly events: string[] = [];
  readonly errors: unknown[] = [];
  /** Whether nodes die before they have late work routed again. */
  isDying = false;
  readonly #clock = systemClock();
  readonly #random = systemRandom();

  constructor(
    readonly db: Database,
    readonly tenantId: string,
  ) {
    this.nodes = [this.#node(), this.#node()];
  }

  newId(): string {
    return uuidV7(this.#clock.nowUs(), this.#random);
  }

  get routing(): Routing {
    const [node = this.#node()] = this.nodes;
    return node.routing;
  }

  /** A pool that offers its work to so many recipients, in the order of their numbers. */
  async pool(
    recipients: number,
    config: object,
  ): Promise<{ readonly poolId: string; readonly ids: readonly string[] }> {
    const by = { tenantId: this.tenantId, principalId: this.newId(), name: 'test', scopes: new Set<never>() };
    const caller = { by, method: 'test' };
    const fields = { name: `pool-${this.newId()}`, strategy: 'waterfall', config };
    const { poolId } = await this.routing.pools.create(caller, fields);
    const ids: string[] = [];
    for (let order = 0; order < recipients; order += 1) {
      const about = { name: `r${order}`, order, state: 'RECIPIENT_STATE_AVAILABLE', capacity: { max_concurrent: 3 } };
      ids.push((await this.routing.recipients.create(caller, poolId, about)).recipient.recipientId);
    }
    return { poolId, ids };
  }

  async route(id: string, poolId: string, work: object = {}): Promise<void> {
    await this.routing.router.route({
      ...{ tenantId: this.tenantId, principalId: this.newId(), idempotencyKey: '' },
      ask: { routable: checkRoutable({ ...work, id }), poolId, recipientId: undefined, excluded: [], previous: [] },
    });
  }

  /** What was decided about work, in the order in which it was. */
  async decided(id: string): Promise<readonly Decided[]> {
    const { rows } = await this.db.query<Row & { decision_id: string; outcome: string; record: Buffer }>(
      `select decision_id, outcome, record from ductor.routing_decision
        where tenant_id = $1::uuid and routable_id = $2 order by decided_at, decision_id`,
      [this.tenantId, id],
    );
    return Promise.all(
      rows.map(async ({ decision_id: decisionId, outcome, record }) => {
        const { rows: assignments } = await this.db.query<Row & Decided['assignments'][number]>(
          `select assignment_id as id, recipient_id as "recipientId", state from ductor.assignment
            where tenant_id = $1::uuid and decision_id = $2::uuid order by created_at, assignment_id`,
          [this.tenantId, decisionId],
        );
        return { decisionId, outcome, record, assignments };
      }),
    );
  }

  /** Answers an offer. Returns the state of its assignment, or the code of the refusal. */
  async answer(assignmentId: string, verb: 'accept' | 'decline' | 'complete' | 'release'): Promise<string> {
    const by = { tenantId: this.tenantId, principalId: this.newId(), name: 'test', scopes: new Set<never>() };
    const [result] = await this.routing.assignments.act({ by, method: 'test' }, [{ assignmentId, verb, reason: '' }]);
    if (result === undefined) throw new TypeError('no answer');
    return 'code' in result ? result.code : result.state;
  }

  /** Says by the i-th node what work waits for; empty: nothing. Returns the code of the refusal, if there is one. */
  async setWorkState(assignmentId: string, state: string, node = 0): Promise<string> {
    const by = { tenantId: this.tenantId, principalId: this.newId(), name: 'test', scopes: new Set<never>() };
    const workState = state === '' ? null : state;
    try {
      await this.nodes[node]?.routing.setWorkState({ by, method: 'test' }, { assignmentId, workState, reason: '' });
      return '';
    } catch (error) {
      return DuctorError.from(error).code;
    }
  }

  /** All nodes look at the clocks of assignments at once. */
  async lookAtClocks(): Promise<void> {
    await Promise.all(this.nodes.map(({ clocks }) => clocks.turn()));
  }

  /** All nodes look at once. */
  async look(): Promise<void> {
    await Promise.all(this.nodes.map(({ driver }) => driver.turn()));
  }

  /** Units in use of a recipient. */
  async committed(recipientId: string): Promise<number> {
    const { rows } = await this.db.query<Row & { committed: number }>(
      'select committed from ductor.capacity_authority where tenant_id = $1::uuid and recipient_id = $2::uuid',
      [this.tenantId, recipientId],
    );
    return rows[0]?.committed ?? -1;
  }

  #node(): OfferNode {
    const [clock, cel] = [this.#clock, createCelCompiler()];
    const routing = createRouting({
      ...{ db: this.db, cel, clock, bus: memoryBus(clock), newId: () => this.newId() },
      ...{ seedKey: new Uint8Array(32), engine: { version: 'test', tzdb: '' } },
    });
    const driver = new OfferDriver({
      ...{ db: this.db, clock, assignments: routing.assignments, route: (call) => routing.router.route(call) },
      onEvent: ({ kind, outcome }: OfferEvent) => void this.events.push(`${kind} ${outcome}`),
      onError: (error) => void this.errors.push(error),
    });
    const route = async (call: RouteCall) => {
      if (this.isDying) throw new DuctorError('database_unavailable', 'the node dies here');
      return routing.router.route(call);
    };
    const clocks = new SlaDriver({
      ...{ db: this.db, clock, assignments: routing.assignments, route },
      onEvent: ({ kind, clock: { assignmentId, clause } }) =>
        void this.events.push(`${kind} ${clause} ${assignmentId}`),
      onError: (error) => void this.errors.push(error),
    });
    return { routing, driver, clocks };
  }
}
