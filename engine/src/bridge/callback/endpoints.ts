/** Endpoints, whole: what tenants say of them, what this node does with them, the keys that sign its calls. */
import { egressClient, type EgressGuard } from '../../egress/index.js';
import type { Clock, ClusterSecret } from '../../kernel/index.js';
import type { Database } from '../../store/index.js';
import type { Bridge } from '../bridge.js';
import { createEndpointRegistry, type EndpointRegistry } from '../endpoint/endpoint-registry.js';
import type { Endpoint } from '../endpoint/endpoint.js';
import type { RegisterDefinition } from '../ports.js';
import { createEndpointDispatcher, type EndpointDispatcher } from './dispatcher.js';
import { grpcCaller } from './grpc-caller.js';
import { httpCaller } from './http-caller.js';
import { callbackSigner } from './signer.js';

/** Endpoints of a node. */
export interface Endpoints
  extends EndpointRegistry, Pick<EndpointDispatcher, 'start' | 'statusOf' | 'drain' | 'close'> {
  /** Public keys to verify calls to it with: "whpk_" and base64. */
  signingKeys(endpoint: Pick<Endpoint, 'tenantId' | 'name'>): readonly string[];
}

/** What they need. */
export interface EndpointsOptions {
  readonly db: Database;
  readonly bridge: Bridge;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly secret: ClusterSecret;
  readonly register: RegisterDefinition;
  readonly guard: EgressGuard;
  /** Live nodes. */
  readonly nodes: () => number;
  /** Told of what went wrong in the background. */
  readonly log: (line: string, error: unknown) => void;
}

/** Endpoints on this database. */
export function createEndpoints(options: EndpointsOptions): Endpoints {
  const { db, bridge, clock, newId, secret, register, guard, nodes, log } = options;
  const signer = callbackSigner(secret);
  const client = egressClient(guard, clock);
  const callers = { http: httpCaller(client), grpc: grpcCaller(guard) };
  const dispatcher = createEndpointDispatcher({
    ...{ db, bridge, clock, newId, signer, nodes, log },
    callerOf: ({ form }) => callers[form],
  });
  const registry = createEndpointRegistry({ db, newId, register, guard, onChange: () => void dispatcher.refresh() });
  return {
    ...registry,
    start: () => dispatcher.start(),
    statusOf: (endpointId) => dispatcher.statusOf(endpointId),
    drain: (limitMs) => dispatcher.drain(limitMs),
    signingKeys: (endpoint) => signer.publicKeys(endpoint),
    close() {
      dispatcher.close();
      callers.http.close();
      callers.grpc.close();
      client.close();
    },
  };
}
