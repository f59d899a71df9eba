/** Connect's calls with one answer: the body is the message, an error has an HTTP status. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, DuctorError } from '../../kernel/index.js';
import type { ContractMethod } from '../contract/contract.js';
import type { GuardedUnary } from '../grpc/guarded-method.js';
import { callMetadata } from '../http/headers.js';
import { readBody } from '../http/read-body.js';
import { errorHeaders, respond } from '../http/respond.js';
import { connectError, connectStatus } from './connect-error.js';
import type { Protocol } from './protocol.js';
import { deadline, timeoutOf } from './timeout.js';

/** Sends an error. */
export function respondConnectError(response: ServerResponse, error: DuctorError): void {
  const headers = { ...errorHeaders(error), 'content-type': 'application/json' };
  respond(response, connectStatus(error), headers, JSON.stringify(connectError(error)));
}

/** Answers a call. */
export async function answerUnary(
  {
    method,
    served,
    codec,
    contentType,
    clock,
  }: Pick<Protocol, 'codec' | 'contentType'> & {
    readonly method: ContractMethod;
    readonly served: GuardedUnary;
    readonly clock: Clock;
  },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const fail = (caught: unknown): void => respondConnectError(response, served.reported(caught));
  try {
    const timer = deadline(clock, timeoutOf(request), fail);
    try {
      const read = async (): Promise<Uint8Array> => codec.read(method.input, await readBody(request));
      const bytes = await served.answer(callMetadata(request), read);
      respond(response, 200, { 'content-type': contentType }, codec.write(method.output, bytes));
    } finally {
      timer.cancel();
    }
  } catch (error) {
    fail(error);
  }
}
