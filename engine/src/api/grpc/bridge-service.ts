/** BridgeService.Work: hands the stream to the bridge. */
import type { WorkRequest, WorkResponse } from '../../gen/ductor/v1/bridge.js';
import type { Bridge } from '../../bridge/index.js';
import type { BidiStream } from './call.js';

/** The handler. */
export function work(bridge: Pick<Bridge, 'open'>): BidiStream<WorkRequest, WorkResponse> {
  return (principal, answers) => bridge.open(principal, answers);
}
