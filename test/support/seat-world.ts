/**
 * Seats and models on several nodes that share a database: families of runs select in the gate lane, other work comes
 * by Route, and both are owned by the run at the top of the family. Nodes have nothing in common but the database, and
 * are made anew at will. Its time is the test's.
 */
import { z } from 'zod';
import { memoryBus } from '../../engine/src/bus/index.js';
import { createCelCompiler } from '../../engine/src/expressions/index.js';
import { systemClock, systemRandom, uuidV7 } from '../../engine/src/kernel/index.js';
import { createRouting, type Routing } from '../../engine/src/routing/index.js';
import { checkRoutable } from '../../engine/src/routing/core/routable.js';
import type { Database, Queryable } from '../../engine/src/store/index.js';
import { AdmissionBook } from '../../engine/src/workflow/coordinator/admission-book.js';
import type { GateLocks } from '../../engine/src/workflow/coordinator/gate-ports.js';
import { insertRun } from './insert-run.js';
import { askOf } from '../../engine/src/workflow/coordinator/selection-ask.js';
import type { Selecting } from '../../engine/src/workflow/machine/selecting.js';
import {
  lockReservations,
  prepareReservations,
  writeReservations,
} from '../../engine/src/workflow/store-postgres/gate-reservations.js';

/** What a ROUTE step puts out, as far as it matters here. */
const shown = z.object({ slate: z.tuple([z.object({ recipient_id: z.string() })]) });

/** Whom somebody got; null: nobody, since all are limited. */
export interface Got {
  readonly recipientId: string | null;
  /** When the first is free again; undefined: the step of a workflow is not told. */
  readonly retryAtUs: number | undefined;
}

/** A run of a family. */
interface FamilyMember {
  readonly runId: string;
  readonly rootId: string;
  readonly chainId: string;
  readonly parentId: string | null;
}

/** A pool of the world. */
export interface SeatPool {
  readonly poolId: string;
  readonly name: string;
  /** In the order in which they were given. */
  readonly recipientIds: readonly string[];
}

/** See above. */
export class SeatWorld {
  readonly #clock = systemClock();
  readonly #random = systemRandom();
  readonly #nodes: Routing[] = [];
  #turn = 0;

  constructor(
    readonly db: Database,
    readonly tenantId: string,
    nodes = 2,
  ) {
    for (let index = 0; index < nodes; index += 1) this.#nodes.push(this.#node());
  }

