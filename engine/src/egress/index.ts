/** Egress: what the engine may call on somebody's behalf, and how it does so. */
export { egressGuard, type EgressGuard, type EgressTarget, type Resolver } from './guard.js';
export { orAborted } from './or-aborted.js';
export { egressPolicy, type EgressPolicy } from './policy.js';
export type { EgressAnswer } from './exchange.js';
export { egressClient, type EgressClient, type EgressRequest } from './request.js';
export { systemResolver } from './system-resolver.js';
