/**
 * Waiting work in a batch: decided before work that comes in and that it goes before in its queue, and all of it where
 * a queue is looked at.
 *
 *   waiting -> left (its decision is written) | stayed | to be decided again (pools are missing)
 *
 * Invariants: 1. its row is locked: it leaves once; 2. what stays changes nothing of the world and has no record; 3. a
 * call of Route takes nothing that the head of its pool's queue could have had.
 */
import type { Decision } from '../pipeline/decision.js';
import { goesFirst, orderedOf } from '../queue/order.js';
import { endOf, nextLookUs } from '../queue/new-waiting.js';
import type { LeftQueues } from '../queue/queue-waiters.js';
import type { LeftWaiting, StayedWaiting } from '../queue/sql/write-waiting.js';
import { NO_POOL, type WaitingItem } from '../queue/waiting-item.js';
import type { PoolView } from '../pipeline/view.js';
import type { CompiledRule } from '../rules/rule.js';
import type { RouteAsk } from './ask.js';
import type { Asked } from './asked.js';
import type { LaneParts } from './lane-parts.js';
import { isAssigning, madeOf, type Made } from './made.js';
import { unanswerable } from './unanswerable.js';
import type { World } from './world.js';

/** Waiting work, with what strategies in code said about it. */
export interface AskedItem {
  readonly item: WaitingItem;
  /** By pool. */
  readonly answers: Map<string, Asked>;
  spentUs: number;
}

/** What a look at waiting work came to. */
export type ItemResult =
  | { readonly kind: 'left'; readonly outcome: string; readonly decidedAs: string }
  | { readonly kind: 'stayed' | 'gone' }
  | { readonly kind: 'again'; readonly missing: readonly string[] }
  | { readonly kind: 'failed'; readonly error: unknown };

/** What its decisions are made with. */
export interface DeskParts {
  readonly lane: Pick<LaneParts, 'newId' | 'engine'>;
  readonly rules: readonly CompiledRule[];
  readonly views: ReadonlyMap<string, PoolView | undefined>;
  /** Claim queues that there are. */
  readonly queues: ReadonlySet<string>;
  readonly world: World;
}

/** Whether it goes on waiting: what is put off has nobody who would ask again, and an outage is no answer. */
function stays({ outcome, outcomeClass, poolId = NO_POOL, reason, input }: Decision, item: WaitingItem): boolean {
  if (outcome === 'queued') return poolId === item.poolId;
  if (input.nowUs >= item.expiresUs || reason === 'pool_not_found') return false;
  return outcome === 'deferred' || outcomeClass === 'infrastructure';
}

/** See above. */
export class WaitingDesk {
  readonly made: Made[] = [];
  readonly left: LeftWaiting[] = [];
  /** What somebody is to be told of. */
  readonly told: LeftQueues[] = [];
  readonly stayed: StayedWaiting[] = [];
  readonly results = new Map<string, ItemResult>();
  #waiting: readonly AskedItem[];

  /** @param waiting in the order of their queues, locked */
  constructor(
    readonly parts: DeskParts,
    waiting: readonly AskedItem[],
  ) {
    this.#waiting = waiting;
  }

  /** Decides what goes before work that comes in, in the queue of a pool. */
  decideBefore(poolId: string | undefined, ask: RouteAsk): void {
    const view = poolId === undefined ? undefined : this.parts.views.get(poolId);
    if (view === undefined || this.#waiting.length === 0) return;
    const coming = orderedOf(ask, this.parts.world.nowUs);
    const isFirst = ({ item }: AskedItem): boolean =>
      item.poolId === poolId && goesFirst(view.settings.queue, item, coming);
    const first = this.#waiting.filter(isFirst);
    if (first.length === 0) return;
    this.#waiting = this.#waiting.filter((each) => !isFirst(each));
    for (const each of first) this.#decide(each);
  }

  /** Decides everything that is left. */
  decideRest(): void {
    const rest = this.#waiting;
    this.#waiting = [];
    for (const each of rest) this.#decide(each);
  }

  #decide(asked: AskedItem): void {
    const { world } = this.parts;
    const mark = world.mark();
    try {
      const result = this.#decideOne(asked);
      if (result.kind !== 'left') world.takeBack(mark);
      this.results.set(asked.item.decisionId, result);
    } catch (error) {
      world.takeBack(mark);
      this.results.set(asked.item.decisionId, { kind: 'failed', error });
    }
  }

  #decideOne({ item, answers, spentUs }: AskedItem): ItemResult {
    const { lane, rules, world, queues } = this.parts;
    const { ask, principalId } = item;
    const decisionId = lane.newId();
    const work = { ask, decisionId, answers, spentUs, firstPoolId: undefined, rules };
    const decision = world.decide({ ...work, isGranting: true });
    if ('missing' in decision) return { kind: 'again', missing: decision.missing };
    if (stays(decision, item) || unanswerable(decision, queues) !== undefined) return this.#stay(item, decision);
    const assignmentIds = isAssigning(decision) ? decision.slate.map(() => lane.newId()) : [];
    const { waiter } = item;
    // What a step waits for was asked by its run.
    const runId = waiter === null ? null : principalId;
    this.made.push({ ...madeOf(decision, { ask, principalId, runId, engine: lane.engine, assignmentIds }), waiter });
    this.left.push({ decisionId: item.decisionId, decidedAs: decisionId });
    if (waiter !== null && decision.outcome !== 'queued') {
      const workId = ask.waited?.firstId ?? item.decisionId;
      this.told.push({ waiter, workId, came: { kind: 'decided', decision, assignmentIds } });
    }
    return { kind: 'left', outcome: decision.outcome, decidedAs: decisionId };
  }

  #stay({ decisionId, expiresUs: untilUs, reason: before }: WaitingItem, decision: Decision): ItemResult {
    const expiresUs = decision.outcome === 'queued' ? endOf(decision) : untilUs;
    const nextUs = nextLookUs(decision.input.nowUs, expiresUs);
    this.stayed.push({ decisionId, reason: decision.reason ?? before, expiresUs, nextUs });
    return { kind: 'stayed' };
  }
}
