/** ClaimService: what waits in the queues, and what recipients do to it. */
import {
  ClaimState as State,
  type ClaimItem as ItemMessage,
  type GetClaimItemRequest,
  type GetClaimItemResponse,
  type ListClaimItemsRequest,
  type ListClaimItemsResponse,
} from '../../../gen/ductor/v1/claim.js';
import type { ClaimState, ClaimVerb } from '../../../claims/index.js';
import type { Unary } from '../call.js';
import { momentCursor } from '../checks/cursor.js';
import { checkId, FieldChecks } from '../checks/field-checks.js';
import { CLAIM_STATES, itemMessage, wholeItemMessage } from '../wire/claim.js';
import { pageOf } from '../wire/page.js';
import type { ClaimParts } from './queue-service.js';

const MAX_REASON_CHARS = 1024;

const isState = (name: string): name is ClaimState => Object.hasOwn(CLAIM_STATES, name);

function stateOf(checks: FieldChecks, state: State): ClaimState | null {
  if (state === State.CLAIM_STATE_UNSPECIFIED) return null;
  const found = Object.keys(CLAIM_STATES)
    .filter(isState)
    .find((name) => CLAIM_STATES[name] === state);
  if (found === undefined) {
    checks.note('state', String(state), 'is no state of a claim item', 'use one of CLAIM_STATE_…');
  }
  return found ?? null;
}

/** Where a list goes on. A cursor names moment and id of the last item of its page. */
function afterOf(cursor: string): { readonly queuedUs: number; readonly itemId: string } | null {
  if (cursor === '') return null;
  const { atUs: queuedUs, id: itemId } = momentCursor(cursor);
  return { queuedUs, itemId };
}

/** ListClaimItems. */
export function listClaimItems({ claims }: ClaimParts): Unary<ListClaimItemsRequest, ListClaimItemsResponse> {
  return async ({ queueId, state, recipientId, pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    checks.uuid('queue_id', queueId);
    if (recipientId !== '') checks.uuid('recipient_id', recipientId);
    const wanted = stateOf(checks, state);
    checks.done();
    const recipient = recipientId === '' ? null : recipientId;
    const query = { queueId, state: wanted, recipientId: recipient, after: afterOf(cursor), limit: limit + 1 };
    const found = await claims.list(tenantId, query);
    const { page, end } = pageOf(found, limit, ({ queuedUs, itemId }) => [queuedUs, itemId]);
    return { data: page.map((item) => itemMessage(item, recipient ?? undefined)), pagination: end };
  };
}

/** GetClaimItem. */
export function getClaimItem({ claims }: ClaimParts): Unary<GetClaimItemRequest, GetClaimItemResponse> {
  return async ({ itemId }, { tenantId }) => {
    checkId('item_id', itemId);
    return { data: wholeItemMessage(await claims.get(tenantId, itemId)) };
  };
}

/** A call that does one thing to one item. */
interface ActRequest {
  readonly itemId: string;
  readonly recipientId: string;
  readonly reason?: string;
}

/** ClaimItem, ReleaseClaim, CompleteClaim, DeclineClaim. */
export function actOnClaim<Request extends ActRequest>(
  { claims }: ClaimParts,
  verb: ClaimVerb,
  method: string,
): Unary<Request, { data: ItemMessage | undefined }> {
  return async ({ itemId, recipientId, reason = '' }, by) => {
    const checks = new FieldChecks();
    checks.uuid('item_id', itemId);
    checks.uuid('recipient_id', recipientId);
    checks.text('reason', reason, MAX_REASON_CHARS);
    checks.done();
    return { data: itemMessage(await claims.act({ by, method, itemId, recipientId, verb, reason }), recipientId) };
  };
}
