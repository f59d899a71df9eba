/**
 * Virtual time, and what happens when. One event at a time; after each all promises that can settle have settled, then
 * the work its process deferred is done. Nothing else runs code of the world, so a seed decides everything.
 *
 * Invariants:
 * 1. Time never goes back; an event happens at its time, or, in a process that was paused, when that goes on.
 * 2. Two events of one time happen in an order that the seed decides.
 */
import type { Choices } from './choices.js';
import { EventHeap } from './event-heap.js';
import type { Actor, SimEvent } from './sim-event.js';
import type { Trace } from './trace.js';

/**
 * Waits until no promise can settle any more: a tick that is asked for by a microtask comes once the queue of
 * microtasks is empty. That takes a third of the time of a macrotask, but lets the process hear nothing else.
 */
function quiet(): Promise<void> {
  return new Promise<void>((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}

/** Lets the process do what else it has to: rejected promises that nobody looked at are told then. */
function breathe(): Promise<void> {
  return new Promise<void>((resolve) => setImmediate(resolve));
}

/** So many events happen between two breaths. */
const EVENTS_PER_BREATH = 500;

/** The order of things. */
export class Scheduler {
  readonly #heap = new EventHeap();
  #nowUs = 0;
  #order = 0;
  /** Events that happened. */
  events = 0;
  /** Time that passed in one go. */
  passedUs = 0;

  constructor(
    readonly choices: Choices,
    readonly trace: Trace,
  ) {}

  /** Virtual time, microseconds since the beginning. */
  get nowUs(): number {
    return this.#nowUs;
  }

  /** Lets something happen after so many microseconds. */
  after(delayUs: number, actor: Actor | null, label: string, run: () => void): SimEvent {
    return this.at(this.#nowUs + Math.max(0, Math.ceil(delayUs)), actor, label, run);
  }

  /** Lets something happen at a time, now at the earliest. */
  at(atUs: number, actor: Actor | null, label: string, run: () => void): SimEvent {
    const tie = this.choices.random.uint32();
    const event = this.#event(Math.max(atUs, this.#nowUs), tie, actor, label, run);
    this.#heap.push(event);
    return event;
  }

  /** A process that was paused goes on: what was held back happens now, in its order. */
  release(actor: Actor): void {
    actor.state = 'running';
    const { held } = actor;
    actor.held = [];
    for (const event of held) {
      if (event.isCancelled) continue;
      // The same number for all, so that order decides: a process handles what piled up as it came.
      event.atUs = this.#nowUs;
      event.tie = 0;
      event.order = this.#order += 1;
      this.#heap.push(event);
    }
  }

  /**
   * Lets things happen until virtual time has passed, or `isOver` says so. Throws what `check` throws.
   *
   * @param check looks at the world after each event
   */
  async run(untilUs: number, check: () => void, isOver: () => boolean): Promise<void> {
    const before = this.passedUs;
    while (!isOver()) {
      const next = this.#heap.peek();
      const endUs = untilUs + this.passedUs - before;
      if (next === undefined || next.atUs > endUs) {
        this.#nowUs = Math.max(this.#nowUs, endUs);
        break;
      }
      this.#heap.pop();
      await this.#happen(next);
      check();
      if (this.events % EVENTS_PER_BREATH === 0) await breathe();
    }
    await breathe();
  }

  /** Time passes in which nothing happens: whatever is to come comes so much later. `run` waits for it in addition. */
  pass(forUs: number): void {
    this.#nowUs += forUs;
    this.passedUs += forUs;
    this.#heap.shift(forUs);
  }

  #event(atUs: number, tie: number, actor: Actor | null, label: string, run: () => void): SimEvent {
    return { atUs, tie, order: (this.#order += 1), actor, label, run, isCancelled: false };
  }

  async #happen(event: SimEvent): Promise<void> {
    const { actor } = event;
    if (event.isCancelled || actor?.state === 'dead') return;
    if (actor?.state === 'paused') {
      actor.held.push(event);
      return;
    }
    this.#nowUs = Math.max(this.#nowUs, event.atUs);
    this.events += 1;
    this.trace.line(this.#nowUs, actor?.name ?? '-', event.label);
    event.run();
    if (actor === null) return;
    await quiet();
    while (actor.deferred.length > 0 && actor.isAlive) {
      const work = actor.deferred;
      actor.deferred = [];
      for (const each of work) each();
      await quiet();
    }
  }
}
