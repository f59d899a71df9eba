/** REST: finds the route, lets the guard see the caller, turns JSON into bytes and back. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { DuctorError, type Clock } from '../../kernel/index.js';
import type { Contract, HttpVerb } from '../contract/contract.js';
import type { GuardedMethod, GuardedUnary } from '../grpc/guarded-method.js';
import { callMetadata, mediaType, targetOf } from '../http/headers.js';
import type { OpenStreams } from '../http/open-streams.js';
import { readBody } from '../http/read-body.js';
import { JSON_TYPE, respond, respondError } from '../http/respond.js';
import { decodeMessage } from '../json/codec.js';
import { parseJson } from '../json/parse.js';
import { restMessage } from './request.js';
import { Router, type Place, type Route } from './router.js';
import { answerLines } from './lines.js';

/** What the door needs. */
export interface RestDoorOptions {
  readonly contract: Contract;
  /** By their paths: those of the contract that are served. */
  readonly methods: ReadonlyMap<string, GuardedMethod>;
  /** What a caller may see of whatever was caught outside a method. */
  readonly report: (caught: unknown) => DuctorError;
  readonly clock: Clock;
  /** See HttpLimits.keepAliveMs. */
  readonly keepAliveMs: number;
  readonly streams: OpenStreams;
}

/** The door: false when the path is not one of its. */
export type RestDoor = (request: IncomingMessage, response: ServerResponse) => boolean;

/** curl -d says the last one unless told otherwise; the Authorization header keeps foreign forms out. */
const JSON_TYPES =
  /^(|application\/json|application\/[a-z0-9.+-]+\+json|text\/json|application\/x-www-form-urlencoded)$/;

/** A HEAD is a GET whose body stays behind. */
function verbOf({ method }: IncomingMessage): string {
  return method === 'HEAD' ? 'GET' : (method ?? '');
}

function notAllowed(verb: string, allowed: readonly string[]): DuctorError {
  const problem = `is not allowed here`;
  const remedy = `Use ${allowed.join(' or ')}.`;
  const details = [{ path: 'method', value: verb, problem, remedy }];
  return new DuctorError('method_not_allowed', `${verb} ${problem}`, { details, remedy });
}

function checkMediaType(request: IncomingMessage): void {
  const { type, charset } = mediaType(request);
  if (JSON_TYPES.test(type) && (charset === undefined || charset === 'utf-8' || charset === 'utf8')) return;
  const found = charset === undefined ? type : `${type}; charset=${charset}`;
  const problem = 'is not JSON in UTF-8';
  const remedy = 'Send JSON with the header "content-type: application/json".';
  throw new DuctorError('unsupported_media_type', `content-type ${problem}`, {
    details: [{ path: 'content-type', value: found.slice(0, 200), problem, remedy }],
    remedy,
  });
}

/** Reads the request of a route; called when the guard has let the caller in. */
function reader(
  { contract }: RestDoorOptions,
  request: IncomingMessage,
  route: Route,
  values: readonly string[],
): () => Promise<Uint8Array> {
  return async () => {
    const { query } = targetOf(request);
    const raw = await readBody(request);
    if (raw.length > 0) checkMediaType(request);
    const body = raw.length > 0 ? parseJson(raw) : undefined;
    return restMessage(contract.registry, route, { values, query, body });
  };
}

async function answerOnce(
  options: RestDoorOptions,
  served: GuardedUnary,
  route: Route,
  read: () => Promise<Uint8Array>,
  response: ServerResponse,
): Promise<void> {
  try {
    const bytes = await served.answer(callMetadata(response.req), read);
    const text = decodeMessage(options.contract.registry, route.method.output, bytes);
    respond(response, 200, { 'content-type': JSON_TYPE }, text);
  } catch (error) {
    respondError(response, served.reported(error));
  }
}

function answer(options: RestDoorOptions, place: Place, request: IncomingMessage, response: ServerResponse): void {
  const { routes, values } = place;
  const verb = verbOf(request);
  const route = [...routes].find(([name]) => name === verb)?.[1];
  if (route === undefined) {
    const allowed: HttpVerb[] = [...routes.keys()];
    const all = allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed;
    respondError(response, notAllowed(request.method ?? '', allowed), { allow: all.join(', ') });
    return;
  }
  const served = options.methods.get(route.method.path);
  const read = reader(options, request, route, values);
  if (served?.kind === 'unary') void answerOnce(options, served, route, read, response);
  else if (served?.kind === 'stream') answerLines({ ...options, served, output: route.method.output, read }, response);
  else respondError(response, new DuctorError('unimplemented', `${route.method.path} is not served by REST`));
}

/** Builds the door. Throws internal when the contract's bindings cannot be served. */
export function createRestDoor(options: RestDoorOptions): RestDoor {
  const router = new Router(options.contract.methods.values());
  return (request, response) => {
    const { path } = targetOf(request);
    try {
      const place = router.find(path);
      if (place !== undefined) answer(options, place, request, response);
      else if (path === '/api' || path.startsWith('/api/')) respondError(response, router.notFound(path));
      else return false;
    } catch (error) {
      respondError(response, options.report(error));
    }
    return true;
  };
}
