/** Lines of the board as messages. */
import type { CapacityHolder as HolderMessage, CapacityLine } from '../../../gen/ductor/v1/pool.js';
import { RecipientState } from '../../../gen/ductor/v1/recipient.js';
import { Status } from '../../../gen/ductor/v1/workflow.js';
import { freeOf, type BoardLine, type CapacityHolder } from '../../../capacity/index.js';
import { timestampOf } from './timestamp.js';

/** The number of a name of the contract. */
function numberOf<T extends number>(names: { readonly [name: string]: T | string }, name: string, unknown: T): T {
  const found = names[name];
  return typeof found === 'number' ? found : unknown;
}

function holderMessage(holder: CapacityHolder): HolderMessage {
  const { poolId, units, sinceUs } = holder;
  const none = { runId: '', step: '', rootRunId: '', assignmentId: '', decisionId: '', routableId: '' };
  const having = { ...none, poolId, units, since: timestampOf(sinceUs) };
  if (holder.kind === 'reservation') {
    return { ...having, runId: holder.runId, step: holder.path, rootRunId: holder.rootId };
  }
  const { assignmentId, decisionId, routableId } = holder;
  return { ...having, assignmentId, decisionId, routableId };
}

/** A line as a message. */
export function lineMessage(line: BoardLine): CapacityLine {
  const { maxConcurrent: limit, status, state, holders, ...rest } = line;
  return {
    ...{ ...rest, limit, free: freeOf(line) },
    status: numberOf(Status, status, Status.STATUS_UNSPECIFIED),
    state: numberOf(RecipientState, state, RecipientState.RECIPIENT_STATE_UNSPECIFIED),
    holders: holders.map(holderMessage),
  };
}
