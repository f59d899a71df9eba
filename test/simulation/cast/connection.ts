/**
 * A stream between an engine and a worker: messages keep their order in each direction, and those on their way are lost
 * with it. Each end learns of the end by itself, later.
 *
 *   up -> cut -> (each end) closed
 */
import type { AbortOrder, AttemptRef, Task } from '../../../engine/src/workflow/coordinator/ports.js';
import type { AttemptOutcome } from '../../../engine/src/workflow/machine/index.js';
import type { ResultAck } from '../../../engine/src/workflow/coordinator/coordinator.js';
import type { Actor } from '../core/sim-event.js';
import type { Sim } from '../core/sim.js';

/** What an engine hears on its end. */
export interface EngineEnd {
  readonly actor: Actor;
  /** The stream opened; the worker has these attempts. */
  hello(stream: Connection, holds: readonly AttemptRef[]): void;
  inventoryCame(stream: Connection, holds: readonly AttemptRef[]): void;
  result(stream: Connection, ref: AttemptRef, outcome: AttemptOutcome): void;
  /** The slot that this attempt took on the stream is free again. */
  roomAgain(stream: Connection, ref: AttemptRef): void;
  closed(stream: Connection): void;
}

/** What a worker looks at of a task. */
export type GivenTask = AttemptRef & Pick<Task, 'timeoutMs'>;

/** What a worker hears on its end. */
export interface WorkerEnd {
  readonly actor: Actor;
  readonly workerId: string;
  readonly slots: number;
  task(stream: Connection, task: GivenTask): void;
  abort(order: AbortOrder): void;
  ack(ref: AttemptRef, ack: ResultAck): void;
  inventoryAsked(stream: Connection): void;
  closed(stream: Connection): void;
}

const TRAVEL_MAX_US = 4_000;

/** A stream. */
export class Connection {
  #isCut = false;
  /** When the last message of each direction arrives: to the engine, to the worker. */
  readonly #lastUs = { engine: 0, worker: 0 };
  /** Attempts that take a slot of the worker, as the engine knows. */
  readonly out = new Set<string>();

  constructor(
    readonly sim: Sim,
    readonly engine: EngineEnd,
    readonly worker: WorkerEnd,
  ) {}

  get isCut(): boolean {
    return this.#isCut;
  }

  toEngine(label: string, deliver: () => void): void {
    this.#send('engine', this.engine.actor, label, deliver);
  }

  toWorker(label: string, deliver: () => void): void {
    this.#send('worker', this.worker.actor, label, deliver);
  }

  /** Breaks; each end learns of it within so many microseconds. */
  cut(engineMaxUs: number, workerMaxUs: number): void {
    if (this.#isCut) return;
    this.#isCut = true;
    const { scheduler, choices } = this.sim;
    const [engine, worker] = [this.engine.actor, this.worker.actor];
    scheduler.after(choices.int(100, engineMaxUs), engine, `stream of ${worker.name} ended`, () =>
      this.engine.closed(this),
    );
    scheduler.after(choices.int(100, workerMaxUs), worker, `stream to ${engine.name} ended`, () =>
      this.worker.closed(this),
    );
  }

  #send(end: 'engine' | 'worker', actor: Actor, label: string, deliver: () => void): void {
    if (this.#isCut) return;
    const { scheduler, choices } = this.sim;
    // One microsecond after the last at the earliest: order within a stream is kept.
    const atUs = Math.max(scheduler.nowUs + choices.int(50, TRAVEL_MAX_US), this.#lastUs[end] + 1);
    this.#lastUs[end] = atUs;
    scheduler.at(atUs, actor, label, () => {
      if (!this.#isCut) deliver();
    });
  }
}
