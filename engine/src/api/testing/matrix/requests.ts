/**
 * A good request for every method of the contract, as JSON. What a test tries with every method it takes from here; a
 * method of the descriptors that has none fails the tests.
 */
import type { Scope } from '../../../tenancy/index.js';
import type { JsonFields } from '../../json/check-message.js';

/** Ids that belong to one tenant, or to nobody. */
export interface Ids {
  /** A run that has ended. */
  readonly runId: string;
  /** A run that waits. */
  readonly openRunId: string;
  readonly workflowId: string;
  readonly familySlug: string;
  readonly keyId: string;
  /** Made anew where it was taken away. */
  readonly endpointId: string;
  /** A schedule, another one each time. */
  readonly scheduleId: string;
  /** Made anew each time. */
  readonly poolId: string;
  /** A member of the pool, available. */
  readonly recipientId: string;
  /** Made anew each time. */
  readonly ruleId: string;
  /** A decision in the pool, and the offer that came of it: made anew each time. */
  readonly decisionId: string;
  readonly assignmentId: string;
  /** A claim queue, another one each time, and an item of it that is offered to `claimantId`, and to nobody else. */
  readonly queueId: string;
  readonly itemId: string;
  readonly claimantId: string;
  /** The decision that queued work in a pool: made anew each time. */
  readonly waitingId: string;
}

/** Ids of nothing. */
export const NOBODY: Ids = {
  runId: '01900000-0000-7000-8000-00000000000a',
  openRunId: '01900000-0000-7000-8000-00000000000b',
  workflowId: '01900000-0000-7000-8000-00000000000c',
  familySlug: '',
  keyId: '01900000-0000-7000-8000-00000000000d',
  endpointId: '01900000-0000-7000-8000-00000000000e',
  scheduleId: '01900000-0000-7000-8000-00000000000e',
  poolId: '01900000-0000-7000-8000-00000000000f',
  recipientId: '01900000-0000-7000-8000-000000000010',
  ruleId: '01900000-0000-7000-8000-000000000011',
  decisionId: '01900000-0000-7000-8000-000000000012',
  assignmentId: '01900000-0000-7000-8000-000000000013',
  queueId: '01900000-0000-7000-8000-000000000014',
  itemId: '01900000-0000-7000-8000-000000000015',
  claimantId: '01900000-0000-7000-8000-000000000016',
  waitingId: '01900000-0000-7000-8000-000000000017',
};

/** How to ask. */
export interface GoodRequest {
  readonly request: (ids: Ids) => JsonFields;
  /**
   * Whether it names an object: then a foreign one must look like a missing one. 'inside': yes, and the answer is a
   * success that says for each object that it is not there.
   */
  readonly namesObject: boolean | 'inside';
  /** Code of its answer where it is no success: the object is not in the state for it. Default "ok". */
  readonly answer?: string;
  /** It only says what would be done: the audit trail has nothing to tell. */
  readonly isPreview?: true;
  /** Scopes that it needs besides the one of the permission table: it hands them on. */
  readonly handsOn: readonly Scope[];
}

const WAIT = { ref: 'wait', type: 'STEP_TYPE_WAIT', args: { duration: '1h' } };
let names = 0;
/** A name that nothing has yet. */
const freshName = (): string => `made-${(names += 1)}`;

const plain = (request: GoodRequest['request']): GoodRequest => ({ request, namesObject: false, handsOn: [] });
const naming = (request: GoodRequest['request']): GoodRequest => ({ request, namesObject: true, handsOn: [] });