  newId(): string {
    return uuidV7(this.#clock.nowUs(), this.#random);
  }

  /** All nodes end and others begin; nothing is left but the database. */
  restart(): void {
    for (const index of this.#nodes.keys()) this.#nodes[index] = this.#node();
  }

  /** The next node in turn. */
  get node(): Routing {
    this.#turn += 1;
    return this.#nodes[this.#turn % this.#nodes.length] ?? this.#node();
  }

  async pool(fields: object, recipients: readonly object[]): Promise<SeatPool> {
    const caller = this.#caller();
    const name = `pool-${this.newId()}`;
    const { poolId } = await this.node.pools.create(caller, { ...fields, name });
    const recipientIds: string[] = [];
    for (const [index, each] of recipients.entries()) {
      const about = { name: `seat ${index}`, state: 'RECIPIENT_STATE_AVAILABLE', ...each };
      const { recipient } = await this.node.recipients.create(caller, poolId, about);
      recipientIds.push(recipient.recipientId);
    }
    return { poolId, name, recipientIds };
  }

  /** A family: the run at its top, which has an open child. */
  async family(): Promise<readonly [root: FamilyMember, child: FamilyMember]> {
    const root = await this.#insert(null);
    return [root, await this.#insert(root)];
  }

  /** By a SELECT step of a run. */
  async select(run: FamilyMember, pool: SeatPool, attributes: object = {}): Promise<Got> {
    const path = `turn-${this.#turn}`;
    const selecting: Selecting = {
      ...{ path, family: run, pool: pool.name, routable: { attributes } },
      ...{ slateSize: 1, atLeast: 1, pinned: new Map() },
    };
    const selections = [
      { tenantId: this.tenantId, pool: pool.name, path, reached: [], ask: askOf(run.runId, selecting, undefined) },
    ];
    const answer = await this.#inGate(run, selections, (book) => {
      return book.select({ ...run, tenantId: this.tenantId, family: run }, selecting);
    });
    if (answer.kind === 'granted') {
      return { recipientId: answer.recipients[0]?.id ?? null, retryAtUs: undefined };
    }
    if (answer.kind === 'refused' && answer.code === 'no_eligible_recipient') {
      return { recipientId: null, retryAtUs: undefined };
    }
    throw new TypeError(`the selection came to ${JSON.stringify(answer)}`);
  }

  /** By a ROUTE step of a run with `seat_for: family`. */
  async routeStep(run: FamilyMember, pool: SeatPool, attributes: object = {}): Promise<Got> {
    const work = { path: `turn-${this.#turn}`, pool: pool.name, routable: { attributes }, excluded: [], family: run };
    const ask = askOf(run.runId, work, undefined);
    const selections = [{ tenantId: this.tenantId, pool: pool.name, path: work.path, isRoute: true, reached: [], ask }];
    const answer = await this.#inGate(run, selections, (book) => book.route({ ...run, tenantId: this.tenantId }, work));
    if (answer.kind === 'failed' && answer.code === 'all_cooling_down') {
      return { recipientId: null, retryAtUs: undefined };
    }
    const output: unknown = answer.kind === 'routed' ? answer.output : undefined;
    const routed = shown.safeParse(output);
    if (routed.success) return { recipientId: routed.data.slate[0].recipient_id, retryAtUs: undefined };
    throw new TypeError(`the decision came to ${JSON.stringify(answer)}`);
  }

  /** By Route: the work's id is its owner. */
  async route(owner: string, { poolId }: SeatPool, attributes: object = {}): Promise<Got> {
    const { stored } = await this.node.router.route({
      ...{ tenantId: this.tenantId, principalId: this.newId(), idempotencyKey: '' },
      ask: {
        ...{ routable: checkRoutable({ id: owner, attributes }), poolId, recipientId: undefined },
        ...{ excluded: [], previous: [] },
      },
    });
    const { outcome, slate, retryAtUs } = stored;
    if (outcome === 'assigned') return { recipientId: slate[0]?.id ?? null, retryAtUs: undefined };
    if (outcome === 'all_cooling_down') return { recipientId: null, retryAtUs: retryAtUs ?? undefined };
    throw new TypeError(`the decision came to ${outcome}`);
  }

  /** Says how work of a recipient went. */
  async report(pool: SeatPool, recipientId: string, isSuccess: boolean, resetAtUs: number | null = null) {
    const { poolId } = pool;
    return this.node.outcomes.report(this.tenantId, { poolId, recipientId }, { isSuccess, latencyMs: null, resetAtUs });
  }

  /** A run ends for good. */
  async close(run: FamilyMember): Promise<void> {
    await this.#inGate(run, [], (book) => book.close({ ...run, tenantId: this.tenantId, family: run }), run.runId);
  }

  /** A run ends whose plan neither selects nor stands below one that does: nobody looks at its family. */
  async closePlainly({ runId }: FamilyMember): Promise<void> {
    await this.db.query('update ductor.runs set closed_at = ductor.now_us() where run_id = $1::uuid', [runId]);
  }

  /** How many seats and tiers an owner has. */
  async bindingsOf(owner: string): Promise<number> {
    const text = 'select 1 from ductor.routing_binding where tenant_id = $1::uuid and owner = $2';
    return (await this.db.query(text, [this.tenantId, owner])).rowCount;
  }

  /** How many owners have a seat. */
  async boundTo(recipientId: string): Promise<number> {
    const text = 'select 1 from ductor.routing_binding where tenant_id = $1::uuid and recipient_id = $2::uuid';
    return (await this.db.query(text, [this.tenantId, recipientId])).rowCount;
  }

  #caller() {
    const by = { tenantId: this.tenantId, principalId: this.newId(), name: 'test', scopes: new Set<never>() };
    return { by, method: 'test' };
  }

  #node(): Routing {
    const [clock, cel] = [this.#clock, createCelCompiler()];
    return createRouting({
      ...{ db: this.db, cel, clock, bus: memoryBus(clock), newId: () => this.newId() },
      ...{ seedKey: new Uint8Array(32), engine: { version: 'test', tzdb: '' } },
    });
  }

  async #insert(parent: FamilyMember | null): Promise<FamilyMember> {
    const runId = this.newId();
    const rootId = parent?.rootId ?? runId;
    await insertRun(this.db, { tenantId: this.tenantId, runId }, parent);
    return { runId, rootId, chainId: runId, parentId: parent?.runId ?? null };
  }

  async #inGate<T>(
    { rootId }: FamilyMember,
    selections: GateLocks['selections'],
    act: (book: AdmissionBook) => T,
    closedId?: string,
  ): Promise<T> {
    const { selection } = this.node;
    const families = [{ tenantId: this.tenantId, rootId }];
    const locks: GateLocks = { semaphores: [], runIds: [], selections, families, items: [], works: [] };
    const session = await this.db.connect({ name: 'seats' });
    try {
      const prepared = await prepareReservations(session, locks, selection);
      return await session.transaction(async (tx: Queryable) => {
        const usage = await lockReservations(tx, prepared, selection);
        if (usage === undefined) throw new TypeError('the family is gone');
        const book = new AdmissionBook(usage, () => this.newId());
        const answer = act(book);
        await writeReservations(tx, book.changes(), selection, new Set());
        if (closedId !== undefined) {
          await tx.query('update ductor.runs set closed_at = ductor.now_us() where run_id = $1::uuid', [closedId]);
        }
        return answer;
      });
    } finally {
      await session.close();
    }
  }
}
