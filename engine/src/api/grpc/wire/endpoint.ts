/** Endpoints as the contract shows them. */
import {
  EndpointCircuit,
  EndpointForm,
  type Endpoint as WireEndpoint,
  type EndpointState,
} from '../../../gen/ductor/v1/endpoint.js';
import { formatDurationMs, type Clock } from '../../../kernel/index.js';
import type { Endpoint, Endpoints, EndpointStatus } from '../../../bridge/index.js';
import { timestampOf } from './timestamp.js';

const FORMS: Readonly<Record<Endpoint['form'], EndpointForm>> = {
  http: EndpointForm.ENDPOINT_FORM_HTTP,
  grpc: EndpointForm.ENDPOINT_FORM_GRPC,
};
const CIRCUITS: Readonly<Record<EndpointStatus['circuit'], EndpointCircuit>> = {
  closed: EndpointCircuit.ENDPOINT_CIRCUIT_CLOSED,
  open: EndpointCircuit.ENDPOINT_CIRCUIT_OPEN,
  half_open: EndpointCircuit.ENDPOINT_CIRCUIT_HALF_OPEN,
};

/** The form that a number names; undefined: none. */
export function formOf(form: EndpointForm): Endpoint['form'] | undefined {
  if (form === EndpointForm.ENDPOINT_FORM_HTTP) return 'http';
  return form === EndpointForm.ENDPOINT_FORM_GRPC ? 'grpc' : undefined;
}

function stateOf({ circuit, inFlight, failures, lastError, retryInMs }: EndpointStatus, clock: Clock): EndpointState {
  const retryAt = retryInMs === null ? undefined : timestampOf(clock.nowUs() + retryInMs * 1_000);
  return { circuit: CIRCUITS[circuit], inFlight, failures, lastError, retryAt };
}

/** The message ductor.v1.Endpoint. */
export function endpointOf(
  endpoint: Endpoint,
  endpoints: Pick<Endpoints, 'signingKeys' | 'statusOf'>,
  clock: Clock,
): WireEndpoint {
  const { endpointId, name, form, url, audience, queues, concurrency, timeoutMs, workflows, strategies } = endpoint;
  const status = endpoints.statusOf(endpointId);
  return {
    ...{ id: endpointId, name, form: FORMS[form], url, audience, concurrency, queues: [...queues] },
    timeout: formatDurationMs(timeoutMs),
    workflows: workflows.map(({ familySlug, handlers, pinnedVersion }) => ({
      ...{ familySlug, handlers: [...handlers], pinnedVersion: pinnedVersion ?? 0 },
    })),
    strategies: strategies.map(({ name: strategy, version }) => ({ name: strategy, version })),
    signingKeys: [...endpoints.signingKeys(endpoint)],
    createdAt: timestampOf(endpoint.createdAtUs),
    updatedAt: timestampOf(endpoint.updatedAtUs),
    state: status === undefined ? undefined : stateOf(status, clock),
  };
}
