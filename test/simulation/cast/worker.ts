/**
 * A process that runs step bodies: takes tasks on its streams, keeps each result until it is acknowledged, sends it
 * again to any engine, and names what it has whenever a stream opens.
 *
 * A job: waiting (no slot free) -> running -> done (its result is sent until it is acknowledged) -> (none)
 */
import type { ResultAck } from '../../../engine/src/workflow/coordinator/coordinator.js';
import type { AbortOrder, AttemptRef } from '../../../engine/src/workflow/coordinator/ports.js';
import type { AttemptOutcome } from '../../../engine/src/workflow/machine/index.js';
import { attemptName, plainRef, shortRef } from '../checks/names.js';
import type { Truth } from '../checks/truth.js';
import { Actor } from '../core/sim-event.js';
import type { Sim } from '../core/sim.js';
import { drawBody, drawOutcome, isKiller } from './body.js';
import { Connection, type EngineEnd, type GivenTask, type WorkerEnd } from './connection.js';

interface Job {
  readonly ref: AttemptRef;
  readonly task: GivenTask;
  /** Where it came from. */
  readonly stream: Connection;
  outcome: AttemptOutcome | null;
  isRunning: boolean;
  isAborted: boolean;
}

const RESEND_MIN_US = 1_500_000;
const RESEND_MAX_US = 4_000_000;
const RECONNECT_MIN_US = 20_000;
const RECONNECT_MAX_US = 1_500_000;

/** What a worker needs to know of the world. */
export interface Surroundings {
  /** Engines that can be reached by this worker now. */
  readonly reachable: (worker: Worker) => readonly EngineEnd[];
  /** A step body ends the process of its worker. */
  readonly killed: (worker: Worker) => void;
  /** Whether another worker has this attempt. */
  readonly isElsewhere: (worker: Worker, ref: AttemptRef) => boolean;
}

/** A worker. */
export class Worker implements WorkerEnd {
  readonly actor: Actor;
  readonly #jobs = new Map<string, Job>();
  #streams: readonly Connection[] = [];

