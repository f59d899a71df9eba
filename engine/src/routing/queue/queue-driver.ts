/**
 * Looks at queues of pools when they are due: after somebody became free, and every few seconds all the same.
 *
 *   queue: resting -> taken by a node -> looked at from its head -> resting | empty
 *
 * Every node looks; one that takes a queue has it for a while. Invariants: 1. what a look decides is settled item by
 * item under the locks of its rows: two nodes that look at one queue do the same work once; 2. the head is looked at
 * first and in order, and on as long as anything leaves; work that nobody can take holds nothing up behind it; 3.
 * beyond that every item is looked at once a minute, and when its time is up; 4. a hint that is lost costs time, not
 * work: the queue is looked at again.
 */
import { DuctorError } from '../../kernel/index.js';
import { BATCH, DueDriver, type DueDriverParts } from '../due/due-driver.js';
import type { QueueLooks } from '../lane/queue-looks.js';
import type { ItemResult } from '../lane/waiting-desk.js';
import type { QueueHints } from './queue-hints.js';
import { dueWaiting, nextWaiting } from './sql/read-waiting.js';
import { orderQueue, restQueue, takeDueQueues, type DueQueue } from './sql/pool-queues.js';
import type { QueuePlace, WaitingItem } from './waiting-item.js';

/** Items of a transaction. */
const ITEMS = 64;
/** So many items in a row that nobody can take end a look at the head. */
const BARREN = 128;
/** A look does no more of what was not looked at for long. */
const SWEPT = 1_024;
/** Queues that are taken at a time: as many as a node looks at within the lease. */
const QUEUES = 16;
/** How long one who has taken a queue has it before another one may. */
const LEASE_US = 10_000_000;
/** A look that takes longer goes on as a new one. */
const LONGEST_MS = 4_000;
const REST_US = 5_000_000;

/** Work that has left a queue. */
export interface QueueEvent {
  readonly tenantId: string;
  readonly poolId: string;
  readonly decisionId: string;
  readonly outcome: string;
  readonly waitedUs: number;
}

/** What it works with. */
export interface QueueDriverParts extends DueDriverParts {
  readonly looks: Pick<QueueLooks, 'look'>;
  readonly hints: QueueHints;
  /** Told once it is committed. */
  readonly onEvent: (event: QueueEvent) => void;
}

/** See above. */
export class QueueDriver extends DueDriver<QueueDriverParts> {
  constructor(parts: QueueDriverParts) {
    super(parts, 'queues');
  }

  override start(): void {
    super.start();
    this.parts.hints.start(this.parts, () => this.batchUntilDone());
  }

  override async stop(): Promise<void> {
    await this.parts.hints.stop();
    await super.stop();
  }

  /** Looks at all queues that are due, whatever DueWork knows. */
  async batchUntilDone(): Promise<void> {
    while ((await this.#takeAndLook()) === QUEUES);
  }

  protected async batch(): Promise<number> {
    return (await this.#takeAndLook()) === QUEUES ? BATCH : 0;
  }

  async #takeAndLook(): Promise<number> {
    const due = await takeDueQueues(this.parts.db, QUEUES, LEASE_US);
    for (const queue of due) {
      try {
        const isDone = await this.#look(queue);
        await restQueue(this.parts.db.asTenant(queue.tenantId), queue, isDone ? REST_US : 0);
      } catch (error) {
        // Its lease ends, and it is looked at again.
        this.parts.onError(error);
      }
    }
    return due.length;
  }

  /** Looks at one queue; whether it came to an end. */
  async #look(queue: DueQueue): Promise<boolean> {
    const { tenantId, poolId } = queue;
    const { db, clock } = this.parts;
    const untilMs = clock.monotonicMs() + LONGEST_MS;
    await this.#order(queue);
    let after: QueuePlace | undefined;
    for (let barren = 0; barren < BARREN;) {
      const items = await nextWaiting(db.asTenant(tenantId), tenantId, poolId, after, ITEMS);
      if (items.length === 0) break;
      barren = (await this.#lookAt(queue, items)) > 0 ? 0 : barren + items.length;
      after = items.at(-1);
      if (clock.monotonicMs() > untilMs) return false;
    }
    for (let swept = 0; swept < SWEPT;) {
      const items = await dueWaiting(db.asTenant(tenantId), tenantId, poolId, ITEMS);
      await this.#lookAt(queue, items);
      swept += items.length;
      if (items.length < ITEMS) break;
      if (clock.monotonicMs() > untilMs) return false;
    }
    return true;
  }

  /** Orders it anew where its pool says so. */
  async #order(queue: DueQueue): Promise<void> {
    const { tenantId, by, wanted } = queue;
    // By what the pool says in the database: a view may be old, and nothing here would notice.
    if (by.ordering === wanted.ordering && by.ageWeight === wanted.ageWeight && by.boost === wanted.boost) return;
    await orderQueue(this.parts.db.asTenant(tenantId), queue);
  }

  /** Returns how many left. */
  async #lookAt({ tenantId, poolId }: DueQueue, items: readonly WaitingItem[]): Promise<number> {
    if (items.length === 0) return 0;
    const results = await this.parts.looks.look(tenantId, items);
    const nowUs = this.parts.clock.nowUs();
    let left = 0;
    for (const [index, { decisionId, queuedUs }] of items.entries()) {
      const result: ItemResult = results[index] ?? { kind: 'gone' };
      if (result.kind === 'failed') this.parts.onError(DuctorError.from(result.error));
      if (result.kind === 'gone') left += 1;
      if (result.kind !== 'left') continue;
      left += 1;
      const { outcome } = result;
      this.parts.onEvent({ tenantId, poolId, decisionId, outcome, waitedUs: nowUs - queuedUs });
    }
    return left;
  }
}
