/** EndpointService: apps that the engine calls. */
import {
  EndpointServiceService,
  type DeleteEndpointRequest,
  type DeleteEndpointResponse,
  type GetEndpointRequest,
  type GetEndpointResponse,
  type ListEndpointsRequest,
  type ListEndpointsResponse,
  type RegisterEndpointRequest,
  type RegisterEndpointResponse,
} from '../../../gen/ductor/v1/endpoint.js';
import { ENDPOINT_CONCURRENCY, ENDPOINT_TIMEOUT_MS, type Endpoints, type EndpointSpec } from '../../../bridge/index.js';
import { parseDurationMs, type Clock } from '../../../kernel/index.js';
import type { Unary } from '../call.js';
import { badCursor, decodeCursor } from '../checks/cursor.js';
import { checkId, FieldChecks } from '../checks/field-checks.js';
import { endpointOf, formOf } from '../wire/endpoint.js';
import { pageOf } from '../wire/page.js';

/** What the handlers need. */
export interface EndpointServiceParts {
  readonly endpoints: Pick<Endpoints, 'register' | 'list' | 'get' | 'remove' | 'signingKeys' | 'statusOf'>;
  readonly clock: Clock;
}

const MAX_URL_CHARS = 2_048;
const { registerEndpoint: REGISTER, deleteEndpoint: DELETE } = EndpointServiceService;

/** What the request says, with defaults; what is wrong in it but for its bounds is thrown. */
function specOf(request: RegisterEndpointRequest): EndpointSpec {
  const { name, url, audience, queues, concurrency, timeout } = request;
  const checks = new FieldChecks();
  const form = formOf(request.form);
  if (form === undefined) {
    const remedy = 'use ENDPOINT_FORM_HTTP or ENDPOINT_FORM_GRPC';
    checks.note('form', String(request.form), 'is no form of endpoint', remedy);
  }
  const timeoutMs = timeout === '' ? ENDPOINT_TIMEOUT_MS : parseDurationMs(timeout);
  if (timeoutMs === undefined) checks.note('timeout', timeout, 'is no duration', 'send a duration, for example "30s"');
  checks.required('name', name);
  checks.required('url', url, MAX_URL_CHARS);
  checks.text('audience', audience, MAX_URL_CHARS);
  checks.done();
  return {
    ...{ name, url, form: form ?? 'http', audience: audience || url, timeoutMs: timeoutMs ?? ENDPOINT_TIMEOUT_MS },
    queues: queues.length === 0 ? ['default'] : [...new Set(queues)],
    concurrency: concurrency === 0 ? ENDPOINT_CONCURRENCY : concurrency,
  };
}

/** RegisterEndpoint. */
export function registerEndpoint({
  endpoints,
  clock,
}: EndpointServiceParts): Unary<RegisterEndpointRequest, RegisterEndpointResponse> {
  return async (request, principal) => {
    const spec = specOf(request);
    const { endpoint, outcomes } = await endpoints.register(
      ...([principal, REGISTER.path, spec, request.workflows, request.strategies] as const),
    );
    return { data: endpointOf(endpoint, endpoints, clock), registrations: [...outcomes] };
  };
}

/** ListEndpoints. A cursor names the last endpoint of its page. */
export function listEndpoints({
  endpoints,
  clock,
}: EndpointServiceParts): Unary<ListEndpointsRequest, ListEndpointsResponse> {
  return async ({ pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    checks.done();
    const [before] = cursor === '' ? [undefined] : decodeCursor(cursor, 1);
    if (before !== undefined && !new FieldChecks().uuid('pagination.cursor', before)) throw badCursor(cursor);
    const found = await endpoints.list(tenantId, before ?? null, limit + 1);
    const { page, end } = pageOf(found, limit, (last) => [last.endpointId]);
    return { data: page.map((endpoint) => endpointOf(endpoint, endpoints, clock)), pagination: end };
  };
}

/** GetEndpoint. */
export function getEndpoint({
  endpoints,
  clock,
}: EndpointServiceParts): Unary<GetEndpointRequest, GetEndpointResponse> {
  return async ({ endpointId }, { tenantId }) => {
    checkId('endpoint_id', endpointId);
    return { data: endpointOf(await endpoints.get(tenantId, endpointId), endpoints, clock) };
  };
}

/** DeleteEndpoint. */
export function deleteEndpoint({
  endpoints,
  clock,
}: EndpointServiceParts): Unary<DeleteEndpointRequest, DeleteEndpointResponse> {
  return async ({ endpointId }, principal) => {
    checkId('endpoint_id', endpointId);
    return { data: endpointOf(await endpoints.remove(principal, DELETE.path, endpointId), endpoints, clock) };
  };
}
