/** Waiting work as messages. */
import { WaitingState as State, type WaitingWork as WorkMessage } from '../../../gen/ductor/v1/routing.js';
import { NO_POOL, type WaitingWork } from '../../../routing/index.js';
import { timestampOf } from './timestamp.js';

const STATES: Readonly<Record<WaitingWork['state'], State>> = {
  waiting: State.WAITING_STATE_WAITING,
  decided: State.WAITING_STATE_DECIDED,
  removed: State.WAITING_STATE_REMOVED,
};

/** Work in the queue of a pool, as a message. */
export function waitingMessage(work: WaitingWork): WorkMessage {
  return {
    ...{ decisionId: work.decisionId, firstDecisionId: work.firstId, decidedAs: work.decidedAs ?? '' },
    poolId: work.poolId === NO_POOL ? '' : work.poolId,
    ...{ routableId: work.routableId, routableType: work.routableType, channel: work.channel },
    ...{ priority: work.priority, reason: work.reason, state: STATES[work.state] },
    ...{ queuedAt: timestampOf(work.queuedUs), expiresAt: timestampOf(work.expiresUs) },
    endedAt: work.endedUs === null ? undefined : timestampOf(work.endedUs),
  };
}
