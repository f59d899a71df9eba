/** Every method of the contract with a request that is fine for its own tenant, for tests that try them all. */
import { BridgeServiceService, WorkRequest } from '../../../gen/ductor/v1/bridge.js';
import * as run from '../../../gen/ductor/v1/run.js';
import * as workflow from '../../../gen/ductor/v1/workflow.js';
import type { Scope } from '../../../tenancy/index.js';
import type { RawMethod } from './test-client.js';

/** Ids that belong to one tenant. */
export interface OwnIds {
  readonly runId: string;
  /** Id or slug. */
  readonly workflowId: string;
  readonly familySlug: string;
}

/** A method and how to call it. */
export interface EveryMethod {
  readonly name: string;
  readonly method: RawMethod;
  /** The bytes of a good request. */
  readonly request: (ids: OwnIds) => Buffer;
  readonly scope: Scope;
  /** Whether it names an object by id: a foreign one must look like a missing one. */
  readonly namesObject: boolean;
}

const bytes = (writer: { finish(): Uint8Array }): Buffer => Buffer.from(writer.finish());
const R = run.RunServiceService;
const W = workflow.WorkflowServiceService;

function entry(method: RawMethod, scope: Scope, namesObject: boolean, request: EveryMethod['request']): EveryMethod {
  return { name: method.path, method, scope, namesObject, request };
}

const WAIT = { ref: 'wait', type: workflow.StepType.STEP_TYPE_WAIT, args: { duration: '1h' } };
let slugs = 0;

/** All of them. */
export const EVERY_METHOD: readonly EveryMethod[] = [
  entry(W.createWorkflow, 'workflow:write', false, () =>
    bytes(
      workflow.CreateWorkflowRequest.encode(
        workflow.CreateWorkflowRequest.fromPartial({ familySlug: `made-${(slugs += 1)}` }),
      ),
    ),
  ),
  entry(W.getWorkflow, 'workflow:read', true, ({ workflowId }) =>
    bytes(workflow.GetWorkflowRequest.encode({ workflowId })),
  ),
  entry(W.listWorkflows, 'workflow:read', false, () =>
    bytes(workflow.ListWorkflowsRequest.encode({ pagination: undefined })),
  ),
  entry(W.updateWorkflow, 'workflow:write', true, ({ workflowId, familySlug }) =>
    bytes(
      workflow.UpdateWorkflowRequest.encode(
        workflow.UpdateWorkflowRequest.fromPartial({ workflowId, definition: { familySlug, steps: [WAIT] } }),
      ),
    ),
  ),
  entry(W.validateWorkflow, 'workflow:read', true, ({ workflowId }) =>
    bytes(workflow.ValidateWorkflowRequest.encode({ workflowId, definition: undefined })),
  ),
  entry(W.publishWorkflow, 'workflow:write', true, ({ workflowId }) =>
    bytes(workflow.PublishWorkflowRequest.encode({ workflowId, expectedVersion: 0 })),
  ),
  entry(W.promoteWorkflow, 'workflow:write', true, ({ workflowId }) =>
    bytes(workflow.PromoteWorkflowRequest.encode({ workflowId, version: 1, expectedVersion: 0 })),
  ),
  entry(W.diffWorkflow, 'workflow:read', true, ({ workflowId }) =>
    bytes(workflow.DiffWorkflowRequest.encode({ workflowId, fromVersion: 0, toVersion: 0 })),
  ),
  entry(W.listWorkflowVersions, 'workflow:read', true, ({ workflowId }) =>
    bytes(workflow.ListWorkflowVersionsRequest.encode({ workflowId, pagination: undefined })),
  ),
  entry(R.triggerRun, 'run:write', true, ({ familySlug }) =>
    bytes(run.TriggerRunRequest.encode(run.TriggerRunRequest.fromPartial({ familySlug }))),
  ),
  entry(R.triggerRuns, 'run:write', false, ({ familySlug }) =>
    bytes(run.TriggerRunsRequest.encode(run.TriggerRunsRequest.fromPartial({ items: [{ familySlug }] }))),
  ),
  entry(R.getRun, 'run:read', true, ({ runId }) => bytes(run.GetRunRequest.encode({ runId }))),
  entry(R.listRuns, 'run:read', false, () => bytes(run.ListRunsRequest.encode(run.ListRunsRequest.fromPartial({})))),
  entry(R.watchRun, 'run:read', true, ({ runId }) => bytes(run.WatchRunRequest.encode({ runId }))),
  entry(R.getRunHistory, 'run:read', true, ({ runId }) =>
    bytes(run.GetRunHistoryRequest.encode({ runId, pagination: undefined })),
  ),
  entry(R.cancelRun, 'run:write', true, ({ runId }) => bytes(run.CancelRunRequest.encode({ runId, reason: '' }))),
  entry(R.awaitRuns, 'run:read', false, ({ runId }) => bytes(run.AwaitRunsRequest.encode({ runIds: [runId] }))),
  entry(BridgeServiceService.work, 'bridge:work', false, () =>
    bytes(
      WorkRequest.encode(
        WorkRequest.fromPartial({ hello: { workerId: '00000000-0000-4000-8000-000000000001', slots: 1 } }),
      ),
    ),
  ),
];
