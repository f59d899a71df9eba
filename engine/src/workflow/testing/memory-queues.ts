/**
 * Work in queues of pools in memory, decided by the same pure parts as in the database. A look is one transaction: what
 * becomes of work, of the accounts of who gets it and of the box of who waits for it happens at one instant.
 */
import { newWaiting, World, type RouteAsk, type WorldChanges, type WorldParts } from '../../routing/index.js';
import { WaitingDesk } from '../../routing/lane/waiting-desk.js';
import type { NewWaiting, WaitingItem, WaitingState } from '../../routing/queue/waiting-item.js';
import type { LeftQueues } from '../../routing/index.js';
import type { MadeDecision } from '../coordinator/gate-ports.js';
import type { InboxMessage } from '../coordinator/ports.js';
import { queuedStep } from '../coordinator/queue-waiter.js';
import { toldBody } from '../store-postgres/queue-waiters.js';
import type { Told } from './memory-claims.js';

/** Work as its row says it. */
export interface MemoryWork extends NewWaiting {
  readonly tenantId: string;
  readonly state: WaitingState;
  /** The decision that it came to. */
  readonly decidedAs: string | null;
}

/** What a look needs. */
export interface QueueGround {
  /** What work of a tenant is decided by: all its pools. */
  readonly parts: (tenantId: string, nowUs: number) => WorldParts;
  /** Claim queues that there are. */
  readonly claimQueues: ReadonlySet<string>;
  readonly apply: (tenantId: string, changes: WorldChanges, made: readonly MadeDecision[]) => void;
}

const ENGINE = { version: '', tzdb: '' };

function itemOf(work: MemoryWork): WaitingItem {
  const ask: RouteAsk = JSON.parse(work.ask);
  return { ...work, ask, rank: '0', place: '0' };
}

function messageOf(tenantId: string, left: LeftQueues): Omit<InboxMessage, 'id'> {
  return { tenantId, runId: queuedStep(left.waiter).runId, kind: 'route_told', body: toldBody(left) };
}

/** The table. */
export class MemoryQueues {
  /** By the decision that queued it where it is, or was. */
  readonly works = new Map<string, MemoryWork>();

  constructor(readonly ground: QueueGround) {}

  /** Puts what decisions queue where they say. */
  put(tenantId: string, made: readonly MadeDecision[]): void {
    for (const { decision, ask, runId, waiter } of made) {
      const work = waiter === undefined ? undefined : newWaiting(decision, ask, runId, waiter);
      if (work !== undefined) this.works.set(work.decisionId, { ...work, tenantId, state: 'waiting', decidedAs: null });
    }
  }

  /** Takes work out that waits. */
  remove(decisionIds: readonly string[]): void {
    for (const id of decisionIds) {
      const work = this.works.get(id);
      if (work?.state === 'waiting') this.works.set(id, { ...work, state: 'removed', waiter: null });
    }
  }

  /** Takes out what ends with these chains. */
  end(chainIds: readonly string[]): void {
    const ending = this.waiting().filter(({ endsWith }) => endsWith !== null && chainIds.includes(endsWith));
    this.remove(ending.map(({ decisionId }) => decisionId));
  }

  /** What waits, in the order in which it was queued. */
  waiting(): readonly MemoryWork[] {
    return [...this.works.values()].filter(({ state }) => state === 'waiting');
  }

  /** How much waits in the queues of these pools. */
  depths(poolIds: Iterable<string>): ReadonlyMap<string, number> {
    const depths = new Map([...poolIds].map((id) => [id, 0]));
    for (const { poolId } of this.waiting()) depths.set(poolId, (depths.get(poolId) ?? 0) + 1);
    return depths;
  }

  /** Where work is, by the decision that queued it first; null: it has left all queues. */
  places(): ReadonlyMap<string, string | null> {
    const places = new Map<string, string | null>();
    for (const { firstId, decisionId, state } of this.works.values()) {
      if (state === 'waiting') places.set(firstId, decisionId);
      else if (!places.has(firstId)) places.set(firstId, null);
    }
    return places;
  }

  /** Looks at everything of a tenant that waits. */
  look(tenantId: string, nowUs: number, newId: () => string): Told<number> {
    const waiting = this.waiting().filter((work) => work.tenantId === tenantId);
    if (waiting.length === 0) return { value: 0, messages: [] };
    const parts = this.ground.parts(tenantId, nowUs);
    const world = new World({ ...parts, depths: this.depths(parts.views.keys()) });
    const { claimQueues: queues } = this.ground;
    const lane = { newId, engine: ENGINE };
    const items = waiting.map((work) => ({ item: itemOf(work), answers: new Map(), spentUs: 0 }));
    const desk = new WaitingDesk({ lane, rules: [], views: parts.views, queues, world }, items);
    desk.decideRest();
    const made = desk.made.map(({ ask, decision, recorded, waiter }): MadeDecision => {
      const by = { ask, decision, runId: recorded.principalId, assignmentIds: recorded.assignmentIds };
      return waiter === null ? by : { ...by, waiter };
    });
    for (const { decisionId, decidedAs } of desk.left) {
      const work = this.works.get(decisionId);
      if (work !== undefined) this.works.set(decisionId, { ...work, state: 'decided', decidedAs, waiter: null });
    }
    this.put(tenantId, made);
    this.ground.apply(tenantId, world.changes(), made);
    return { value: desk.left.length, messages: desk.told.map((left) => messageOf(tenantId, left)) };
  }
}
