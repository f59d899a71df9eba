/**
 * The invoker of a simulated engine: a queue, and the streams of workers. It keeps the promises of the bridge: an
 * attempt is queued once, what a worker that is here has is not sent again, what was sent on an open stream counts as
 * held although the worker does not name it yet, and an absence is told before the inventory that proves it.
 */
import { shardOf } from '../../../engine/src/kernel/index.js';
import type { Coordinator, ResultAck } from '../../../engine/src/workflow/coordinator/coordinator.js';
import type { AbortOrder, AttemptRef, RunKey, Task } from '../../../engine/src/workflow/coordinator/ports.js';
import type { AttemptOutcome } from '../../../engine/src/workflow/machine/index.js';
import type { Connection } from '../cast/connection.js';
import { attemptName, plainRef, runName, shortRef } from '../checks/names.js';
import type { Actor } from '../core/sim-event.js';
import type { Sim } from '../core/sim.js';
import type { EngineInvoker } from './engine-invoker.js';

interface OutAttempt {
  readonly ref: AttemptRef;
  readonly workerId: string;
  /** null: its stream ended. */
  stream: Connection | null;
  abort: AbortOrder['reason'] | null;
  /** It was dispatched while it was out: asked for again when it turns out not to be. */
  isWanted: boolean;
}

/** What the invoker asks of the coordinator. */
type Told = Pick<Coordinator, 'settle' | 'sent' | 'workerConnected' | 'workerGone' | 'recheck'>;

/** The invoker. */
export class SimInvoker implements EngineInvoker {
  readonly #queue = new Map<string, Task>();
  readonly #out = new Map<string, OutAttempt>();
  readonly #streams = new Set<Connection>();
  #isTurnDue = false;
  #turn = 0;
  #isDraining = false;
  /** Workers of whom a stream ended with attempts on it while another one is open. */
  readonly #mustProve = new Set<string>();
  #coordinator: Told | null = null;

  /** Runs whose tasks found the queue full. */
  readonly #refused = new Map<string, RunKey>();

  /**
   * @param limit tasks that may wait
   * @param answered told of each answer to a result
   */
  constructor(
    readonly sim: Sim,
    readonly actor: Actor,
    readonly limit: number,
    readonly answered: (ref: AttemptRef, ack: ResultAck) => void,
  ) {}

  attach(coordinator: Told): void {
    this.#coordinator = coordinator;
  }

  drain(): void {
    this.#isDraining = true;
  }

  get queued(): number {
    return this.#queue.size;
  }

  has(ref: AttemptRef): boolean {
    const name = attemptName(ref);
    return this.#queue.has(name) || this.#refused.has(runName(ref)) || this.streams.some(({ out }) => out.has(name));
  }

