/** BridgeService: hands streams and signs of life to the bridge. */
import type { BeatRequest, BeatResponse, WorkRequest, WorkResponse } from '../../gen/ductor/v1/bridge.js';
import type { Bridge } from '../../bridge/index.js';
import type { BidiStream, Unary } from './call.js';
import { FieldChecks } from './checks/field-checks.js';

const MAX_BEATS = 10_000;

/** Work. */
export function work(bridge: Pick<Bridge, 'open'>): BidiStream<WorkRequest, WorkResponse> {
  return (principal, answers) => bridge.open(principal, answers);
}

/** Beat. What has no genuine token is passed over: the attempt has ended, or is not the caller's. */
export function beat(bridge: Pick<Bridge, 'beat'>): Unary<BeatRequest, BeatResponse> {
  return async (request, principal) => {
    const checks = new FieldChecks();
    checks.uuid('worker_id', request.workerId);
    checks.count('heartbeats', request.heartbeats.length, 0, MAX_BEATS);
    checks.done();
    bridge.beat(principal, request);
    return {};
  };
}
