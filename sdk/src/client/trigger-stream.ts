/**
 * Carries batches of triggers over one stream to the engine.
 *
 * States: IDLE (no stream) -> OPEN (first batch) -> IDLE (the stream broke or was ended); any -> CLOSED.
 * Invariants
 *   G1 a batch is settled once: by its answer, by the end of its stream, or by its deadline.
 *   G2 a batch whose stream broke is refused, never sent again: its runs may have started. Who gave keys may repeat it.
 *   G3 a stream that was ended takes no new batch; the next one opens another.
 *   G4 a stream on which nothing happens for IDLE_MS to twice as long is ended, so that it keeps no process alive.
 */
import type { ClientDuplexStream, ServiceError } from '@grpc/grpc-js';
import type {
  RunServiceClient,
  StreamTriggersRequest,
  StreamTriggersResponse,
  TriggerOutcome,
  TriggerRunRequest,
} from '../gen/ductor/v1/run.js';
import type { Connection } from '../connection/connection.js';
import type { System, SystemTimer } from '../connection/system.js';
import { DuctorError } from '../errors.js';
import { callError } from './call-error.js';

type Call = ClientDuplexStream<StreamTriggersRequest, StreamTriggersResponse>;

const IDLE_MS = 1_000;

interface Waiting {
  readonly call: Call;
  readonly timer: SystemTimer;
  readonly resolve: (outcomes: readonly TriggerOutcome[]) => void;
  readonly reject: (error: Error) => void;
}

/** Sends batches of triggers. */
export class TriggerStream {
  readonly #client: RunServiceClient;
  readonly #connection: Connection;
  readonly #system: System;
  readonly #waiting = new Map<bigint, Waiting>();
  #call: Call | undefined;
  #lastId = 0n;
  #idleTimer: SystemTimer | undefined;
  #closed = false;

  constructor(client: RunServiceClient, connection: Connection, system: System) {
    this.#client = client;
    this.#connection = connection;
    this.#system = system;
  }

  /**
   * The outcomes of a batch, one an item, in order.
   * Throws DuctorError: engine_unreachable, deadline_exceeded after `limitMs`, or why the engine ended the stream.
   */
  send(items: TriggerRunRequest[], limitMs: number): Promise<readonly TriggerOutcome[]> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new DuctorError('cancelled', 'the client was closed'));
      const call = (this.#call ??= this.#open());
      const batchId = (this.#lastId += 1n);
      const timer = this.#system.after(limitMs, () => {
        const message = `the engine did not answer a trigger within ${limitMs} ms; whether it started is not known`;
        this.#settle(batchId)?.reject(new DuctorError('deadline_exceeded', message, { retryable: true }));
      });
      this.#waiting.set(batchId, { call, timer, resolve, reject });
      call.write({ batchId, items });
    });
  }

  /** Ends the stream; batches that are not answered are refused. */
  close(): void {
    this.#closed = true;
    const call = this.#call;
    this.#call = undefined;
    this.#idleTimer?.cancel();
    call?.end();
    for (const id of [...this.#waiting.keys()])
      this.#settle(id)?.reject(new DuctorError('cancelled', 'the client was closed while it started a run'));
  }

  #settle(batchId: bigint): Waiting | undefined {
    const waiting = this.#waiting.get(batchId);
    waiting?.timer.cancel();
    this.#waiting.delete(batchId);
    return waiting;
  }

  /** Looks now and then whether anything happened since. */
  #watchIdle(call: Call): void {
    const seen = this.#lastId;
    this.#idleTimer = this.#system.after(IDLE_MS, () => {
      if (this.#call !== call) return;
      if (this.#waiting.size > 0 || this.#lastId !== seen) return this.#watchIdle(call);
      this.#call = undefined;
      call.end();
    });
  }

  #open(): Call {
    const call = this.#client.streamTriggers(this.#connection.metadata);
    call.on('data', ({ batchId, outcomes }: StreamTriggersResponse) => this.#settle(batchId)?.resolve(outcomes));
    call.on('error', (error: ServiceError) => this.#over(call, callError(error)));
    call.on('end', () => {
      const error = new DuctorError('engine_unreachable', 'the engine ended the stream', { retryable: true });
      this.#over(call, error);
      call.end();
    });
    this.#watchIdle(call);
    return call;
  }

  #over(call: Call, error: Error): void {
    if (this.#call === call) {
      this.#call = undefined;
      this.#idleTimer?.cancel();
    }
    for (const [id, waiting] of this.#waiting) if (waiting.call === call) this.#settle(id)?.reject(error);
  }
}
