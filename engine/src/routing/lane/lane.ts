/**
 * The lane of Route on a node: concurrent calls of a tenant share a transaction.
 *
 *   waiting -> in a batch -> answered | waiting again (a view was old, or the decision came to a pool not yet locked)
 *   waiting -> asking (strategies in code, beside the lane) -> waiting
 *
 * Invariants:
 * 1. A tenant has at most one batch in flight here, besides those that were split off; calls are decided in the order
 *    in which they came, as far as they share a batch.
 * 2. No two calls of a batch have the same idempotency key.
 * 3. A call is answered once its transaction has been committed, never before.
 * 4. A batch whose locks are not had in time is split by pool, and each part tried once by itself; only what fails
 *    alone is capacity_authority_unavailable.
 */
import { DuctorError } from '../../kernel/index.js';
import { classify } from '../../store/index.js';
import type { CompiledRule } from '../rules/rule.js';
import { firstPoolOf } from './ask.js';
import type { Asking } from './asking.js';
import type { LaneParts } from './lane-parts.js';
import { fingerprintOf, type RouteCall, type Routed, type WaitingCall } from './route-call.js';
import type { Views } from './shared-reads.js';
import type { BatchRunner } from './batch-runner.js';
import type { Batch, BatchResult, PlannedCall } from './run-batch.js';

/** Most calls of a batch: what is computed under locks stays within 5 ms. */
const MAX_BATCH = 64;
/** Most calls of a tenant that wait; beyond, new ones are refused. */
const MAX_WAITING = 10_000;
/** How often a call is decided that did not count. */
const MAX_TRIES = 12;
/** Of a call without an idempotency key. */
const NO_FINGERPRINT = Buffer.alloc(0);

/** Calls of one tenant. */
interface Queue {
  readonly calls: WaitingCall[];
  /** Calls for which strategies in code are asked now. */
  asking: number;
  isBusy: boolean;
}

function outage(message: string): DuctorError {
  return new DuctorError('capacity_authority_unavailable', message);
}

/** See above. */
export class RouteLane {
  readonly #parts: LaneParts;
  readonly #asking: Asking;
  readonly #runner: BatchRunner;
  readonly #queues = new Map<string, Queue>();

  constructor(parts: LaneParts, asking: Asking, runner: BatchRunner) {
    this.#parts = parts;
    this.#asking = asking;
    this.#runner = runner;
  }

  /**
   * Decides and assigns. Rejects with idempotency_conflict, unimplemented, capacity_authority_unavailable,
   * limit_exceeded, database_unavailable.
   */
  route(call: RouteCall): Promise<Routed> {
    const { tenantId } = call;
    const queue = this.#queueOf(tenantId);
    if (queue.calls.length + queue.asking >= MAX_WAITING) {
      throw new DuctorError('limit_exceeded', `${MAX_WAITING} calls of Route wait at this node`);
    }
    return new Promise((resolve, reject) => {
      const { principalId, ask, idempotencyKey } = call;
      // Written out: it is made for every call, and objects spread together are slow.
      queue.calls.push({
        tenantId,
        principalId,
        ask,
        idempotencyKey,
        fingerprint: idempotencyKey === '' ? NO_FINGERPRINT : fingerprintOf(ask),
        decisionId: this.#parts.newId(),
        answers: new Map(),
        spentUs: 0,
        reach: new Set(),
        tries: 0,
        resolve,
        reject,
      });
      this.#wake(tenantId, queue);
    });
  }

