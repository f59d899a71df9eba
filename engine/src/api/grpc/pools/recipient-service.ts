/** RecipientService: who gets the work of pools. */
import {
  CreateRecipientRequest,
  RecipientInput,
  RecipientServiceService,
  RecipientState,
  type CreateRecipientResponse,
  type DeleteRecipientRequest,
  type DeleteRecipientResponse,
  type GetRecipientRequest,
  type GetRecipientResponse,
  type ListRecipientsRequest,
  type ListRecipientsResponse,
  type PauseRecipientRequest,
  type PauseRecipientResponse,
  type ResumeRecipientRequest,
  type ResumeRecipientResponse,
  type UpdateRecipientRequest,
  type UpdateRecipientResponse,
} from '../../../gen/ductor/v1/recipient.js';
import { Status } from '../../../gen/ductor/v1/workflow.js';
import type { Recipients } from '../../../pools/index.js';
import { contractJson } from '../../json/contract-json.js';
import type { Unary } from '../call.js';
import { badCursor, decodeCursor } from '../checks/cursor.js';
import { checkId, FieldChecks } from '../checks/field-checks.js';
import { pageOf } from '../wire/page.js';
import { recipientMessage } from '../wire/pool.js';
import { patchOf } from './patch.js';

/** What the handlers need. */
export interface RecipientServiceParts {
  readonly recipients: Recipients;
}

const MAX_REASON_CHARS = 1024;
const STATUSES: readonly Status[] = [
  Status.STATUS_UNSPECIFIED,
  Status.STATUS_ACTIVE,
  Status.STATUS_INACTIVE,
  Status.STATUS_ARCHIVED,
];
const { createRecipient: CREATE, updateRecipient: UPDATE, deleteRecipient: DELETE } = RecipientServiceService;
const { pauseRecipient: PAUSE, resumeRecipient: RESUME } = RecipientServiceService;

/** CreateRecipient. */
export function createRecipient({
  recipients,
}: RecipientServiceParts): Unary<CreateRecipientRequest, CreateRecipientResponse> {
  return async (request, by) => {
    checkId('pool_id', request.poolId);
    const bytes = CreateRecipientRequest.encode(request).finish();
    const { pool_id: _pool, ...sent } = contractJson().sent('CreateRecipientRequest', bytes);
    const created = await recipients.create({ by, method: CREATE.path }, request.poolId, sent);
    return { data: recipientMessage(created) };
  };
}

/** GetRecipient. */
export function getRecipient({ recipients }: RecipientServiceParts): Unary<GetRecipientRequest, GetRecipientResponse> {
  return async ({ recipientId }, { tenantId }) => {
    checkId('recipient_id', recipientId);
    return { data: recipientMessage(await recipients.get(tenantId, recipientId)) };
  };
}

/** ListRecipients. A cursor names the last recipient of its page. */
export function listRecipients({
  recipients,
}: RecipientServiceParts): Unary<ListRecipientsRequest, ListRecipientsResponse> {
  return async ({ poolId, status, state, pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    checks.uuid('pool_id', poolId);
    const { limit, cursor } = checks.page(pagination);
    if (!STATUSES.includes(status)) {
      const remedy = `use one of ${STATUSES.slice(1)
        .map((each) => Status[each])
        .join(', ')}`;
      checks.note('status', Status[status] ?? String(status), 'is no status of a recipient', remedy);
    }
    if (RecipientState[state] === undefined || state === RecipientState.UNRECOGNIZED) {
      checks.note('state', String(state), 'is no state of a recipient', 'use one of RECIPIENT_STATE_…');
    }
    checks.done();
    const [afterId = null] = cursor === '' ? [] : decodeCursor(cursor, 1);
    if (afterId !== null && !new FieldChecks().uuid('pagination.cursor', afterId)) throw badCursor(cursor);
    const found = await recipients.list(tenantId, {
      ...{ poolId, afterId, limit: limit + 1 },
      status: status === Status.STATUS_UNSPECIFIED ? null : Status[status],
      state: state === RecipientState.RECIPIENT_STATE_UNSPECIFIED ? null : RecipientState[state],
    });
    const { page, end } = pageOf(found, limit, (last) => [last.recipient.recipientId]);
    return { data: page.map(recipientMessage), pagination: end };
  };
}

/** UpdateRecipient. */
export function updateRecipient({
  recipients,
}: RecipientServiceParts): Unary<UpdateRecipientRequest, UpdateRecipientResponse> {
  return async ({ recipientId, recipient, updateMask, expectedVersion }, by) => {
    checkId('recipient_id', recipientId);
    const bytes = RecipientInput.encode(recipient ?? RecipientInput.create()).finish();
    const patch = patchOf(contractJson().sent('RecipientInput', bytes), updateMask);
    const caller = { by, method: UPDATE.path };
    return { data: recipientMessage(await recipients.update(caller, recipientId, patch, expectedVersion)) };
  };
}

/** DeleteRecipient. */
export function deleteRecipient({
  recipients,
}: RecipientServiceParts): Unary<DeleteRecipientRequest, DeleteRecipientResponse> {
  return async ({ recipientId, expectedVersion }, by) => {
    checkId('recipient_id', recipientId);
    const removed = await recipients.remove({ by, method: DELETE.path }, recipientId, expectedVersion);
    return { data: recipientMessage(removed) };
  };
}

/** PauseRecipient. */
export function pauseRecipient({
  recipients,
}: RecipientServiceParts): Unary<PauseRecipientRequest, PauseRecipientResponse> {
  return async ({ recipientId, reason }, by) => {
    const checks = new FieldChecks();
    checks.uuid('recipient_id', recipientId);
    checks.text('reason', reason, MAX_REASON_CHARS);
    checks.done();
    const moved = await recipients.move({ by, method: PAUSE.path }, recipientId, 'pause', reason);
    return { data: recipientMessage(moved) };
  };
}

/** ResumeRecipient. */
export function resumeRecipient({
  recipients,
}: RecipientServiceParts): Unary<ResumeRecipientRequest, ResumeRecipientResponse> {
  return async ({ recipientId }, by) => {
    checkId('recipient_id', recipientId);
    return { data: recipientMessage(await recipients.move({ by, method: RESUME.path }, recipientId, 'resume', '')) };
  };
}
