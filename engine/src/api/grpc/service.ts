/** Turns handlers into what grpc-js serves. The only file that touches its calls. */
import type {
  MethodDefinition,
  ServerDuplexStream,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  UntypedHandleCall,
  UntypedServiceImplementation,
  sendUnaryData,
} from '@grpc/grpc-js';
import { DuctorError, type Writable } from '../../kernel/index.js';
import type { Principal } from '../../tenancy/index.js';
import { normalTraceparent } from '../../telemetry/index.js';
import type { Answers, AnswerEvents, CallFacts, BidiStream, ServerStream, StreamEvents, Unary } from './call.js';
import { MethodGuard, type CallMetadata, type GuardOptions } from './guard.js';
import type { CallStatus } from './errors/to-status.js';
import type { GuardedMethod } from './guarded-method.js';
import { MAX_MESSAGE_BYTES, messageTooLarge } from './message-size.js';

/** A request whose bytes are no message: handed through the transport to be refused where errors have their shape. */
class Malformed {
  constructor(readonly error: DuctorError) {}
}

function malformed(reason: string): DuctorError {
  const problem = `is not a valid message: ${reason}`;
  const remedy = 'Send the message as the contract says, nested no deeper than values may be.';
  const details = [{ path: '', value: '', problem, remedy }];
  return new DuctorError('invalid_argument', `the request ${problem}`, { details, remedy });
}

function decoder<Request>(decode: (bytes: Buffer) => Request): (bytes: Buffer) => Request | Malformed {
  return (bytes) => {
    if (bytes.length > MAX_MESSAGE_BYTES) return new Malformed(messageTooLarge(bytes.length));
    try {
      return decode(bytes);
    } catch (error) {
      return new Malformed(malformed(error instanceof Error ? error.message : String(error)));
    }
  };
}

function decoded<Request>(request: Request | Malformed): Request {
  if (request instanceof Malformed) throw request.error;
  return request;
}

/** What stands before a stream both ways. */
export interface StreamGuard {
  enter(metadata: CallMetadata): Principal | Promise<Principal>;
  watch(metadata: CallMetadata, onRefused: (error: unknown) => void, principal: Principal): () => void;
  statusOf(caught: unknown): CallStatus;
}

/** A handler behind its guard. */
interface Served<Handler> {
  readonly guard: MethodGuard;
  readonly handler: Handler;
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The answering side of a stream both ways. */
function answersOn<Request, Response>(
  call: ServerDuplexStream<Request | Malformed, Response>,
  guard: StreamGuard,
  onEnd: () => void,
): Answers<Response> {
  let isEnded = false;
  return {
    write: (response) => isEnded || call.cancelled || call.write(response),
    pause: () => void call.pause(),
    resume: () => void call.resume(),
    end(caught) {
      if (isEnded) return;
      isEnded = true;
      if (caught === null) call.end();
      else call.emit('error', guard.statusOf(caught));
      onEnd();
    },
  };
}

/** Serves a stream both ways: what comes before the caller is known waits in the transport. */
function serveBidi<Request, Response>(
  call: ServerDuplexStream<Request | Malformed, Response>,
  guard: StreamGuard,
  handler: BidiStream<Request, Response>,
): void {
  let events: StreamEvents<Request> | null = null;
  let stopWatching = (): void => undefined;
  let isOver = false;
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    stopWatching();
    events?.gone();
  };
  const answers = answersOn<Request, Response>(call, guard, over);
  const attempt = (work: () => void): void => {
    try {
      if (!isOver) work();
    } catch (error) {
      answers.end(error);
    }
  };
  const begin = (principal: Parameters<typeof handler>[0]): void =>
    attempt(() => {
      const opened = handler(principal, answers);
      events = opened;
      stopWatching = guard.watch(call.metadata, (error) => answers.end(error), principal);
      call.on('data', (request: Request | Malformed) => attempt(() => opened.received(decoded(request))));
      call.on('end', () => attempt(() => opened.finished()));
      call.on('drain', () => attempt(() => opened.drained()));
    });
  call.on('cancelled', over);
  call.on('close', over);
  Promise.resolve()
    .then(() => guard.enter(call.metadata))
    .then(begin, (error: unknown) => answers.end(error));
}

/** The answering side of a stream of answers, whatever carries it. `end` is called once. */
interface StreamEnd<Response> {
  write(response: Response): boolean;
  end(caught: unknown): void;
}

/** Lets the caller in, then hands the request to the handler. What the carrier tells meanwhile is for the result. */
function openStream<Request, Response>(
  { guard, handler }: Served<ServerStream<Request, Response>>,
  metadata: CallMetadata,
  request: () => Request | Promise<Request>,
  out: StreamEnd<Response>,
): AnswerEvents {
  let events: AnswerEvents | null = null;
  let stopWatching = (): void => undefined;
  let isOver = false;
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    stopWatching();
    events?.gone();
  };
  const answers: Answers<Response> = {
    write: (response) => isOver || out.write(response),
    pause: () => undefined,
    resume: () => undefined,
    end(caught) {
      if (isOver) return;
      out.end(caught);
      over();
    },
  };
  const begin = async (): Promise<void> => {
    const principal = await guard.enter(metadata);
    const asked = await request();
    if (isOver) return;
    const opened = handler(asked, principal, answers);
    events = opened;
    stopWatching = guard.watch(metadata, (error) => answers.end(error));
  };
  begin().catch((error: unknown) => answers.end(error));
  return { drained: () => events?.drained(), gone: over };
}

