/** The gRPC door of a node. */
export { ERROR_KEY, STATUS_DETAILS_KEY } from './errors/to-status.js';
export type { WorkflowCatalog } from './ports.js';
export { createGrpcServer, type GrpcServer, type GrpcServerOptions } from './server.js';
