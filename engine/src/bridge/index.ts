/** The bridge: workers' streams, the fair queue before them, the tokens of attempts. */
export { Bridge, type BridgeOptions, type BridgeStats, type DispatchWatch, type OpenedStream } from './bridge.js';
export type { EndpointStatus } from './callback/endpoint-worker.js';
export { createEndpoints, type Endpoints, type EndpointsOptions } from './callback/endpoints.js';
export {
  ENDPOINT_CONCURRENCY,
  ENDPOINT_TIMEOUT_MS,
  type Endpoint,
  type EndpointForm,
  type EndpointSpec,
} from './endpoint/endpoint.js';
export { HttpDesk, type HttpDeskParts } from './http/http-desk.js';
export type { BridgeCoordinator, RegisterDefinition, Registered } from './ports.js';
export { QUEUE_LIMITS, type QueueLimits } from './queue/fair-queue.js';
export type { WorkStream, WorkStreamEvents } from './session/work-stream.js';
export { taskTokens, type TaskTokens } from './token.js';
export { definitionFromWire } from './wire/definition-from-wire.js';
export { plainJson, plainObject } from './wire/plain-json.js';
export { relayPasses, type RelayPasses } from './relay/pass.js';
export { PASS_KEY, peerDialer, type PeerTls } from './relay/peer-dialer.js';
export type { PeerNode } from './relay/ports.js';
export { createRelayDriver, type RelayDriver } from './relay/relay-driver.js';
