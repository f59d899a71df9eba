/** The doors of a node. */
export { createGrpcServer, type GrpcServer } from './grpc/index.js';
