/** PromoteWorkflow and DiffWorkflow. */
import {
  ChangeKind,
  WorkflowServiceService,
  type DefinitionChange as WireChange,
  type DiffWorkflowRequest,
  type DiffWorkflowResponse,
  type PromoteWorkflowRequest,
  type PromoteWorkflowResponse,
} from '../../../gen/ductor/v1/workflow.js';
import { deedOf } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { FieldChecks } from '../checks/field-checks.js';
import type { WorkflowCatalog } from '../ports.js';
import { workflowOf } from './workflow-service.js';

type Change = Awaited<ReturnType<WorkflowCatalog['diff']>>['changes'][number];

const KINDS: Readonly<Record<Change['kind'], ChangeKind>> = {
  added: ChangeKind.CHANGE_KIND_ADDED,
  removed: ChangeKind.CHANGE_KIND_REMOVED,
  changed: ChangeKind.CHANGE_KIND_CHANGED,
};
const MAX_VERSION = 2 ** 31 - 1;

/** A change of a definition as the contract shows it. */
export function changeOf({ kind, path, before, after }: Change): WireChange {
  return {
    ...{ kind: KINDS[kind], path },
    before: kind === 'added' ? undefined : before,
    after: kind === 'removed' ? undefined : after,
  };
}

/** PromoteWorkflow. */
export function promoteWorkflow(catalog: WorkflowCatalog): Unary<PromoteWorkflowRequest, PromoteWorkflowResponse> {
  return async ({ workflowId, version, expectedVersion }, principal) => {
    const checks = new FieldChecks();
    checks.required('workflow_id', workflowId);
    checks.count('version', version, 1, MAX_VERSION);
    checks.done();
    const deed = deedOf(principal, WorkflowServiceService.promoteWorkflow.path);
    const promoted = await catalog.promote(principal.tenantId, workflowId, version, expectedVersion, deed);
    return { data: workflowOf(promoted) };
  };
}

/** DiffWorkflow. */
export function diffWorkflow(catalog: WorkflowCatalog): Unary<DiffWorkflowRequest, DiffWorkflowResponse> {
  return async ({ workflowId, fromVersion, toVersion }, { tenantId }) => {
    const checks = new FieldChecks();
    checks.required('workflow_id', workflowId);
    checks.count('from_version', fromVersion, 0, MAX_VERSION);
    checks.count('to_version', toVersion, 0, MAX_VERSION);
    checks.done();
    const { changes, ...versions } = await catalog.diff(tenantId, workflowId, fromVersion, toVersion);
    return { data: { ...versions, changes: changes.map(changeOf) } };
  };
}
