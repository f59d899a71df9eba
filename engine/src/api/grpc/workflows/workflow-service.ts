/** WorkflowService: definitions drafted, validated, published, listed. */
import { DuctorError } from '../../../kernel/index.js';
import {
  Status,
  WorkflowServiceService as W,
  type CreateWorkflowRequest,
  type CreateWorkflowResponse,
  type GetWorkflowRequest,
  type GetWorkflowResponse,
  type ListWorkflowVersionsRequest,
  type ListWorkflowVersionsResponse,
  type ListWorkflowsRequest,
  type ListWorkflowsResponse,
  type PublishWorkflowRequest,
  type PublishWorkflowResponse,
  type UpdateWorkflowRequest,
  type UpdateWorkflowResponse,
  type ValidateWorkflowRequest,
  type ValidateWorkflowResponse,
  type Workflow,
  type WorkflowDefinition,
} from '../../../gen/ductor/v1/workflow.js';
import { definitionFromWire } from '../../../bridge/index.js';
import { deedOf } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { badCursor, cursorNumber, decodeCursor } from '../checks/cursor.js';
import { FieldChecks, MAX_IDENTIFIER_CHARS } from '../checks/field-checks.js';
import type { Definition, WorkflowCatalog, WorkflowRecord } from '../ports.js';
import { definitionToWire } from '../wire/definition.js';
import { pageOf } from '../wire/page.js';
import { timestampOf } from '../wire/timestamp.js';

/** A workflow as the contract shows it. */
export function workflowOf(record: WorkflowRecord): Workflow {
  return {
    id: record.id,
    familySlug: record.familySlug,
    title: record.title,
    status: record.currentVersion === 0 ? Status.STATUS_INACTIVE : Status.STATUS_ACTIVE,
    currentVersion: record.currentVersion,
    draft: record.draft === null ? undefined : definitionToWire(record.draft),
    recordVersion: record.recordVersion,
    createdAt: timestampOf(record.createdAtUs),
    updatedAt: timestampOf(record.updatedAtUs),
  };
}

function checkName(workflowId: string): void {
  const checks = new FieldChecks();
  checks.required('workflow_id', workflowId);
  checks.done();
}

/** The definition of a request. Throws invalid_argument when it is missing or holds what is no acceptable JSON. */
function definitionOf(definition: WorkflowDefinition | undefined): Definition {
  if (definition !== undefined) return definitionFromWire(definition);
  const checks = new FieldChecks();
  checks.note('definition', '', 'is missing', 'send the definition');
  checks.done();
  throw new DuctorError('invalid_argument', 'definition is missing');
}

/** CreateWorkflow. */
export function createWorkflow(catalog: WorkflowCatalog): Unary<CreateWorkflowRequest, CreateWorkflowResponse> {
  return async (request, principal) => {
    const deed = deedOf(principal, W.createWorkflow.path);
    return { data: workflowOf(await catalog.create(principal.tenantId, definitionFromWire(request), deed)) };
  };
}

/** GetWorkflow. */
export function getWorkflow(catalog: WorkflowCatalog): Unary<GetWorkflowRequest, GetWorkflowResponse> {
  return async ({ workflowId }, { tenantId }) => {
    checkName(workflowId);
    return { data: workflowOf(await catalog.get(tenantId, workflowId)) };
  };
}

/** ListWorkflows. A cursor names the last slug of its page. */
export function listWorkflows(catalog: WorkflowCatalog): Unary<ListWorkflowsRequest, ListWorkflowsResponse> {
  return async ({ pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    checks.done();
    const [afterSlug = ''] = cursor === '' ? [''] : decodeCursor(cursor, 1);
    if (cursor !== '' && (afterSlug === '' || afterSlug.length > MAX_IDENTIFIER_CHARS || afterSlug.includes('\0'))) {
      throw badCursor(cursor);
    }
    const records = await catalog.list(tenantId, afterSlug, limit + 1);
    const { page, end } = pageOf(records, limit, (last) => [last.familySlug]);
    return { data: page.map(workflowOf), pagination: end };
  };
}

/** UpdateWorkflow. */
export function updateWorkflow(catalog: WorkflowCatalog): Unary<UpdateWorkflowRequest, UpdateWorkflowResponse> {
  return async ({ workflowId, definition }, principal) => {
    checkName(workflowId);
    const deed = deedOf(principal, W.updateWorkflow.path);
    const updated = await catalog.updateDraft(principal.tenantId, workflowId, definitionOf(definition), deed);
    return { data: workflowOf(updated) };
  };
}

/** ValidateWorkflow: of a stored draft or of a definition in the request. */
export function validateWorkflow(catalog: WorkflowCatalog): Unary<ValidateWorkflowRequest, ValidateWorkflowResponse> {
  const subject = async (
    { workflowId, definition }: ValidateWorkflowRequest,
    tenantId: string,
  ): Promise<Definition> => {
    if (workflowId === '') return definitionOf(definition);
    checkName(workflowId);
    const { draft } = await catalog.get(tenantId, workflowId);
    if (draft === null) throw new DuctorError('not_found', `the workflow ${workflowId} has no draft`);
    return draft;
  };
  return async (request, { tenantId }) => {
    const problems = catalog.validate(await subject(request, tenantId)).map((problem) => ({ ...problem }));
    return { data: { valid: problems.length === 0, problems } };
  };
}

/** PublishWorkflow. */
export function publishWorkflow(catalog: WorkflowCatalog): Unary<PublishWorkflowRequest, PublishWorkflowResponse> {
  return async ({ workflowId, expectedVersion }, principal) => {
    checkName(workflowId);
    const deed = deedOf(principal, W.publishWorkflow.path);
    return { data: workflowOf(await catalog.publish(principal.tenantId, workflowId, expectedVersion, deed)) };
  };
}

/** ListWorkflowVersions. A cursor names the last version of its page. */
export function listWorkflowVersions(
  catalog: WorkflowCatalog,
): Unary<ListWorkflowVersionsRequest, ListWorkflowVersionsResponse> {
  return async ({ workflowId, pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    checks.required('workflow_id', workflowId);
    const { limit, cursor } = checks.page(pagination);
    checks.done();
    const before = cursor === '' ? 0 : cursorNumber(decodeCursor(cursor, 1)[0], cursor);
    const versions = await catalog.versions(tenantId, workflowId, before, limit + 1);
    const { page, end } = pageOf(versions, limit, (last) => [last.version]);
    const data = page.map(({ version, digest, definition, publishedAtUs }) => ({
      version,
      digest,
      definition: definitionToWire(definition),
      publishedAt: timestampOf(publishedAtUs),
    }));
    return { data, pagination: end };
  };
}
