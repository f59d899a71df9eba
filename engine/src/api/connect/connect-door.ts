/**
 * Connect and gRPC-Web over HTTP/1.1, from the descriptors: POST /ductor.v1.RunService/GetRun. Written against the
 * public protocol texts and tested with Connect's own clients (docs/decisions/0009 says why it is not their server).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { DuctorError, type Clock } from '../../kernel/index.js';
import type { Contract } from '../contract/contract.js';
import type { GuardedMethod } from '../grpc/guarded-method.js';
import { mediaType, targetOf } from '../http/headers.js';
import type { OpenStreams } from '../http/open-streams.js';
import { respondError } from '../http/respond.js';
import { CONTENT_TYPES, protocols, type Protocol } from './protocol.js';
import { answerFramed, respondFramedError } from './stream.js';
import { answerUnary, respondConnectError } from './unary.js';

/** What the door needs. */
export interface ConnectDoorOptions {
  readonly contract: Contract;
  readonly methods: ReadonlyMap<string, GuardedMethod>;
  readonly clock: Clock;
  readonly streams: OpenStreams;
}

/** The door: false when the path is not one of its. */
export type ConnectDoor = (request: IncomingMessage, response: ServerResponse) => boolean;

const VERSION = '1';

function refusal(
  code: 'unsupported_media_type' | 'unimplemented' | 'invalid_argument',
  facts: {
    readonly path: string;
    readonly value: string;
    readonly problem: string;
    readonly remedy: string;
  },
): DuctorError {
  return new DuctorError(code, `${facts.path} ${facts.problem}`, { details: [facts], remedy: facts.remedy });
}

function unknownMethod(path: string): DuctorError {
  return refusal('unimplemented', {
    ...{ path: 'path', value: path.slice(0, 200), problem: 'names no method of this engine' },
    remedy: 'See /docs for the services and methods.',
  });
}

function unsupported(type: string): DuctorError {
  return refusal('unsupported_media_type', {
    ...{ path: 'content-type', value: type.slice(0, 200), problem: 'is none that this method speaks over HTTP/1.1' },
    remedy: `Use one of ${CONTENT_TYPES.join(', ')}.`,
  });
}

function onlyGrpc(path: string): DuctorError {
  return refusal('unimplemented', {
    ...{ path: 'path', value: path, problem: 'is a stream both ways, which HTTP/1.1 cannot carry' },
    remedy: 'Call it by gRPC over HTTP/2, on the same port.',
  });
}

function wrongVersion(value: string): DuctorError {
  return refusal('invalid_argument', {
    ...{ path: 'connect-protocol-version', value: value.slice(0, 200), problem: 'is no version this engine speaks' },
    remedy: `Send ${VERSION}.`,
  });
}

/** Sends an error in the shape the protocol has for it. */
function respondIn(protocol: Protocol, response: ServerResponse, error: DuctorError): void {
  if (protocol.name === 'connect-unary') respondConnectError(response, error);
  else respondFramedError(response, protocol, error);
}

function answer(
  { contract, methods, clock, streams }: ConnectDoorOptions,
  path: string,
  protocol: Protocol,
  response: ServerResponse,
): void {
  const request = response.req;
  const method = contract.methods.get(path);
  const served = methods.get(path);
  const version = request.headersDistinct['connect-protocol-version']?.[0];
  if (method === undefined || served === undefined) return respondIn(protocol, response, unknownMethod(path));
  if (served.kind === 'bidi') return respondIn(protocol, response, onlyGrpc(path));
  if (version !== undefined && version !== VERSION) return respondIn(protocol, response, wrongVersion(version));
  if (protocol.name !== 'connect-unary')
    return answerFramed({ protocol, method, served, clock, streams }, request, response);
  if (served.kind === 'stream') return respondConnectError(response, unsupported(protocol.contentType));
  void answerUnary({ ...protocol, method, served, clock }, request, response);
}

/** Builds the door. */
export function createConnectDoor(options: ConnectDoorOptions): ConnectDoor {
  const services = new Set([...options.contract.methods.values()].map(({ service }) => service));
  const protocolOf = protocols(options.contract.registry);
  return (request, response) => {
    const { path } = targetOf(request);
    const [, service = '', , more] = path.split('/');
    if (more !== undefined || !services.has(service)) return false;
    const { type } = mediaType(request);
    const protocol = protocolOf(type);
    if (request.method !== 'POST') {
      const details = [{ path: 'method', value: request.method ?? '', problem: 'is not allowed', remedy: 'Use POST.' }];
      const error = new DuctorError('method_not_allowed', 'methods are called with POST', { details });
      respondError(response, error, { allow: 'POST' });
    } else if (protocol === undefined) {
      respondError(response, unsupported(type), { 'accept-post': CONTENT_TYPES.join(', ') });
    } else answer(options, path, protocol, response);
    return true;
  };
}