  constructor(
    readonly sim: Sim,
    readonly truth: Truth,
    readonly workerId: string,
    readonly slots: number,
    readonly world: Surroundings,
  ) {
    this.actor = new Actor(workerId);
    sim.scheduler.after(sim.choices.int(0, 5_000), this.actor, 'comes up', () => this.#connect());
  }

  /** Attempts it has, running or waiting for their acknowledgement. */
  get holds(): readonly AttemptRef[] {
    return [...this.#jobs.values()].map((job) => job.ref);
  }

  /** Attempts whose results nobody acknowledged. */
  get unacknowledged(): readonly AttemptRef[] {
    return [...this.#jobs.values()].filter((job) => job.outcome !== null).map((job) => job.ref);
  }

  has(ref: AttemptRef): boolean {
    return this.#jobs.has(attemptName(ref));
  }

  get streams(): readonly Connection[] {
    return this.#streams;
  }

  /** The process dies; nobody has its attempts any more. */
  crash(isSilent: boolean): void {
    const engineMaxUs = isSilent ? 6_000_000 : 20_000;
    for (const stream of this.#streams) stream.cut(engineMaxUs, 20_000);
    this.#streams = [];
    this.#jobs.clear();
    this.actor.die();
  }

  task(stream: Connection, task: GivenTask): void {
    const ref = plainRef(task);
    const known = this.#jobs.get(attemptName(ref));
    if (known !== undefined) {
      this.#freeSlot(stream, ref);
      if (known.outcome !== null) this.#send(known);
      return;
    }
    if (this.world.isElsewhere(this, ref)) this.sim.marks.reach('sent_again');
    const job: Job = { ref, task, stream, outcome: null, isRunning: false, isAborted: false };
    this.#jobs.set(attemptName(ref), job);
    this.#fillSlots();
    if (this.sim.faults.strikes('result_made_up')) this.#makeUp(ref);
  }

  abort(order: AbortOrder): void {
    const job = this.#jobs.get(attemptName(order));
    if (job === undefined || job.outcome !== null || this.sim.faults.strikes('abort_ignored')) return;
    job.isAborted = true;
    if (job.isRunning) {
      const reactUs = this.sim.choices.int(0, 300_000);
      this.sim.scheduler.after(reactUs, this.actor, `stops ${shortRef(job.ref)}`, () => this.#done(job));
    } else {
      this.#done(job);
    }
  }

  ack(ref: AttemptRef, _ack: ResultAck): void {
    if (this.#jobs.get(attemptName(ref))?.outcome !== null) this.#jobs.delete(attemptName(ref));
    this.#fillSlots();
  }

  inventoryAsked(stream: Connection): void {
    const { holds } = this;
    stream.toEngine(`${this.workerId} has ${holds.length} attempts`, () => stream.engine.inventoryCame(stream, holds));
  }

  closed(stream: Connection): void {
    this.#streams = this.#streams.filter((other) => other !== stream);
    this.reconnect();
  }

  /** Tries soon to reach the engines it has no stream to. */
  reconnect(): void {
    const { scheduler, choices } = this.sim;
    scheduler.after(choices.int(RECONNECT_MIN_US, RECONNECT_MAX_US), this.actor, 'reconnects', () => this.#connect());
  }

  #connect(): void {
    for (const engine of this.world.reachable(this)) {
      if (this.#streams.some((stream) => stream.engine === engine)) continue;
      const stream = new Connection(this.sim, engine, this);
      this.#streams = [...this.#streams, stream];
      const { holds } = this;
      stream.toEngine(`${this.workerId} says hello with ${holds.length}`, () => engine.hello(stream, holds));
    }
    for (const job of this.#jobs.values()) if (job.outcome !== null) this.#send(job);
  }

  #fillSlots(): void {
    let running = [...this.#jobs.values()].filter((job) => job.isRunning && job.outcome === null).length;
    for (const job of this.#jobs.values()) {
      if (running >= this.slots) return;
      if (job.isRunning || job.outcome !== null) continue;
      job.isRunning = true;
      running += 1;
      this.#work(job);
    }
  }

  #work(job: Job): void {
    const { scheduler, choices } = this.sim;
    const workUs = drawBody(this.sim, job.task);
    const short = shortRef(job.ref);
    if (isKiller(this.sim, this.truth, job.ref)) {
      scheduler.after(workUs * choices.oneOf(1, 8), this.actor, `dies of ${short}`, () => this.world.killed(this));
    } else {
      scheduler.after(workUs, this.actor, `ends ${short}`, () => this.#done(job));
    }
  }

  #done(job: Job): void {
    if (job.outcome !== null || this.#jobs.get(attemptName(job.ref)) !== job) return;
    const outcome = drawOutcome(this.sim, this.truth, job.ref, this.workerId, job.isAborted);
    job.outcome = outcome;
    this.truth.produce(job.ref, outcome);
    this.#send(job);
    this.#freeSlot(job.stream, job.ref);
    this.#resendLater(job);
    this.#fillSlots();
  }

  #freeSlot(stream: Connection, ref: AttemptRef): void {
    stream.toEngine(`${this.workerId} has room again`, () => stream.engine.roomAgain(stream, ref));
  }

  #resendLater(job: Job): void {
    const { scheduler, choices } = this.sim;
    scheduler.after(choices.int(RESEND_MIN_US, RESEND_MAX_US), this.actor, `looks at ${shortRef(job.ref)}`, () => {
      if (this.#jobs.get(attemptName(job.ref)) !== job) return;
      this.#send(job);
      this.#resendLater(job);
    });
  }

  #send(job: Job): void {
    const { faults, choices } = this.sim;
    const open = this.#streams.filter((stream) => !stream.isCut);
    const others = open.filter((stream) => stream !== job.stream);
    const isAstray = others.length > 0 && (!open.includes(job.stream) || faults.strikes('result_wrong_node'));
    const stream = isAstray ? choices.pick(others) : job.stream;
    const { outcome } = job;
    if (stream === undefined || outcome === null || faults.strikes('result_lost')) return;
    const times = faults.strikes('result_doubled') ? 2 : 1;
    for (let time = 0; time < times; time += 1) {
      const target = time === 0 ? stream : (choices.pick(open) ?? stream);
      target.toEngine(`has ${outcome.kind} of ${shortRef(job.ref)}`, () =>
        target.engine.result(target, job.ref, outcome),
      );
    }
  }

  /** A result of an attempt that nobody gave to this worker: the next one, or one of a step that is not there. */
  #makeUp(ref: AttemptRef): void {
    const path = this.sim.choices.chance(0.5) ? 'ghost' : ref.path;
    const made = { ...ref, path, attempt: path === 'ghost' ? 1 : ref.attempt + 50 };
    const outcome: AttemptOutcome = { kind: 'cancelled' };
    for (const stream of this.#streams.slice(0, 1)) {
      stream.toEngine(`has a made up result of ${shortRef(made)}`, () => stream.engine.result(stream, made, outcome));
    }
  }
}
