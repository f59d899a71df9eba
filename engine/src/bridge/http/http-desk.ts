/**
 * Makes the calls of HTTP steps, beside the bridge: an invoker that keeps these tasks and hands all others on.
 * To the coordinator it is one more worker of this node, by the name `http/NODE`.
 *
 *   a task: waiting -> under way -> answered, until its result is recorded
 *
 * Invariants:
 * 1. An attempt is waiting, under way or answered, or not here; never two of these.
 * 2. At most PER_TENANT calls of a tenant are under way and at most IN_ALL; tenants take turns.
 * 3. At most WAITING_PER_TENANT tasks of a tenant wait. One more is forgotten, and its run is named to the coordinator
 *    once there is room.
 */
import { DuctorError, shardOf, type Clock } from '../../kernel/index.js';
import type { EgressClient } from '../../egress/index.js';
import { attemptKey } from '../attempt-key.js';
import type { AbortOrder, AttemptOutcome, AttemptRef, BridgeCoordinator, Invoker, RunKey, Task } from '../ports.js';
import { HTTP_QUEUE } from '../ports.js';
import { outcomeOfAnswer, outcomeOfFailure } from './http-outcome.js';
import { egressRequestOf, httpCallOf } from './http-request.js';

/** What it works with. */
export interface HttpDeskParts {
  /** Who gets all other tasks. */
  readonly others: Required<Invoker>;
  /** Closed with the desk. */
  readonly client: EgressClient;
  readonly clock: Clock;
  readonly nodeId: string;
}

interface Call {
  readonly ref: AttemptRef;
  readonly stop: AbortController;
  told: AbortOrder['reason'] | null;
}

/** Calls of one tenant under way. */
export const PER_TENANT = 50;
const IN_ALL = 400;
const WAITING_PER_TENANT = 1_000;

const refOf = ({ tenantId, runId, path, attempt }: AttemptRef): AttemptRef => ({ tenantId, runId, path, attempt });

/** See above. */
export class HttpDesk implements Required<Invoker> {
  readonly #parts: HttpDeskParts;
  readonly #name: string;
  /** By tenant, each in the order of arrival within a priority. */
  readonly #waiting = new Map<string, Map<string, Task>>();
  readonly #underWay = new Map<string, number>();
  readonly #calls = new Map<string, Call>();
  readonly #answered = new Map<string, AttemptRef>();
  /** Runs whose tasks found no room. */
  readonly #refused = new Map<string, RunKey>();
  #coordinator: BridgeCoordinator | null = null;
  #isDraining = false;
  #idle: (() => void)[] = [];

  constructor(parts: HttpDeskParts) {
    this.#parts = parts;
    this.#name = `http/${parts.nodeId}`;
  }

