/**
 * One stream to one engine node, kept open: connects, says hello, reconnects with growing pauses.
 *
 * States: CONNECTING -> READY (welcome received) -> BROKEN -> CONNECTING (after a pause); any -> CLOSED (for good).
 * Invariants
 *   N1 nothing but hello is sent before welcome.
 *   N2 what is queued in one turn goes out as one message, cut at MESSAGE_BYTES.
 *   N3 while the transport is full, messages gather here; they go out on 'drain'.
 */
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { BridgeServiceClient, WorkRequest, type WorkResponse, type WorkerHello } from '../gen/ductor/v1/bridge.js';
import { CHANNEL_OPTIONS, type Connection } from '../connection/connection.js';
import type { System, SystemTimer } from '../connection/system.js';

/** What a stream tells its worker. */
export interface NodeStreamEvents {
  /** Welcome or later message. */
  readonly message: (stream: NodeStream, message: WorkResponse) => void;
  /** The stream that was READY is no longer, or could not be opened. */
  readonly broken: (stream: NodeStream, error: Error | undefined) => void;
}

/** What a stream needs. */
export interface NodeStreamDeps {
  readonly connection: Connection;
  readonly system: System;
  /** Hello of this moment, with what the worker holds. */
  readonly hello: () => WorkerHello;
}

const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 500;
/** A stream without a welcome for so long is given up: the node may hang. */
const WELCOME_MS = 10_000;
const MESSAGE_BYTES = 1024 * 1024;

/** A stream to a node address. */
export class NodeStream {
  readonly address: string;
  readonly #deps: NodeStreamDeps;
  readonly #events: NodeStreamEvents;
  readonly #client: BridgeServiceClient;
  #call: ClientDuplexStream<WorkRequest, WorkResponse> | undefined;
  #timer: SystemTimer | undefined;
  #pauseMs = PAUSE_MS_MIN;
  #ready = false;
  #closed = false;
  #full = false;
  #outgoing: WorkRequest[] = [];
  /** Id of the node at the other end, from its welcome. */
  nodeId = '';

  constructor(address: string, deps: NodeStreamDeps, events: NodeStreamEvents) {
    this.address = address;
    this.#deps = deps;
    this.#events = events;
    this.#client = new BridgeServiceClient(address, deps.connection.credentials, CHANNEL_OPTIONS);
    this.#connect();
  }

  /** Whether tasks and results can travel. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Sends a message, or keeps it until the transport takes it. Does nothing unless ready. */
  send(message: WorkRequest): void {
    if (!this.#ready) return;
    for (const part of cut(message)) this.#outgoing.push(part);
    this.#pump();
  }

  /** Ends the stream for good, after what was queued. */
  close(): void {
    this.#closed = true;
    this.#ready = false;
    this.#timer?.cancel();
    this.#call?.end();
    this.#client.close();
  }

  #connect(): void {
    const call = this.#client.work(this.#deps.connection.metadata);
    this.#call = call;
    this.#timer = this.#deps.system.after(WELCOME_MS, () => call.cancel());
    let ended = false;
    const end = (error?: Error): void => {
      if (ended) return;
      ended = true;
      this.#broken(error);
    };
    call.on('data', (message: WorkResponse) => this.#receive(message));
    call.on('error', end);
    call.on('end', () => end());
    call.on('drain', () => {
      this.#full = false;
      this.#pump();
    });
    call.write(WorkRequest.fromPartial({ hello: this.#deps.hello() }));
  }

  #receive(message: WorkResponse): void {
    if (this.#closed) return;
    if (message.welcome !== undefined) {
      this.#timer?.cancel();
      this.#ready = true;
      this.#pauseMs = PAUSE_MS_MIN;
      this.nodeId = message.welcome.nodeId;
    }
    this.#events.message(this, message);
  }

  #broken(error: Error | undefined): void {
    this.#timer?.cancel();
    this.#ready = false;
    this.#full = false;
    this.#outgoing = [];
    if (this.#closed) return;
    this.#events.broken(this, error);
    if (this.#closed) return;
    const pauseMs = this.#pauseMs * (0.5 + this.#deps.system.random());
    this.#pauseMs = Math.min(PAUSE_MS_MAX, this.#pauseMs * 2);
    this.#timer = this.#deps.system.after(pauseMs, () => this.#connect());
  }

  #pump(): void {
    while (!this.#full && this.#outgoing.length > 0) {
      const message = this.#outgoing.shift();
      if (message !== undefined && this.#call?.write(message) === false) this.#full = true;
    }
  }
}

/** Cuts a message with many results so that each part stays near MESSAGE_BYTES; one result always fits. */
function cut(message: WorkRequest): WorkRequest[] {
  const parts = inParts(message.subResults, ({ output }) => output?.data.byteLength ?? 0);
  const results = inParts(message.results, ({ outcome }) =>
    outcome?.$case === 'output' ? outcome.value.data.byteLength : 0,
  );
  const last = { ...message, subResults: parts.pop() ?? [], results: results.pop() ?? [] };
  return [
    ...parts.map((subResults) => WorkRequest.fromPartial({ subResults })),
    ...results.map((some) => WorkRequest.fromPartial({ results: some })),
    last,
  ];
}

/** Lists in their order, each of about MESSAGE_BYTES or one larger thing. */
function inParts<T>(things: readonly T[], bytesOf: (thing: T) => number): T[][] {
  const parts: T[][] = [];
  let bytes = 0;
  for (const thing of things) {
    const size = bytesOf(thing) + 256;
    const part = parts.at(-1);
    if (part === undefined || bytes + size > MESSAGE_BYTES) {
      parts.push([thing]);
      bytes = size;
    } else {
      part.push(thing);
      bytes += size;
    }
  }
  return parts;
}
