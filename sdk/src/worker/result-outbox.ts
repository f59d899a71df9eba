/**
 * Results that the engine has not acknowledged. A result stays here until then. It goes out again after the stream that
 * carried it is lost, and on another stream when its acknowledgement is late: a node that stands still keeps its
 * connections, and others have taken its runs over.
 *
 * States of a result: WAITING (for a stream) -> SENT (on a stream) -> gone (acknowledged).
 * SENT -> WAITING when the stream is lost or the acknowledgement is late.
 *
 * Invariants
 *   R1 a result leaves only by its acknowledgement, on whichever stream.
 *   R2 an attempt has at most one result here.
 */
import type { TaskResult } from '../gen/ductor/v1/bridge.js';

/** A result without its number on a stream. */
export type Result = Omit<TaskResult, 'resultId'>;

/** What proves the right to an attempt; it is renewed with the attempt. */
interface Held {
  readonly token: Buffer;
}

interface Pending<S, R> {
  readonly result: R;
  /** The stream its task came on: that node most likely owns the run. */
  readonly origin: S;
  /** Numbers under which it is out, and on which streams; the last one was sent last. */
  readonly sent: { readonly resultId: bigint; readonly stream: S }[];
  /** When it was sent last, ms. */
  sentAtMs: number;
}

/** Names an attempt among all that a worker holds. */
export function attemptKey(attempt: {
  readonly runId: string;
  readonly path: string;
  readonly attempt: number;
}): string {
  return `${attempt.runId}/${attempt.attempt}/${attempt.path}`;
}

/** Numbers from 1. */
export function counter(): () => bigint {
  let last = 0n;
  return () => (last += 1n);
}

/** S identifies a stream; R is what goes out, usually a Result. */
export class ResultOutbox<S, R extends Held = Result> {
  readonly #pending = new Map<string, Pending<S, R>>();
  readonly #byId = new Map<bigint, string>();
  readonly #waiting = new Set<string>();

  /**
   * @param nextId gives each its number
   * @param keyOf names it among all that wait
   */
  constructor(
    readonly nextId: () => bigint,
    readonly keyOf: (result: R) => string,
  ) {}

  /** Results not acknowledged yet. */
  get size(): number {
    return this.#pending.size;
  }

  has(key: string): boolean {
    return this.#pending.has(key);
  }

  /** Keeps a result; it waits to be taken. */
  add(result: R, origin: S): void {
    const key = this.keyOf(result);
    this.#pending.set(key, { result, origin, sent: [], sentAtMs: 0 });
    this.#waiting.add(key);
  }

  /** Lets a result go out again, with the token of a newer dispatch of the same attempt. */
  renew(key: string, token: Buffer, origin: S): void {
    const pending = this.#pending.get(key);
    if (pending === undefined) return;
    for (const { resultId } of pending.sent) this.#byId.delete(resultId);
    this.#pending.set(key, { result: { ...pending.result, token }, origin, sent: [], sentAtMs: 0 });
    this.#waiting.add(key);
  }

  /**
   * Everything that waits and has a stream to go on, marked as sent.
   *
   * @param carrierOf the stream for a result whose task came on `origin` and whose acknowledgement is late on `late`
   *   (undefined: it is out on none); undefined: none is ready
   * @param nowMs the time, ms
   */
  take(
    carrierOf: (origin: S, late: S | undefined) => S | undefined,
    nowMs: number,
  ): Map<S, (R & { resultId: bigint })[]> {
    const out = new Map<S, (R & { resultId: bigint })[]>();
    for (const key of this.#waiting) {
      const pending = this.#pending.get(key);
      const stream = pending === undefined ? undefined : carrierOf(pending.origin, pending.sent.at(-1)?.stream);
      if (pending === undefined || stream === undefined) continue;
      const resultId = this.nextId();
      pending.sent.push({ resultId, stream });
      pending.sentAtMs = nowMs;
      this.#byId.set(resultId, key);
      this.#waiting.delete(key);
      const results = out.get(stream) ?? [];
      results.push({ ...pending.result, resultId });
      out.set(stream, results);
    }
    return out;
  }

  /** The engine has it. Returns the result, undefined when the number is not known (any more). */
  acknowledge(resultId: bigint): R | undefined {
    const key = this.#byId.get(resultId);
    if (key === undefined) return undefined;
    return this.forget(key);
  }

  /** Nobody needs it any more. Returns it. */
  forget(key: string): R | undefined {
    const pending = this.#pending.get(key);
    for (const each of pending?.sent ?? []) this.#byId.delete(each.resultId);
    this.#pending.delete(key);
    this.#waiting.delete(key);
    return pending?.result;
  }

  /** A stream was lost: what it carried unacknowledged waits again. */
  lost(stream: S): void {
    for (const [key, { sent }] of this.#pending) {
      const carried = sent.filter((each) => each.stream === stream);
      if (carried.length === 0) continue;
      for (const { resultId } of carried) this.#byId.delete(resultId);
      sent.splice(0, sent.length, ...sent.filter((each) => each.stream !== stream));
      if (sent.length === 0) this.#waiting.add(key);
    }
  }

  /**
   * Lets results go out once more whose acknowledgement is late. What is out already may still be acknowledged. The
   * wait doubles with each time, so that a slow database is not asked to do everything several times.
   *
   * @param nowMs the time, ms
   * @param lateMs how long an acknowledgement may take the first time
   */
  hurry(nowMs: number, lateMs: number): void {
    for (const [key, { sent, sentAtMs }] of this.#pending) {
      if (sent.length > 0 && nowMs - sentAtMs >= lateMs * 2 ** (sent.length - 1)) this.#waiting.add(key);
    }
  }

  /** All results that are not acknowledged. */
  all(): R[] {
    return [...this.#pending.values()].map((pending) => pending.result);
  }
}
