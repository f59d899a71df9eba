/**
 * Results that the engine has not acknowledged. A result stays here until then, and goes out again on any stream
 * after the
 * one that carried it is lost.
 *
 * States of a result: WAITING (for a stream) -> SENT (on a stream) -> gone (acknowledged); SENT -> WAITING (stream
 * lost).
 * Invariants
 *   R1 a result leaves only by its acknowledgement.
 *   R2 an attempt has at most one result here.
 */
import type { TaskResult } from '../gen/ductor/v1/bridge.js';

/** A result without its number on a stream. */
export type Result = Omit<TaskResult, 'resultId'>;

interface Pending<S> {
  readonly result: Result;
  /** The stream its task came on: that node most likely owns the run. */
  readonly origin: S;
  sentOn: S | undefined;
  resultId: bigint;
}

/** Names an attempt among all that a worker holds. */
export function attemptKey(attempt: {
  readonly runId: string;
  readonly path: string;
  readonly attempt: number;
}): string {
  return `${attempt.runId}/${attempt.attempt}/${attempt.path}`;
}

/** S identifies a stream. */
export class ResultOutbox<S> {
  readonly #pending = new Map<string, Pending<S>>();
  readonly #byId = new Map<bigint, string>();
  readonly #waiting = new Set<string>();
  #nextId = 1n;

  /** Results not acknowledged yet. */
  get size(): number {
    return this.#pending.size;
  }

  has(key: string): boolean {
    return this.#pending.has(key);
  }

  /** Keeps a result; it waits to be taken. */
  add(result: Result, origin: S): void {
    const key = attemptKey(result);
    this.#pending.set(key, { result, origin, sentOn: undefined, resultId: 0n });
    this.#waiting.add(key);
  }

  /** Lets a result go out again, with the token of a newer dispatch of the same attempt. */
  renew(key: string, token: Buffer, origin: S): void {
    const pending = this.#pending.get(key);
    if (pending === undefined) return;
    this.#byId.delete(pending.resultId);
    this.#pending.set(key, { result: { ...pending.result, token }, origin, sentOn: undefined, resultId: 0n });
    this.#waiting.add(key);
  }

  /**
   * Everything that waits and has a stream to go on, marked as sent.
   *
   * @param carrierOf the stream for a result whose task came on `origin`; undefined: none is ready
   */
  take(carrierOf: (origin: S) => S | undefined): Map<S, TaskResult[]> {
    const out = new Map<S, TaskResult[]>();
    for (const key of this.#waiting) {
      const pending = this.#pending.get(key);
      const stream = pending === undefined ? undefined : carrierOf(pending.origin);
      if (pending === undefined || stream === undefined) continue;
      pending.sentOn = stream;
      pending.resultId = this.#nextId++;
      this.#byId.set(pending.resultId, key);
      this.#waiting.delete(key);
      const results = out.get(stream) ?? [];
      results.push({ ...pending.result, resultId: pending.resultId });
      out.set(stream, results);
    }
    return out;
  }

  /** The engine has it. Returns the result, undefined when the number is not known (any more). */
  acknowledge(resultId: bigint): Result | undefined {
    const key = this.#byId.get(resultId);
    if (key === undefined) return undefined;
    this.#byId.delete(resultId);
    const pending = this.#pending.get(key);
    this.#pending.delete(key);
    return pending?.result;
  }

  /** A stream was lost: what it carried unacknowledged waits again. */
  lost(stream: S): void {
    for (const [key, pending] of this.#pending) {
      if (pending.sentOn !== stream) continue;
      this.#byId.delete(pending.resultId);
      pending.sentOn = undefined;
      this.#waiting.add(key);
    }
  }

  /** All results that are not acknowledged. */
  all(): Result[] {
    return [...this.#pending.values()].map((pending) => pending.result);
  }
}