/** By full names of methods. */
export const GOOD_REQUESTS: Readonly<Record<string, GoodRequest>> = {
  '/ductor.v1.AssignmentService/AcceptAssignment': naming(({ assignmentId }) => ({ assignment_id: assignmentId })),
  '/ductor.v1.AssignmentService/BatchAssignments': {
    request: ({ assignmentId }) => ({ items: [{ assignment_id: assignmentId, verb: 'ASSIGNMENT_VERB_ACCEPT' }] }),
    namesObject: 'inside',
    handsOn: [],
  },
  '/ductor.v1.AssignmentService/CompleteAssignment': {
    ...naming(({ assignmentId }) => ({ assignment_id: assignmentId })),
    answer: 'assignment_state_conflict',
  },
  '/ductor.v1.AssignmentService/ConfirmAssignment': naming(({ assignmentId }) => ({ assignment_id: assignmentId })),
  '/ductor.v1.AssignmentService/DeclineAssignment': naming(({ assignmentId }) => ({ assignment_id: assignmentId })),
  '/ductor.v1.AssignmentService/GetAssignment': naming(({ assignmentId }) => ({ assignment_id: assignmentId })),
  '/ductor.v1.AssignmentService/ListAssignments': plain(() => ({})),
  '/ductor.v1.AssignmentService/ReleaseAssignment': naming(({ assignmentId }) => ({ assignment_id: assignmentId })),
  // An offer is not active yet.
  '/ductor.v1.AssignmentService/RespondAssignment': {
    ...naming(({ assignmentId }) => ({ assignment_id: assignmentId })),
    answer: 'assignment_state_conflict',
  },
  '/ductor.v1.AssignmentService/SetAssignmentWorkState': {
    ...naming(({ assignmentId }) => ({ assignment_id: assignmentId, work_state: 'waiting_customer' })),
    answer: 'assignment_state_conflict',
  },
  '/ductor.v1.AuditService/ListAuditEvents': plain(() => ({})),
  '/ductor.v1.BridgeService/Beat': plain(() => ({ worker_id: '00000000-0000-4000-8000-000000000001', lag_ms: 700 })),
  '/ductor.v1.BridgeService/Work': plain(() => ({
    hello: { worker_id: '00000000-0000-4000-8000-000000000001', slots: 1 },
  })),
  '/ductor.v1.BundleService/ApplyRoutingBundle': plain(() => ({
    bundle: { rules: [{ name: freshName(), expr: 'true', action: 'drop' }] },
  })),
  '/ductor.v1.BundleService/DiffRoutingBundle': plain(() => ({ bundle: {} })),
  '/ductor.v1.BundleService/ExportRoutingBundle': plain(() => ({})),
  '/ductor.v1.ClaimService/ClaimItem': naming(({ itemId, claimantId }) => ({
    ...{ item_id: itemId, recipient_id: claimantId },
  })),
  '/ductor.v1.ClaimService/CompleteClaim': {
    ...naming(({ itemId, claimantId }) => ({ item_id: itemId, recipient_id: claimantId })),
    answer: 'claim_state_conflict',
  },
  '/ductor.v1.ClaimService/CreateClaimQueue': plain(() => ({ name: freshName() })),
  '/ductor.v1.ClaimService/DeclineClaim': naming(({ itemId, claimantId }) => ({
    ...{ item_id: itemId, recipient_id: claimantId },
  })),
  // Work waits in it.
  '/ductor.v1.ClaimService/DeleteClaimQueue': {
    ...naming(({ queueId }) => ({ queue_id: queueId })),
    answer: 'claim_queue_in_use',
  },
  '/ductor.v1.ClaimService/GetClaimItem': naming(({ itemId }) => ({ item_id: itemId })),
  '/ductor.v1.ClaimService/GetClaimQueue': naming(({ queueId }) => ({ queue_id: queueId })),
  '/ductor.v1.ClaimService/ListClaimItems': naming(({ queueId }) => ({ queue_id: queueId })),
  '/ductor.v1.ClaimService/ListClaimQueues': plain(() => ({})),
  '/ductor.v1.ClaimService/ReleaseClaim': {
    ...naming(({ itemId, claimantId }) => ({ item_id: itemId, recipient_id: claimantId })),
    answer: 'claim_state_conflict',
  },
  '/ductor.v1.ClaimService/UpdateClaimQueue': naming(({ queueId }) => ({
    ...{ queue_id: queueId, queue: { description: 'x' }, update_mask: 'description' },
  })),
  '/ductor.v1.EndpointService/DeleteEndpoint': naming(({ endpointId }) => ({ endpoint_id: endpointId })),
  '/ductor.v1.EndpointService/GetEndpoint': naming(({ endpointId }) => ({ endpoint_id: endpointId })),
  '/ductor.v1.EndpointService/ListEndpoints': plain(() => ({})),
  '/ductor.v1.EndpointService/RegisterEndpoint': plain(() => ({
    ...{ name: 'made', form: 'ENDPOINT_FORM_HTTP', url: 'https://1.1.1.1/callbacks' },
  })),
  '/ductor.v1.PoolService/CreatePool': plain(() => ({ name: freshName() })),
  '/ductor.v1.PoolService/DeletePool': naming(({ poolId }) => ({ pool_id: poolId })),
  '/ductor.v1.PoolService/GetPool': naming(({ poolId }) => ({ pool_id: poolId })),
  '/ductor.v1.PoolService/GetPoolStats': naming(({ poolId }) => ({ pool_id: poolId })),
  '/ductor.v1.PoolService/ListCapacity': naming(({ poolId }) => ({ pool_id: poolId })),
  '/ductor.v1.PoolService/ListPools': plain(() => ({})),
  '/ductor.v1.PoolService/ResetPoolCapacity': naming(({ poolId }) => ({ pool_id: poolId })),
  '/ductor.v1.PoolService/SetPoolEnabled': naming(({ poolId }) => ({ pool_id: poolId })),
  '/ductor.v1.PoolService/UpdatePool': naming(({ poolId }) => ({
    ...{ pool_id: poolId, pool: { description: 'x' }, update_mask: 'description' },
  })),
  '/ductor.v1.RecipientService/CreateRecipient': naming(({ poolId }) => ({ pool_id: poolId, name: freshName() })),
  '/ductor.v1.RecipientService/DeleteRecipient': naming(({ recipientId }) => ({ recipient_id: recipientId })),
  '/ductor.v1.RecipientService/GetRecipient': naming(({ recipientId }) => ({ recipient_id: recipientId })),
  '/ductor.v1.RecipientService/ListRecipients': naming(({ poolId }) => ({ pool_id: poolId })),
  '/ductor.v1.RecipientService/PauseRecipient': naming(({ recipientId }) => ({ recipient_id: recipientId })),
  '/ductor.v1.RecipientService/ResumeRecipient': {
    ...naming(({ recipientId }) => ({ recipient_id: recipientId })),
    answer: 'recipient_not_paused',
  },
  '/ductor.v1.RecipientService/UpdateRecipient': naming(({ recipientId }) => ({
    ...{ recipient_id: recipientId, recipient: { name: freshName() }, update_mask: 'name' },
  })),
  '/ductor.v1.RoutingService/ExplainDecision': naming(({ decisionId }) => ({ decision_id: decisionId })),
  '/ductor.v1.RoutingService/ExportDecision': naming(({ decisionId }) => ({ decision_id: decisionId })),
  '/ductor.v1.RoutingService/GetDecision': naming(({ decisionId }) => ({ decision_id: decisionId })),
  '/ductor.v1.RoutingService/GetShadowReport': naming(({ poolId }) => ({ pool_id: poolId })),
  '/ductor.v1.RoutingService/GetWaitingWork': naming(({ waitingId }) => ({ decision_id: waitingId })),
  '/ductor.v1.RoutingService/ListDecisions': plain(() => ({})),
  '/ductor.v1.RoutingService/ListShadowDecisions': naming(({ poolId }) => ({ pool_id: poolId })),
  '/ductor.v1.RoutingService/ListWaitingWork': plain(() => ({})),
  // A pool that there is not is an outcome, whoever it belongs to.
  '/ductor.v1.RoutingService/PreviewRoute': plain(() => ({ routable: { id: 'lead-1' } })),
  '/ductor.v1.RoutingService/PreviewRoutes': plain(() => ({ items: [{ routable: { id: 'lead-1' } }] })),
  // Nobody's owner is nobody's object: there is nothing to release.
  '/ductor.v1.RoutingService/ReleaseSeats': plain(() => ({ owner: 'crew-7' })),
  '/ductor.v1.RoutingService/RemoveWaitingWork': naming(({ waitingId }) => ({ decision_id: waitingId })),
  '/ductor.v1.RoutingService/ReplayDecision': naming(({ decisionId }) => ({ decision_id: decisionId })),
  '/ductor.v1.RoutingService/ReportOutcome': naming(({ assignmentId }) => ({ assignment_id: assignmentId })),
  '/ductor.v1.RoutingService/Route': plain(() => ({ routable: { id: 'lead-1' } })),
  '/ductor.v1.RoutingService/RouteBatch': plain(() => ({ items: [{ routable: { id: 'lead-1' } }] })),
  '/ductor.v1.RuleService/CreateRule': plain(() => ({ name: freshName(), expr: 'true', action: 'drop' })),
  '/ductor.v1.RuleService/DeleteRule': naming(({ ruleId }) => ({ rule_id: ruleId })),
  '/ductor.v1.RuleService/GetRule': naming(({ ruleId }) => ({ rule_id: ruleId })),
  '/ductor.v1.RuleService/ListRules': plain(() => ({})),
  // An id that is no rule of the tenant is a wrong list, whoever it belongs to.
  '/ductor.v1.RuleService/ReorderRules': {
    ...plain(() => ({ rule_ids: ['01900000-0000-7000-8000-00000000001f'] })),
    answer: 'invalid_argument',
  },
  '/ductor.v1.RuleService/UpdateRule': naming(({ ruleId }) => ({
    ...{ rule_id: ruleId, rule: { priority: 7 }, update_mask: 'priority' },
  })),
  '/ductor.v1.RunService/AwaitRuns': {
    request: ({ runId }) => ({ run_ids: [runId] }),
    namesObject: 'inside',
    handsOn: [],
  },
  '/ductor.v1.RunService/BatchRuns': { ...plain(() => ({ action: 'BATCH_ACTION_PAUSE' })), isPreview: true },
  '/ductor.v1.RunService/CancelRun': naming(({ openRunId }) => ({ run_id: openRunId })),
  '/ductor.v1.RunService/ExplainRun': naming(({ runId }) => ({ run_id: runId })),
  '/ductor.v1.RunService/ExportRun': naming(({ runId }) => ({ run_id: runId })),
  '/ductor.v1.RunService/ForkRun': naming(({ openRunId }) => ({ run_id: openRunId, from: 'wait' })),
  '/ductor.v1.RunService/GetRun': naming(({ runId }) => ({ run_id: runId })),
  '/ductor.v1.RunService/GetRunHistory': naming(({ runId }) => ({ run_id: runId })),
  '/ductor.v1.RunService/ListDeadLetters': plain(() => ({})),
  '/ductor.v1.RunService/ListRuns': plain(() => ({})),
  '/ductor.v1.RunService/PauseRun': naming(({ openRunId }) => ({ run_id: openRunId })),
  '/ductor.v1.RunService/QueryRun': {
    ...naming(({ runId }) => ({ run_id: runId, name: 'progress' })),
    answer: 'query_unknown',
  },
  '/ductor.v1.RunService/ResumeRun': naming(({ openRunId }) => ({ run_id: openRunId })),
  '/ductor.v1.RunService/RetryRun': {
    ...naming(({ openRunId }) => ({ run_id: openRunId })),
    answer: 'run_not_parked',
  },
  '/ductor.v1.RunService/SignalRun': {
    ...naming(({ openRunId }) => ({ run_id: openRunId, name: 'paid' })),
    answer: 'signal_unknown',
  },
  '/ductor.v1.RunService/SignalWithStart': {
    ...naming(({ familySlug }) => ({ start: { family_slug: familySlug, run_key: 'one' }, name: 'paid' })),
    answer: 'signal_unknown',
  },
  '/ductor.v1.RunService/StreamTriggers': {
    request: ({ familySlug }) => ({ batch_id: '1', items: [{ family_slug: familySlug }] }),
    namesObject: 'inside',
    handsOn: [],
  },
  '/ductor.v1.RunService/TerminateRun': naming(({ openRunId }) => ({ run_id: openRunId })),
  '/ductor.v1.RunService/TriggerAndWait': naming(({ familySlug }) => ({ family_slug: familySlug, wait: '10ms' })),
  '/ductor.v1.RunService/TriggerRun': naming(({ familySlug }) => ({ family_slug: familySlug })),
  '/ductor.v1.RunService/TriggerRuns': {
    request: ({ familySlug }) => ({ items: [{ family_slug: familySlug }] }),
    namesObject: 'inside',
    handsOn: [],
  },
  '/ductor.v1.RunService/UpdateRun': {
    ...naming(({ openRunId }) => ({ run_id: openRunId, name: 'change' })),
    answer: 'update_unknown',
  },
  '/ductor.v1.RunService/WatchRun': naming(({ runId }) => ({ run_id: runId })),
  '/ductor.v1.ScheduleService/BackfillSchedule': naming(({ scheduleId }) => ({
    schedule_id: scheduleId,
    from: '2026-01-01T00:00:00Z',
    to: '2026-01-01T01:00:00Z',
  })),
  '/ductor.v1.ScheduleService/CreateSchedule': naming(({ familySlug }) => ({
    ...{ slug: freshName(), family_slug: familySlug, overlap: 'OVERLAP_POLICY_SKIP' },
    ...{ catch_up: { policy: 'CATCH_UP_POLICY_NONE' }, cron: { expression: '0 0 1 1 *', time_zone: 'UTC' } },
  })),
  '/ductor.v1.ScheduleService/DeleteSchedule': naming(({ scheduleId }) => ({ schedule_id: scheduleId })),
  '/ductor.v1.ScheduleService/GetSchedule': naming(({ scheduleId }) => ({ schedule_id: scheduleId })),
  '/ductor.v1.ScheduleService/ListScheduleSlots': naming(({ scheduleId }) => ({ schedule_id: scheduleId })),
  '/ductor.v1.ScheduleService/ListSchedules': plain(() => ({})),
  '/ductor.v1.ScheduleService/PauseSchedule': naming(({ scheduleId }) => ({ schedule_id: scheduleId })),
  '/ductor.v1.ScheduleService/ResumeSchedule': naming(({ scheduleId }) => ({ schedule_id: scheduleId })),
  '/ductor.v1.ScheduleService/TriggerSchedule': naming(({ scheduleId }) => ({ schedule_id: scheduleId })),
  '/ductor.v1.ScheduleService/UpdateSchedule': naming(({ scheduleId }) => ({
    schedule_id: scheduleId,
    schedule: { title: 'once a year' },
    update_mask: 'title',
  })),
  '/ductor.v1.TenancyService/CreateApiKey': plain(() => ({ name: freshName(), scopes: ['key:write'] })),
  '/ductor.v1.TenancyService/CreateTenant': {
    request: () => ({ slug: freshName(), scopes: ['run:read'] }),
    namesObject: false,
    handsOn: ['run:read'],
  },
  '/ductor.v1.TenancyService/ListApiKeys': plain(() => ({})),
  '/ductor.v1.TenancyService/ListTenants': plain(() => ({})),
  '/ductor.v1.TenancyService/RevokeApiKey': naming(({ keyId }) => ({ key_id: keyId })),
  '/ductor.v1.WorkflowService/CreateWorkflow': plain(() => ({ family_slug: freshName() })),
  '/ductor.v1.WorkflowService/DiffWorkflow': naming(({ workflowId }) => ({ workflow_id: workflowId })),
  '/ductor.v1.WorkflowService/GetWorkflow': naming(({ workflowId }) => ({ workflow_id: workflowId })),
  '/ductor.v1.WorkflowService/ListWorkflowVersions': naming(({ workflowId }) => ({ workflow_id: workflowId })),
  '/ductor.v1.WorkflowService/ListWorkflows': plain(() => ({})),
  '/ductor.v1.WorkflowService/PromoteWorkflow': naming(({ workflowId }) => ({ workflow_id: workflowId, version: 1 })),
  '/ductor.v1.WorkflowService/PublishWorkflow': naming(({ workflowId }) => ({ workflow_id: workflowId })),
  '/ductor.v1.WorkflowService/UpdateWorkflow': naming(({ workflowId, familySlug }) => ({
    workflow_id: workflowId,
    definition: { family_slug: familySlug, steps: [WAIT] },
  })),
  '/ductor.v1.WorkflowService/ValidateWorkflow': naming(({ workflowId }) => ({ workflow_id: workflowId })),
};