  /** Says who the coordinator is. */
  attach(coordinator: BridgeCoordinator): void {
    this.#coordinator = coordinator;
    coordinator.workerConnected(this.#name, []);
  }

  dispatch(tasks: readonly Task[]): void {
    const others = tasks.filter((task) => task.queue !== HTTP_QUEUE);
    if (others.length > 0) this.#parts.others.dispatch(others);
    if (others.length === tasks.length) return;
    for (const task of tasks) if (task.queue === HTTP_QUEUE) this.#enqueue(task);
    this.#begin();
  }

  abort(orders: readonly AbortOrder[]): readonly AttemptRef[] {
    const neverSent: AttemptRef[] = [];
    const others: AbortOrder[] = [];
    for (const order of orders) {
      const call = this.#calls.get(attemptKey(order));
      if (this.#forget(order)) neverSent.push(refOf(order));
      else if (call === undefined) others.push(order);
      else {
        call.told = order.reason;
        call.stop.abort();
      }
    }
    return [...neverSent, ...this.#parts.others.abort(others)];
  }

  withdraw(refs: readonly AttemptRef[]): void {
    this.#parts.others.withdraw(refs.filter((ref) => !this.#forget(ref)));
  }

  settled(ref: AttemptRef): void {
    this.#parts.others.settled(ref);
  }

  dropShards(shards: readonly number[]): void {
    const gone = new Set(shards);
    for (const waiting of this.#waiting.values()) {
      for (const [key, { runId }] of waiting) if (gone.has(shardOf(runId))) waiting.delete(key);
    }
    this.#parts.others.dropShards(shards);
  }

  inventory(): readonly string[] {
    this.#parts.clock.defer(() => this.#coordinator?.workerConnected(this.#name, this.#holds()));
    return [...this.#parts.others.inventory(), this.#name];
  }

  /** Begins no more calls; resolves when none is under way, or after so many ms. */
  async drain(limitMs: number): Promise<void> {
    this.#isDraining = true;
    if (this.#calls.size === 0) return;
    await new Promise<void>((resolve) => {
      const limit = this.#parts.clock.setTimer(limitMs, resolve);
      this.#idle.push(() => {
        limit.cancel();
        resolve();
      });
    });
  }

  /** Gives up what is under way; whoever has the run next tries again. */
  close(): void {
    this.#isDraining = true;
    this.#coordinator = null;
    for (const { stop } of this.#calls.values()) stop.abort();
    this.#parts.client.close();
  }

  #holds(): readonly AttemptRef[] {
    return [...[...this.#calls.values()].map(({ ref }) => ref), ...this.#answered.values()];
  }

  #forget(ref: AttemptRef): boolean {
    return this.#waiting.get(ref.tenantId)?.delete(attemptKey(ref)) ?? false;
  }

  #enqueue(task: Task): void {
    const key = attemptKey(task);
    if (this.#calls.has(key) || this.#answered.has(key)) return;
    const waiting = this.#waiting.get(task.tenantId) ?? new Map<string, Task>();
    this.#waiting.set(task.tenantId, waiting);
    if (waiting.size < WAITING_PER_TENANT || waiting.has(key)) waiting.set(key, task);
    else this.#refused.set(`${task.tenantId}/${task.runId}`, { tenantId: task.tenantId, runId: task.runId });
  }

  /** Begins what there is room for, a call of each tenant in turn. */
  #begin(): void {
    if (this.#isDraining) return;
    for (let hasBegun = true; hasBegun;) {
      hasBegun = false;
      for (const [tenantId, waiting] of this.#waiting) {
        if (this.#calls.size >= IN_ALL) return;
        if (waiting.size === 0) this.#waiting.delete(tenantId);
        else if ((this.#underWay.get(tenantId) ?? 0) < PER_TENANT) {
          this.#call(mostUrgent(waiting));
          hasBegun = true;
        }
      }
    }
  }

  #call(task: Task): void {
    const ref = refOf(task);
    const call: Call = { ref, stop: new AbortController(), told: null };
    this.#forget(task);
    this.#calls.set(attemptKey(ref), call);
    this.#underWay.set(ref.tenantId, (this.#underWay.get(ref.tenantId) ?? 0) + 1);
    this.#coordinator?.sent(this.#name, [ref]);
    void this.#outcomeOf(task, call).then((outcome) => this.#ended(call, outcome));
  }

  async #outcomeOf(task: Task, call: Call): Promise<AttemptOutcome> {
    const { client, clock } = this.#parts;
    try {
      const http = httpCallOf(task);
      const answer = await client.send({ ...egressRequestOf(http, task), signal: call.stop.signal });
      return outcomeOfAnswer(http, answer, clock.nowUs() / 1_000);
    } catch (error) {
      return outcomeOfFailure(DuctorError.from(error), call.told);
    }
  }

  #ended({ ref }: Call, outcome: AttemptOutcome): void {
    const key = attemptKey(ref);
    this.#calls.delete(key);
    const left = (this.#underWay.get(ref.tenantId) ?? 1) - 1;
    if (left > 0) this.#underWay.set(ref.tenantId, left);
    else this.#underWay.delete(ref.tenantId);
    if (this.#coordinator !== null) {
      this.#answered.set(key, ref);
      this.#coordinator.settle(ref, outcome, () => this.#answered.delete(key));
    }
    this.#begin();
    this.#nameRefused();
    if (this.#calls.size > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Names the runs whose tasks were forgotten, once their tenants have room. */
  #nameRefused(): void {
    if (this.#refused.size === 0) return;
    const room = [...this.#refused].filter(
      ([, { tenantId }]) => (this.#waiting.get(tenantId)?.size ?? 0) <= WAITING_PER_TENANT / 2,
    );
    for (const [key] of room) this.#refused.delete(key);
    if (room.length > 0)
      this.#coordinator?.recheck(
        room.map(([, run]) => run),
        true,
      );
  }
}

/** The first that came of the most urgent; there is one. */
function mostUrgent(waiting: ReadonlyMap<string, Task>): Task {
  let found: Task | undefined;
  for (const task of waiting.values()) {
    if (found === undefined || task.priority < found.priority) found = task;
    if (found.priority === 1) break;
  }
  if (found === undefined) throw new DuctorError('internal', 'no task waits');
  return found;
}
