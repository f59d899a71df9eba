/**
 * One worker's session with the real bridge for one tenant, over a simulated stream: turns what a worker says into the
 * messages of the contract and back.
 */
import type { OpenedStream, WorkStream } from '../../../engine/src/bridge/index.js';
import { AckState, WorkRequest, type WorkResponse } from '../../../engine/src/gen/ductor/v1/bridge.js';
import type { DeepPartial } from '../../../engine/src/gen/google/protobuf/struct.js';
import type { AttemptRef } from '../../../engine/src/workflow/coordinator/ports.js';
import type { AttemptOutcome } from '../../../engine/src/workflow/machine/index.js';
import type { Connection } from '../cast/connection.js';
import { shortRef } from '../checks/names.js';
import { outcomeToWire } from './outcome-to-wire.js';
import type { TokenBook } from './tokens.js';

/** What a link is made of. */
export interface LinkOptions {
  readonly tenantId: string;
  readonly stream: Connection;
  readonly tokens: TokenBook;
  /** Workflows that the worker serves. */
  readonly families: readonly string[];
  /** Handlers of the worker. */
  readonly handlers: readonly string[];
  /** Opens the session. */
  readonly open: (stream: WorkStream) => OpenedStream;
  /** Whether a forged result goes before the next one. */
  readonly isForged: () => boolean;
  /** A forged result was answered. */
  readonly forged: (isRefused: boolean) => void;
  /** A task was written to the worker. */
  readonly written: (ref: AttemptRef) => void;
}

/** A UUID for a worker of the simulation: w7 -> ...0007. */
function workerUuid(workerId: string): string {
  return `00000000-0000-4000-8000-${workerId.slice(1).padStart(12, '0')}`;
}

/** The session; what comes while the bridge does not read waits. */
export class BridgeLink implements WorkStream {
  readonly #opened: OpenedStream;
  readonly #results = new Map<bigint, AttemptRef>();
  #waiting: WorkRequest[] = [];
  #isPaused = false;
  #resultId = 0n;
  readonly #forged = new Set<bigint>();

  constructor(
    readonly options: LinkOptions,
    holds: readonly AttemptRef[],
  ) {
    const { stream, families, handlers } = options;
    this.#opened = options.open(this);
    const { slots, workerId } = stream.worker;
    const workflows = families.map((familySlug) => ({ definition: { familySlug }, handlers: [...handlers] }));
    const inventory = { holds: this.#holds(holds) };
    this.#say({ hello: { workerId: workerUuid(workerId), slots, workflows, inventory }, credits: slots });
  }

  /** The worker says what it has. */
  inventory(holds: readonly AttemptRef[]): void {
    this.#say({ inventory: { holds: this.#holds(holds) } });
  }

  /** The worker has a result. */
  result(ref: AttemptRef, outcome: AttemptOutcome): void {
    const { runId, path, attempt } = ref;
    this.#resultId += 1n;
    this.#results.set(this.#resultId, ref);
    const token = this.options.tokens.of(ref);
    if (token.length > 0 && this.options.isForged()) this.#forge(ref, token);
    this.#say({
      results: [{ resultId: this.#resultId, runId, path, attempt, token, outcome: outcomeToWire(outcome) }],
    });
  }

  /** Somebody who never had the attempt says that it was stopped. */
  #forge({ runId, path, attempt }: AttemptRef, genuine: Buffer): void {
    const token = Buffer.from(genuine);
    token.writeUInt8(token.readUInt8(0) ^ 1, 0);
    this.#resultId += 1n;
    this.#forged.add(this.#resultId);
    const outcome = outcomeToWire({ kind: 'cancelled' });
    this.#say({ results: [{ resultId: this.#resultId, runId, path, attempt, token, outcome }] });
  }

  /** A slot of the worker is free again. */
  credit(): void {
    this.#say({ credits: 1 });
  }

  gone(): void {
    this.#opened.gone();
  }

  write(message: WorkResponse): boolean {
    const { stream, tenantId } = this.options;
    for (const task of message.tasks) this.#task(task);
    for (const { runId, path, attempt, reason } of message.aborts) {
      const ref = { tenantId, runId, path, attempt };
      const why = reason === 'timed_out' || reason === 'superseded' ? reason : 'cancelled';
      stream.toWorker(`is told to stop ${shortRef(ref)}`, () => stream.worker.abort({ ...ref, reason: why }));
    }
    for (const { resultId, state } of message.acks) this.#ack(resultId, state);
    if (message.inventoryRequest) {
      stream.toWorker('is asked for its inventory', () => stream.worker.inventoryAsked(stream));
    }
    if (message.ping > 0n) {
      const pong = message.ping;
      stream.toWorker('ping', () => stream.toEngine('pong', () => this.#say({ pong })));
    }
    return true;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#flush();
  }

  end(): void {
    this.options.stream.cut(1_000, 20_000);
  }

  #task(task: WorkResponse['tasks'][number]): void {
    const { stream, tenantId, tokens, written } = this.options;
    const { runId, path, attempt, token, timeoutMs } = task;
    const ref = { tenantId, runId, path, attempt };
    tokens.keep(ref, token);
    written(ref);
    stream.toWorker(`is given ${shortRef(ref)}`, () => stream.worker.task(stream, { ...ref, timeoutMs }));
  }

  #ack(resultId: bigint, state: AckState): void {
    const { stream } = this.options;
    if (this.#forged.delete(resultId)) return this.options.forged(state === AckState.ACK_STATE_REFUSED);
    const ref = this.#results.get(resultId);
    this.#results.delete(resultId);
    // A refused result was made up: its worker has nothing to forget.
    if (ref === undefined || state === AckState.ACK_STATE_REFUSED) return;
    const ack = state === AckState.ACK_STATE_RECORDED ? 'recorded' : 'already_settled';
    stream.toWorker(`is told ${ack} of ${shortRef(ref)}`, () => stream.worker.ack(ref, ack));
  }

  #holds(refs: readonly AttemptRef[]) {
    return refs
      .filter((ref) => ref.tenantId === this.options.tenantId)
      .map((ref) => ({ runId: ref.runId, path: ref.path, attempt: ref.attempt, token: this.options.tokens.of(ref) }));
  }

  #say(message: DeepPartial<WorkRequest>): void {
    this.#waiting.push(WorkRequest.fromPartial(message));
    this.#flush();
  }

  #flush(): void {
    while (!this.#isPaused) {
      const message = this.#waiting.shift();
      if (message === undefined) return;
      this.#opened.received(message);
    }
  }
}
