/** RoutingService: what waits in queues of pools. */
import {
  RoutingServiceService,
  type GetWaitingWorkRequest,
  type GetWaitingWorkResponse,
  type ListWaitingWorkRequest,
  type ListWaitingWorkResponse,
  type RemoveWaitingWorkRequest,
  type RemoveWaitingWorkResponse,
} from '../../../gen/ductor/v1/routing.js';
import { isUuid } from '../../../kernel/index.js';
import { NO_POOL, type QueuePlace, type Waiting } from '../../../routing/index.js';
import type { Unary } from '../call.js';
import { badCursor, decodeCursor } from '../checks/cursor.js';
import { checkId, FieldChecks } from '../checks/field-checks.js';
import { pageOf } from '../wire/page.js';
import { waitingMessage } from '../wire/waiting.js';

/** What the handlers need. */
export interface WaitingParts {
  readonly waiting: Waiting;
}

const MAX_REASON_CHARS = 1024;
/** A place in the order of a queue. */
const PLACE = /^-?\d{1,18}$/;

function afterOf(cursor: string): QueuePlace | undefined {
  if (cursor === '') return undefined;
  const [rank = '', place = '', decisionId = ''] = decodeCursor(cursor, 3);
  if (!PLACE.test(rank) || !PLACE.test(place) || !isUuid(decisionId)) throw badCursor(cursor);
  return { rank, place, decisionId };
}

/** ListWaitingWork. A cursor names the place of the last work of its page. */
export function listWaitingWork({ waiting }: WaitingParts): Unary<ListWaitingWorkRequest, ListWaitingWorkResponse> {
  return async ({ poolId, pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    if (poolId !== '') checks.uuid('pool_id', poolId);
    checks.done();
    const pool = poolId === '' ? NO_POOL : poolId;
    const found = await waiting.list(tenantId, { poolId: pool, after: afterOf(cursor), limit: limit + 1 });
    const { page, end } = pageOf(found, limit, ({ rank, place, decisionId }) => [rank, place, decisionId]);
    return { data: page.map(waitingMessage), pagination: end };
  };
}

/** GetWaitingWork. */
export function getWaitingWork({ waiting }: WaitingParts): Unary<GetWaitingWorkRequest, GetWaitingWorkResponse> {
  return async ({ decisionId }, { tenantId }) => {
    checkId('decision_id', decisionId);
    return { data: waitingMessage(await waiting.get(tenantId, decisionId)) };
  };
}

/** RemoveWaitingWork. */
export function removeWaitingWork({
  waiting,
}: WaitingParts): Unary<RemoveWaitingWorkRequest, RemoveWaitingWorkResponse> {
  return async ({ decisionId, reason }, by) => {
    const checks = new FieldChecks();
    checks.uuid('decision_id', decisionId);
    checks.text('reason', reason, MAX_REASON_CHARS);
    checks.done();
    const caller = { by, method: RoutingServiceService.removeWaitingWork.path };
    return { data: waitingMessage(await waiting.remove(caller, decisionId, reason)) };
  };
}
