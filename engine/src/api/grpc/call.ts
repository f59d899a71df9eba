/** Who calls what: what handlers are given beside the request. Handlers know nothing of the transport. */
import type { Principal } from '../../tenancy/index.js';

/** What a call brings beside its request. */
export interface CallFacts {
  /** W3C trace context of the caller; undefined when there is none, or none that can be read. */
  readonly traceparent: string | undefined;
}

/** A call that is answered once. */
export type Unary<Request, Response> = (request: Request, principal: Principal, facts: CallFacts) => Promise<Response>;

/** How a handler answers on a stream. */
export interface Answers<Response> {
  /** False: the peer reads too slowly; StreamEvents.drained tells when it has caught up. */
  write(response: Response): boolean;
  /** Stops reading what the caller sends. */
  pause(): void;
  /** Reads on. */
  resume(): void;
  /** Ends the stream: well (null) or with whatever was caught. Only the first call counts. */
  end(caught: unknown): void;
}

/** What a handler hears of a stream of answers. */
export interface AnswerEvents {
  /** The stream takes answers again. */
  drained(): void;
  /** The stream is over, whoever ended it. Called once. */
  gone(): void;
}

/** What a handler hears of a stream both ways. What it throws ends the stream. */
export interface StreamEvents<Request> extends AnswerEvents {
  received(request: Request): void;
  /** The caller sends nothing more and still listens. */
  finished(): void;
}

/** A call that is answered by a stream. What it throws is the answer. */
export type ServerStream<Request, Response> = (
  request: Request,
  principal: Principal,
  answers: Answers<Response>,
) => AnswerEvents;

/** A call that is a stream both ways. What it throws is the answer. */
export type BidiStream<Request, Response> = (principal: Principal, answers: Answers<Response>) => StreamEvents<Request>;