  get streams(): readonly Connection[] {
    return [...this.#streams];
  }

  dispatch(tasks: readonly Task[]): void {
    for (const task of tasks) {
      const name = attemptName(task);
      const out = this.#out.get(name);
      if (out !== undefined && out.stream !== null) {
        out.isWanted = true;
        continue;
      }
      if (out !== undefined) this.#out.delete(name);
      if (this.#queue.has(name)) continue;
      if (this.#queue.size < this.limit) this.#queue.set(name, task);
      else this.#refuse(task);
    }
    this.#scheduleTurn();
  }

  #refuse({ tenantId, runId }: Task): void {
    this.sim.marks.reach('queue_full');
    this.#refused.set(runName({ tenantId, runId }), { tenantId, runId });
  }

  /** Says once that there is room again. */
  #relieve(): void {
    if (this.#refused.size === 0 || this.#queue.size > this.limit / 2) return;
    const runs = [...this.#refused.values()];
    this.#refused.clear();
    this.#coordinator?.recheck(runs);
  }

  abort(orders: readonly AbortOrder[]): readonly AttemptRef[] {
    const never: AttemptRef[] = [];
    for (const order of orders) {
      if (this.#queue.delete(attemptName(order))) never.push(plainRef(order));
      else this.#abortOut(order);
    }
    return never;
  }

  settled(ref: AttemptRef): void {
    this.#out.delete(attemptName(ref));
  }

  dropShards(shards: readonly number[]): void {
    for (const [name, task] of this.#queue) if (shards.includes(shardOf(task.runId))) this.#queue.delete(name);
  }

  inventory(): readonly string[] {
    const asked = new Set<string>();
    for (const stream of this.#streams) {
      if (asked.has(stream.worker.workerId)) continue;
      asked.add(stream.worker.workerId);
      stream.toWorker('is asked for its inventory', () => stream.worker.inventoryAsked(stream));
    }
    return [...asked];
  }

  hello(stream: Connection, holds: readonly AttemptRef[]): void {
    // A newer stream of the same worker: the older one is given nothing any more.
    this.#streams.add(stream);
    this.#takeInventory(stream, holds);
  }

  inventoryCame(stream: Connection, holds: readonly AttemptRef[]): void {
    if (this.#streams.has(stream)) this.#takeInventory(stream, holds);
  }

  result(stream: Connection, ref: AttemptRef, outcome: AttemptOutcome): void {
    this.#coordinator?.settle(ref, outcome, (ack) => {
      this.#out.delete(attemptName(ref));
      this.answered(ref, ack);
      stream.toWorker(`is told ${ack} of ${shortRef(ref)}`, () => stream.worker.ack(ref, ack));
    });
  }

  roomAgain(stream: Connection, ref: AttemptRef): void {
    stream.out.delete(attemptName(ref));
    this.#scheduleTurn();
  }

  closed(stream: Connection): void {
    if (!this.#streams.delete(stream)) return;
    const { workerId } = stream.worker;
    const lost = [...this.#out.values()].filter((out) => out.stream === stream);
    for (const out of lost) out.stream = null;
    const other = this.#streamOf(workerId);
    if (other === undefined) {
      this.#coordinator?.workerGone(workerId);
      this.#askAgain(lost);
    } else if (lost.length > 0) {
      this.#mustProve.add(workerId);
      other.toWorker('is asked for its inventory', () => other.worker.inventoryAsked(other));
    }
  }

  /** What was dispatched in vain, because it seemed to be out, is dispatched again. */
  #askAgain(attempts: readonly OutAttempt[]): void {
    const wanted = attempts.filter((out) => out.isWanted).map((out) => out.ref);
    for (const out of attempts) out.isWanted = false;
    if (wanted.length > 0) this.#coordinator?.recheck(wanted);
  }

  /** The newest stream of a worker. */
  #streamOf(workerId: string): Connection | undefined {
    return this.streams.findLast((stream) => stream.worker.workerId === workerId);
  }

  #takeInventory(stream: Connection, holds: readonly AttemptRef[]): void {
    const { workerId } = stream.worker;
    const named = new Map(holds.map((ref) => [attemptName(ref), ref]));
    const missing: OutAttempt[] = [];
    for (const [name, out] of this.#out) {
      if (out.workerId !== workerId || named.has(name)) continue;
      if (out.stream !== null) named.set(name, out.ref);
      else {
        missing.push(out);
        this.#out.delete(name);
        this.sim.marks.reach('inventory_lost');
      }
    }
    for (const ref of holds) this.#holdOne(stream, ref);
    if (this.#mustProve.delete(workerId)) this.#coordinator?.workerGone(workerId);
    this.#coordinator?.workerConnected(workerId, [...named.values()]);
    this.#askAgain(missing);
    this.#scheduleTurn();
  }

  #holdOne(stream: Connection, ref: AttemptRef): void {
    const name = attemptName(ref);
    const known = this.#out.get(name);
    if (known !== undefined && known.stream !== null) return;
    if (known !== undefined) this.sim.marks.reach('inventory_kept');
    this.#out.set(name, {
      ref,
      workerId: stream.worker.workerId,
      stream,
      abort: known?.abort ?? null,
      isWanted: false,
    });
    if (known !== undefined && known.abort !== null) this.#tellAbort(stream, { ...ref, reason: known.abort });
  }

  #abortOut(order: AbortOrder): void {
    const out = this.#out.get(attemptName(order));
    if (out === undefined) return;
    out.abort = order.reason;
    if (out.stream !== null) this.#tellAbort(out.stream, order);
  }

  #tellAbort(stream: Connection, order: AbortOrder): void {
    stream.toWorker(`is told to stop ${shortRef(order)}`, () => stream.worker.abort(order));
  }

  #scheduleTurn(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    this.actor.deferred.push(() => this.#handOut());
  }

  #handOut(): void {
    this.#isTurnDue = false;
    if (this.#isDraining) return;
    const sent = new Map<string, AttemptRef[]>();
    for (const [name, task] of this.#queue) {
      const stream = this.#nextWithRoom();
      if (stream === undefined) break;
      this.#queue.delete(name);
      const ref = plainRef(task);
      const { workerId } = stream.worker;
      this.#out.set(name, { ref, workerId, stream, abort: null, isWanted: false });
      stream.out.add(name);
      stream.toWorker(`is given ${shortRef(ref)}`, () => stream.worker.task(stream, task));
      sent.set(workerId, [...(sent.get(workerId) ?? []), ref]);
    }
    for (const [workerId, refs] of sent) this.#coordinator?.sent(workerId, refs);
    this.#relieve();
  }

  #nextWithRoom(): Connection | undefined {
    const open = this.streams.filter((stream) => this.#streamOf(stream.worker.workerId) === stream);
    const free = open.filter((stream) => stream.out.size < stream.worker.slots);
    return free[(this.#turn += 1) % Math.max(1, free.length)];
  }
}