function serveStream<Request, Response>(
  call: ServerWritableStream<Request | Malformed, Response>,
  served: Served<ServerStream<Request, Response>>,
): void {
  const events = openStream(served, call.metadata, () => decoded(call.request), {
    write: (response) => call.cancelled || call.write(response),
    end(caught) {
      if (caught === null) call.end();
      else call.emit('error', served.guard.statusOf(caught));
    },
  });
  call.on('cancelled', () => events.gone());
  call.on('close', () => events.gone());
  call.on('drain', () => events.drained());
}

function factsOf(metadata: CallMetadata): CallFacts {
  const [traceparent] = metadata.get('traceparent');
  return { traceparent: normalTraceparent(traceparent?.toString()) };
}

async function answerOnce<Request, Response>(
  { guard, handler }: Served<Unary<Request, Response>>,
  metadata: CallMetadata,
  request: () => Request | Promise<Request>,
): Promise<Response> {
  const entered = guard.enter(metadata);
  const principal = entered instanceof Promise ? await entered : entered;
  let asked: Request | undefined;
  try {
    const given = request();
    asked = given instanceof Promise ? await given : given;
    return await handler(asked, principal, factsOf(metadata));
  } catch (error) {
    guard.noteFailure(principal, asked, error);
    throw error;
  }
}

/** Gathers the methods of a service: for grpc-js, and as bytes in, bytes out for the doors over HTTP/1.1. */
export class ServiceBuilder {
  /** By the paths of the methods, ready for Server.addService with `handlers`. */
  readonly definition: Writable<ServiceDefinition> = {};
  readonly handlers: UntypedServiceImplementation = {};
  /** The same methods by their paths, without a transport. */
  readonly methods = new Map<string, GuardedMethod>();
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** A method answered once. Throws internal when the permission table does not know it. */
  unary<Request, Response>(method: MethodDefinition<Request, Response>, handler: Unary<Request, Response>): this {
    const served = { guard: new MethodGuard(method.path, this.#options), handler };
    const { guard } = served;
    const decode = decoder(method.requestDeserialize);
    this.methods.set(method.path, {
      kind: 'unary',
      reported: (caught) => guard.reported(caught),
      async answer(metadata, read) {
        const response = await answerOnce(served, metadata, async () => decoded(decode(asBuffer(await read()))));
        return method.responseSerialize(response);
      },
    });
    return this.#add(
      method,
      (call: ServerUnaryCall<Request | Malformed, Response>, answer: sendUnaryData<Response>) => {
        answerOnce(served, call.metadata, () => decoded(call.request)).then(
          (response) => answer(null, response),
          (error: unknown) => answer(guard.statusOf(error)),
        );
      },
    );
  }

  /** A method answered by a stream. */
  stream<Request, Response>(
    method: MethodDefinition<Request, Response>,
    handler: ServerStream<Request, Response>,
  ): this {
    const served = { guard: new MethodGuard(method.path, this.#options), handler };
    const { guard } = served;
    const decode = decoder(method.requestDeserialize);
    this.methods.set(method.path, {
      kind: 'stream',
      reported: (caught) => guard.reported(caught),
      open: (metadata, read, answers) =>
        openStream(served, metadata, async () => decoded(decode(asBuffer(await read()))), {
          write: (response) => answers.write(method.responseSerialize(response)),
          end: (caught) => answers.end(caught),
        }),
    });
    return this.#add(method, (call: ServerWritableStream<Request | Malformed, Response>) => serveStream(call, served));
  }

  /** A method that is a stream both ways. */
  bidi<Request, Response>(method: MethodDefinition<Request, Response>, handler: BidiStream<Request, Response>): this {
    const guard = new MethodGuard(method.path, this.#options);
    this.methods.set(method.path, { kind: 'bidi', reported: (caught) => guard.reported(caught) });
    return this.#behind(guard, method, handler);
  }

  /** A stream both ways among nodes, behind a guard of its own: no door over HTTP/1.1 leads to it. */
  amongNodes<Request, Response>(
    method: MethodDefinition<Request, Response>,
    guard: StreamGuard,
    handler: BidiStream<Request, Response>,
  ): this {
    return this.#behind(guard, method, handler);
  }

  #behind<Request, Response>(
    guard: StreamGuard,
    method: MethodDefinition<Request, Response>,
    handler: BidiStream<Request, Response>,
  ): this {
    return this.#add(method, (call: ServerDuplexStream<Request | Malformed, Response>) =>
      serveBidi(call, guard, handler),
    );
  }

  #add<Request, Response>(method: MethodDefinition<Request, Response>, handle: UntypedHandleCall): this {
    this.definition[method.path] = { ...method, requestDeserialize: decoder(method.requestDeserialize) };
    this.handlers[method.path] = handle;
    return this;
  }
}
