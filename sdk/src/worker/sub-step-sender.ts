/**
 * Outputs of sub-steps on their way over streams: each goes out, again if need be, until it is acknowledged.
 *
 * Invariants
 *   S1 whoever waits is told once: when it is recorded, when it is refused, or never because its attempt has ended.
 */
import type { ResultAck, SubStepResult, Task } from '../gen/ductor/v1/bridge.js';
import { AckState } from '../gen/ductor/v1/bridge.js';
import { DuctorError } from '../errors.js';
import type { WirePayload } from '../values/payload-codec.js';
import { attemptKey, ResultOutbox } from './result-outbox.js';

/** An output without its number on a stream. */
type Part = Omit<SubStepResult, 'resultId'>;

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const keyOf = (part: Pick<Part, 'runId' | 'path' | 'attempt' | 'name'>): string => `${attemptKey(part)}#${part.name}`;

/** An attempt that runs. */
interface Attempt<S> {
  /** The stream that its task came on. */
  readonly origin: S;
  /** What waits, by name. */
  readonly parts: Map<string, Part>;
}

/** S identifies a stream. */
export class SubStepSender<S> {
  /** What is out or waits for a stream. */
  readonly outbox: ResultOutbox<S, Part>;
  readonly #waiters = new Map<string, Waiter>();
  readonly #attempts = new Map<string, Attempt<S>>();

  /**
   * @param nextId numbers that results do not use
   * @param over told that the engine does not wait for the attempt any more
   */
  constructor(
    nextId: () => bigint,
    readonly over: (attempt: Part) => void,
  ) {
    this.outbox = new ResultOutbox<S, Part>(nextId, keyOf);
  }

  /** The attempt begins; its task came on this stream. */
  begin(task: Task, origin: S): void {
    this.#attempts.set(attemptKey(task), { origin, parts: new Map() });
  }

  /** Sends it, first on the stream that its task came on; resolves when it is recorded. Ignored after the end. */
  record({ runId, path, attempt, token }: Task, name: string, output: WirePayload): Promise<void> {
    const part = { runId, path, attempt, token, name, output };
    return new Promise((resolve, reject) => {
      const known = this.#attempts.get(attemptKey(part));
      if (known === undefined) return;
      known.parts.set(name, part);
      this.#waiters.set(keyOf(part), { resolve, reject });
      this.outbox.add(part, known.origin);
    });
  }

  /** An answer of the engine; false: its number is none of these. */
  acknowledge({ resultId, state, problem }: ResultAck): boolean {
    const part = this.outbox.acknowledge(resultId);
    if (part === undefined) return false;
    const waiter = this.#forget(part);
    if (state === AckState.ACK_STATE_RECORDED) waiter?.resolve();
    else if (state === AckState.ACK_STATE_REFUSED) waiter?.reject(refused(part, problem));
    else this.over(part);
    return true;
  }

  /** The engine sent the attempt again, with what it has recorded. */
  again(task: Task, origin: S): void {
    const recorded = new Set(task.subSteps.map(({ name }) => name));
    for (const part of this.#partsOf(task)) {
      if (recorded.has(part.name)) this.#forget(part)?.resolve();
      else this.outbox.renew(keyOf(part), task.token, origin);
    }
  }

  /** The attempt has ended: nobody waits for what it had under way. */
  end(task: Task): void {
    for (const part of this.#partsOf(task)) this.#forget(part);
    this.#attempts.delete(attemptKey(task));
  }

  #partsOf(task: Task): readonly Part[] {
    return [...(this.#attempts.get(attemptKey(task))?.parts.values() ?? [])];
  }

  #forget(part: Part): Waiter | undefined {
    this.#attempts.get(attemptKey(part))?.parts.delete(part.name);
    this.outbox.forget(keyOf(part));
    const waiter = this.#waiters.get(keyOf(part));
    this.#waiters.delete(keyOf(part));
    return waiter;
  }
}

function refused({ name, path }: Part, problem: string): DuctorError {
  return new DuctorError('invalid_argument', `the engine refused sub-step ${name} of step ${path}: ${problem}`);
}
