/**
 * Waits for results of runs over one stream: runs are named once, results come as runs close. After a broken stream all
 * runs still waited for are named again.
 *
 * States: IDLE (nobody waits) -> OPEN -> PAUSED (after a break) -> OPEN; any -> CLOSED.
 * Invariant A1: a waiter is answered once, by the first result of its run.
 */
import { type ClientDuplexStream, type ServiceError, status } from '@grpc/grpc-js';
import type { AwaitRunsRequest, AwaitRunsResponse, RunResult, RunServiceClient } from '../gen/ductor/v1/run.js';
import type { Connection } from '../connection/connection.js';
import type { System } from '../connection/system.js';
import { DuctorError } from '../errors.js';
import { callError } from './call-error.js';

const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 500;
const IDS_PER_MESSAGE = 1_000;

type Waiter = (result: RunResult | Error) => void;

/** Waits for results. */
export class ResultStream {
  readonly #client: RunServiceClient;
  readonly #connection: Connection;
  readonly #system: System;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #unsent = new Set<string>();
  #call: ClientDuplexStream<AwaitRunsRequest, AwaitRunsResponse> | undefined;
  #pauseMs = PAUSE_MS_MIN;
  #paused = false;
  #flushing = false;
  #closed = false;

  constructor(client: RunServiceClient, connection: Connection, system: System) {
    this.#client = client;
    this.#connection = connection;
    this.#system = system;
  }

  /** The result of a run once it is closed. Aborting the signal stops waiting and rejects with its reason. */
  wait(runId: string, signal: AbortSignal | undefined): Promise<RunResult> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = (result) => {
        signal?.removeEventListener('abort', stop);
        this.#forget(runId, waiter);
        if (result instanceof Error) reject(result);
        else resolve(result);
      };
      const stop = (): void => waiter(abortReason(signal));
      if (this.#closed) return reject(new DuctorError('cancelled', 'the client was closed'));
      if (signal?.aborted === true) return reject(abortReason(signal));
      signal?.addEventListener('abort', stop, { once: true });
      const known = this.#waiters.get(runId) ?? new Set<Waiter>();
      this.#waiters.set(runId, known.add(waiter));
      this.#unsent.add(runId);
      this.#flushLater();
    });
  }

  /** Ends the stream; whoever still waits is refused. */
  close(): void {
    this.#closed = true;
    this.#call?.end();
    this.#refuseAll(new DuctorError('cancelled', 'the client was closed while it waited for a result'));
  }

  #refuseAll(error: Error): void {
    for (const waiters of this.#waiters.values()) for (const waiter of waiters) waiter(error);
  }

  #forget(runId: string, waiter: Waiter): void {
    const waiters = this.#waiters.get(runId);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiters.delete(runId);
  }

  #flushLater(): void {
    if (this.#flushing || this.#paused) return;
    this.#flushing = true;
    this.#system.nextTurn(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#closed || this.#paused || this.#unsent.size === 0) return;
    const call = (this.#call ??= this.#open());
    const ids = [...this.#unsent].filter((id) => this.#waiters.has(id));
    this.#unsent.clear();
    for (let at = 0; at < ids.length; at += IDS_PER_MESSAGE)
      call.write({ runIds: ids.slice(at, at + IDS_PER_MESSAGE) });
  }

  #open(): ClientDuplexStream<AwaitRunsRequest, AwaitRunsResponse> {
    const call = this.#client.awaitRuns(this.#connection.metadata);
    call.on('data', (message: AwaitRunsResponse) => {
      this.#pauseMs = PAUSE_MS_MIN;
      for (const result of message.results) for (const waiter of this.#waiters.get(result.runId) ?? []) waiter(result);
    });
    call.on('error', (error: ServiceError) => {
      if (this.#call === call) this.#broken(error);
    });
    call.on('end', () => {
      if (this.#call === call) this.#broken(undefined);
    });
    return call;
  }

  #broken(error: ServiceError | undefined): void {
    this.#call = undefined;
    if (this.#closed || this.#waiters.size === 0) return;
    if (error !== undefined && (error.code === status.UNAUTHENTICATED || error.code === status.PERMISSION_DENIED)) {
      return this.#refuseAll(callError(error));
    }
    this.#paused = true;
    this.#unsent = new Set(this.#waiters.keys());
    const pauseMs = this.#pauseMs * (0.5 + this.#system.random());
    this.#pauseMs = Math.min(PAUSE_MS_MAX, this.#pauseMs * 2);
    this.#system.after(pauseMs, () => {
      this.#paused = false;
      this.#flush();
    });
  }
}

function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new DuctorError('cancelled', 'the wait was aborted');
}
