/**
 * Answers in frames: streams of Connect, and everything of gRPC-Web, where a single answer is a stream of one. The HTTP
 * status is 200 whatever happens; the last frame says how it ended.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, DuctorError } from '../../kernel/index.js';
import type { ContractMethod } from '../contract/contract.js';
import type { AnswerEvents } from '../grpc/call.js';
import type { ByteAnswers, GuardedStream, GuardedUnary, ReadRequest } from '../grpc/guarded-method.js';
import type { CallMetadata } from '../grpc/guard.js';
import { callMetadata } from '../http/headers.js';
import type { OpenStreams } from '../http/open-streams.js';
import { readBody } from '../http/read-body.js';
import { beginStream, respond } from '../http/respond.js';
import { singleMessage } from './envelope.js';
import { framing, type Framing } from './framing.js';
import type { Protocol } from './protocol.js';
import { deadline, timeoutOf } from './timeout.js';

/** A call that is answered in frames. */
export interface FramedCall {
  readonly protocol: Protocol;
  readonly method: ContractMethod;
  readonly served: GuardedUnary | GuardedStream;
  readonly clock: Clock;
  readonly streams: OpenStreams;
}

/** Opens a method; one that is answered once becomes a stream of one. */
function open(
  served: FramedCall['served'],
  metadata: CallMetadata,
  read: ReadRequest,
  answers: ByteAnswers,
): AnswerEvents {
  if (served.kind === 'stream') return served.open(metadata, read, answers);
  served.answer(metadata, read).then(
    (bytes) => {
      answers.write(bytes);
      answers.end(null);
    },
    (error: unknown) => answers.end(error),
  );
  return { drained: () => undefined, gone: () => undefined };
}

/** The message of a request, out of its frame. */
function reader({ protocol, method }: FramedCall, request: IncomingMessage): ReadRequest {
  const header = protocol.name === 'grpc-web' ? 'grpc-encoding' : 'connect-content-encoding';
  const encoding = request.headersDistinct[header]?.[0] ?? '';
  return async () => {
    const body = await readBody(request);
    const frames = protocol.isText ? Buffer.from(body.toString('latin1'), 'base64') : body;
    return protocol.codec.read(method.input, await singleMessage(frames, encoding));
  };
}

/** Sends an answer that is only an error. */
export function respondFramedError(response: ServerResponse, protocol: Protocol, error: DuctorError): void {
  respond(response, 200, { 'content-type': protocol.contentType }, framing(protocol).end(error));
}

function answersOn(call: FramedCall, frames: Framing, response: ServerResponse, onEnd: () => void): ByteAnswers {
  const { protocol, method, served } = call;
  let isEnded = false;
  const begin = (): void => {
    if (!response.headersSent) beginStream(response, protocol.contentType);
  };
  return {
    write(bytes) {
      if (isEnded) return true;
      begin();
      return response.write(frames.message(protocol.codec.write(method.output, bytes)));
    },
    end(caught) {
      if (isEnded) return;
      isEnded = true;
      onEnd();
      const error = caught === null ? null : served.reported(caught);
      if (error !== null && !response.headersSent) return respondFramedError(response, protocol, error);
      begin();
      response.end(frames.end(error));
    },
  };
}

/** Answers a call. */
export function answerFramed(call: FramedCall, request: IncomingMessage, response: ServerResponse): void {
  const { served, clock, protocol, streams } = call;
  let events: AnswerEvents | undefined;
  const gone = (): void => events?.gone();
  let cancel = (): void => undefined;
  const answers = answersOn(call, framing(protocol), response, () => cancel());
  const forget = streams.add((caught) => answers.end(caught));
  // These protocols have no sign of life: a stream may be silent as long as the system finds the peer there.
  request.socket.setTimeout(0);
  try {
    const timer = deadline(clock, timeoutOf(request), (error) => {
      answers.end(error);
      gone();
    });
    cancel = () => timer.cancel();
    events = open(served, callMetadata(request), reader(call, request), answers);
  } catch (error) {
    answers.end(error);
  }
  response.on('drain', () => events?.drained());
  response.on('close', () => {
    cancel();
    forget();
    gone();
  });
}
