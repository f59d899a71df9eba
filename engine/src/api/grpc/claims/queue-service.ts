/** ClaimService: the queues. */
import {
  ClaimQueueInput,
  ClaimServiceService,
  CreateClaimQueueRequest,
  type CreateClaimQueueResponse,
  type DeleteClaimQueueRequest,
  type DeleteClaimQueueResponse,
  type GetClaimQueueRequest,
  type GetClaimQueueResponse,
  type ListClaimQueuesRequest,
  type ListClaimQueuesResponse,
  type UpdateClaimQueueRequest,
  type UpdateClaimQueueResponse,
} from '../../../gen/ductor/v1/claim.js';
import type { Claims } from '../../../routing/index.js';
import { contractJson } from '../../json/contract-json.js';
import type { Unary } from '../call.js';
import { decodeCursor } from '../checks/cursor.js';
import { checkId, FieldChecks } from '../checks/field-checks.js';
import { patchOf } from '../pools/patch.js';
import { queueMessage } from '../wire/claim.js';
import { pageOf } from '../wire/page.js';

/** What the handlers need. */
export interface ClaimParts {
  readonly claims: Claims;
}

const { createClaimQueue: CREATE, updateClaimQueue: UPDATE, deleteClaimQueue: DELETE } = ClaimServiceService;

/** CreateClaimQueue. */
export function createClaimQueue({ claims }: ClaimParts): Unary<CreateClaimQueueRequest, CreateClaimQueueResponse> {
  return async (request, by) => {
    const sent = contractJson().sent('CreateClaimQueueRequest', CreateClaimQueueRequest.encode(request).finish());
    return { data: queueMessage(await claims.queues.create({ by, method: CREATE.path }, sent)) };
  };
}

/** GetClaimQueue. */
export function getClaimQueue({ claims }: ClaimParts): Unary<GetClaimQueueRequest, GetClaimQueueResponse> {
  return async ({ queueId }, { tenantId }) => {
    checkId('queue_id', queueId);
    return { data: queueMessage(await claims.queues.get(tenantId, queueId)) };
  };
}

/** ListClaimQueues. A cursor names the last queue of its page. */
export function listClaimQueues({ claims }: ClaimParts): Unary<ListClaimQueuesRequest, ListClaimQueuesResponse> {
  return async ({ pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    checks.done();
    const [afterName = ''] = cursor === '' ? [] : decodeCursor(cursor, 1);
    const found = await claims.queues.list(tenantId, { afterName, limit: limit + 1 });
    const { page, end } = pageOf(found, limit, ({ fields }) => [fields.name]);
    return { data: page.map(queueMessage), pagination: end };
  };
}

/** UpdateClaimQueue. */
export function updateClaimQueue({ claims }: ClaimParts): Unary<UpdateClaimQueueRequest, UpdateClaimQueueResponse> {
  return async ({ queueId, queue, updateMask, expectedVersion }, by) => {
    checkId('queue_id', queueId);
    const input = ClaimQueueInput.encode(queue ?? ClaimQueueInput.create()).finish();
    const patch = patchOf(contractJson().sent('ClaimQueueInput', input), updateMask);
    const caller = { by, method: UPDATE.path };
    return { data: queueMessage(await claims.queues.update(caller, queueId, patch, expectedVersion)) };
  };
}

/** DeleteClaimQueue. */
export function deleteClaimQueue({ claims }: ClaimParts): Unary<DeleteClaimQueueRequest, DeleteClaimQueueResponse> {
  return async ({ queueId, expectedVersion }, by) => {
    checkId('queue_id', queueId);
    return { data: queueMessage(await claims.queues.remove({ by, method: DELETE.path }, queueId, expectedVersion)) };
  };
}
