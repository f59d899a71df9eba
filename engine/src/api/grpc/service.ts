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
import { DuctorError } from '../../kernel/index.js';
import type { Answers, AnswerEvents, BidiStream, ServerStream, StreamEvents, Unary } from './call.js';
import { MethodGuard, type GuardOptions } from './guard.js';

/** A request whose bytes are no message: handed through the transport to be refused where errors have their shape. */
class Malformed {
  constructor(readonly error: DuctorError) {}
}

function decoder<Request>(decode: (bytes: Buffer) => Request): (bytes: Buffer) => Request | Malformed {
  return (bytes) => {
    try {
      return decode(bytes);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return new Malformed(new DuctorError('invalid_argument', `the request is not a valid message: ${message}`));
    }
  };
}

function decoded<Request>(request: Request | Malformed): Request {
  if (request instanceof Malformed) throw request.error;
  return request;
}

/** The answering side of a stream. */
function answersOn<Request, Response>(
  call: ServerDuplexStream<Request | Malformed, Response> | ServerWritableStream<Request | Malformed, Response>,
  guard: MethodGuard,
  onEnd: () => void,
): Answers<Response> {
  let isEnded = false;
  return {
    write: (response) => isEnded || call.cancelled || call.write(response),
    pause: () => void ('pause' in call && call.pause()),
    resume: () => void ('resume' in call && call.resume()),
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
  guard: MethodGuard,
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
      stopWatching = guard.watch(call.metadata, (error) => answers.end(error));
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

function serveStream<Request, Response>(
  call: ServerWritableStream<Request | Malformed, Response>,
  guard: MethodGuard,
  handler: ServerStream<Request, Response>,
): void {
  let events: AnswerEvents | null = null;
  let stopWatching = (): void => undefined;
  let isOver = false;
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    stopWatching();
    events?.gone();
  };
  const answers = answersOn<Request, Response>(call, guard, over);
  call.on('cancelled', over);
  call.on('close', over);
  call.on('drain', () => events?.drained());
  Promise.resolve()
    .then(() => guard.enter(call.metadata))
    .then((principal) => {
      if (isOver) return;
      events = handler(decoded(call.request), principal, answers);
      stopWatching = guard.watch(call.metadata, (error) => answers.end(error));
    })
    .catch((error: unknown) => answers.end(error));
}

async function serveUnary<Request, Response>(
  call: ServerUnaryCall<Request | Malformed, Response>,
  guard: MethodGuard,
  handler: Unary<Request, Response>,
): Promise<Response> {
  const entered = guard.enter(call.metadata);
  return handler(decoded(call.request), entered instanceof Promise ? await entered : entered);
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Gathers the methods of a service. */
export class ServiceBuilder {
  /** By the paths of the methods, ready for Server.addService with `handlers`. */
  readonly definition: Writable<ServiceDefinition> = {};
  readonly handlers: UntypedServiceImplementation = {};
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** A method answered once. Throws internal when the permission table does not know it. */
  unary<Request, Response>(method: MethodDefinition<Request, Response>, handler: Unary<Request, Response>): this {
    const guard = new MethodGuard(method.path, this.#options);
    return this.#add(
      method,
      (call: ServerUnaryCall<Request | Malformed, Response>, answer: sendUnaryData<Response>) => {
        serveUnary(call, guard, handler).then(
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
    const guard = new MethodGuard(method.path, this.#options);
    return this.#add(method, (call: ServerWritableStream<Request | Malformed, Response>) =>
      serveStream(call, guard, handler),
    );
  }

  /** A method that is a stream both ways. */
  bidi<Request, Response>(method: MethodDefinition<Request, Response>, handler: BidiStream<Request, Response>): this {
    const guard = new MethodGuard(method.path, this.#options);
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