  #queueOf(tenantId: string): Queue {
    const queue = this.#queues.get(tenantId) ?? { calls: [], asking: 0, isBusy: false };
    this.#queues.set(tenantId, queue);
    return queue;
  }

  #wake(tenantId: string, queue: Queue): void {
    if (queue.isBusy) return;
    queue.isBusy = true;
    // What else comes in with the same read of the socket joins the batch.
    this.#parts.clock.defer(() => void this.#drain(tenantId, queue));
  }

  async #drain(tenantId: string, queue: Queue): Promise<void> {
    while (queue.calls.length > 0) await this.#runNext(tenantId, queue);
    queue.isBusy = false;
    if (queue.asking === 0) this.#queues.delete(tenantId);
  }

  /** The next calls; one whose key is among them already waits for the next batch. */
  #take(queue: Queue): readonly WaitingCall[] {
    const keys = new Set<string>();
    const taken: WaitingCall[] = [];
    const left: WaitingCall[] = [];
    for (const call of queue.calls) {
      const isTaken = taken.length < MAX_BATCH && !(call.idempotencyKey !== '' && keys.has(call.idempotencyKey));
      (isTaken ? taken : left).push(call);
      keys.add(call.idempotencyKey);
    }
    queue.calls.splice(0, queue.calls.length, ...left);
    return taken;
  }

  /** Never rejects. */
  async #runNext(tenantId: string, queue: Queue): Promise<void> {
    const calls = this.#take(queue);
    try {
      const rules = await this.#rulesFor(tenantId, calls);
      await this.#run(tenantId, queue, this.#plan(calls, rules), rules, true);
    } catch (error) {
      for (const call of calls) call.reject(error);
    }
  }

  #rulesFor(tenantId: string, calls: readonly WaitingCall[]): Promise<readonly CompiledRule[]> {
    const isAsked = calls.some(({ ask }) => ask.poolId === undefined);
    return isAsked ? this.#parts.views.rules(tenantId) : Promise.resolve([]);
  }

  #plan(calls: readonly WaitingCall[], rules: readonly CompiledRule[]): readonly PlannedCall[] {
    const nowUs = this.#parts.clock.nowUs();
    return calls.flatMap((call) => {
      try {
        return [{ call, firstPoolId: firstPoolOf(call.ask, rules, nowUs) }];
      } catch (error) {
        call.reject(error);
        return [];
      }
    });
  }

  /** Runs a batch, and splits it when its locks are not had in time. */
  async #run(
    tenantId: string,
    queue: Queue,
    calls: readonly PlannedCall[],
    rules: readonly CompiledRule[],
    mayBeSplit: boolean,
  ): Promise<void> {
    try {
      const poolIds = calls.flatMap(({ call, firstPoolId }) => [...call.reach, ...(firstPoolId ? [firstPoolId] : [])]);
      const views = await this.#parts.views.pools(tenantId, poolIds);
      const batch = { tenantId, calls: this.#ready(tenantId, queue, calls, views), views, rules };
      if (batch.calls.length === 0) return;
      this.#answer(queue, batch, await this.#runner.run(batch));
    } catch (error) {
      const { class: found } = classify(error);
      const pools = new Set(calls.map(({ firstPoolId }) => firstPoolId));
      if (found === 'lock' && mayBeSplit && pools.size > 1) return this.#split(tenantId, queue, calls, rules);
      const isOutage = found === 'lock' || found === 'serialization' || found === 'timeout';
      const reason = isOutage ? outage('the locks of the pool and its recipients were not had in time') : error;
      for (const { call } of calls) call.reject(reason);
    }
  }

  /** Calls that may be decided now; for the others apps are asked first, beside the lane, so that nobody waits. */
  #ready(tenantId: string, queue: Queue, calls: readonly PlannedCall[], views: Views): readonly PlannedCall[] {
    return calls.filter(({ call, firstPoolId }) => {
      const reached = [...call.reach, ...(firstPoolId === undefined ? [] : [firstPoolId])];
      if (!this.#asking.isDue(call, views, reached)) return true;
      const mine = new Map(reached.map((id) => [id, views.get(id)]));
      queue.asking += 1;
      void this.#asking
        .fill(call, mine)
        .then(
          () => void queue.calls.push(call),
          (error: unknown) => call.reject(error),
        )
        .finally(() => {
          queue.asking -= 1;
          this.#wake(tenantId, queue);
        });
      return false;
    });
  }

  /** Each pool by itself, beside the lane, so that the others do not wait for the one that is held up. */
  #split(tenantId: string, queue: Queue, calls: readonly PlannedCall[], rules: readonly CompiledRule[]): void {
    for (const poolId of new Set(calls.map(({ firstPoolId }) => firstPoolId))) {
      const part = calls.filter(({ firstPoolId }) => firstPoolId === poolId);
      void this.#run(tenantId, queue, part, rules, false);
    }
  }

  #answer(queue: Queue, { tenantId, calls }: Batch, { results }: BatchResult): void {
    const again: WaitingCall[] = [];
    for (const [index, { call }] of calls.entries()) {
      const result = results[index];
      if (result?.kind === 'routed') call.resolve(result.routed);
      else if (result?.kind === 'failed') call.reject(result.error);
      else if (call.tries >= MAX_TRIES) call.reject(outage('the pool changed again and again while it was decided'));
      else {
        for (const poolId of result?.missing ?? []) call.reach.add(poolId);
        call.tries += 1;
        again.push(call);
      }
    }
    queue.calls.unshift(...again);
    if (again.length > 0) this.#wake(tenantId, queue);
  }
}
