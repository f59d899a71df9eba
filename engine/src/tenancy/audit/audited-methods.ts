/**
 * What each method that writes is about: one table, as the permission table is. A method with a scope of writing that
 * is not here cannot be served, so that no write goes without its row by being forgotten.
 */
import { PERMISSIONS } from '../permissions.js';

/** Kinds of objects. */
export type ObjectKind =
  | 'api_key'
  | 'assignment'
  | 'bundle'
  | 'claim_item'
  | 'claim_queue'
  | 'endpoint'
  | 'pool'
  | 'recipient'
  | 'rule'
  | 'run'
  | 'schedule'
  | 'tenant'
  | 'waiting_work'
  | 'workflow';

/** Every kind. */
export const OBJECT_KINDS: readonly ObjectKind[] = [
  'api_key',
  'assignment',
  'bundle',
  'claim_item',
  'claim_queue',
  'endpoint',
  'pool',
  'recipient',
  'rule',
  'run',
  'schedule',
  'tenant',
  'waiting_work',
  'workflow',
];

/** What a method changes. */
export interface AuditedMethod {
  readonly kind: ObjectKind;
  /** Field of the request that names the object where nothing came of the call. */
  readonly field: string;
}

const AUDITED: Readonly<Record<string, AuditedMethod>> = {
  '/ductor.v1.AssignmentService/AcceptAssignment': { kind: 'assignment', field: 'assignmentId' },
  // Each assignment that changes has a row of its own.
  '/ductor.v1.AssignmentService/BatchAssignments': { kind: 'assignment', field: 'items' },
  '/ductor.v1.AssignmentService/CompleteAssignment': { kind: 'assignment', field: 'assignmentId' },
  '/ductor.v1.AssignmentService/ConfirmAssignment': { kind: 'assignment', field: 'assignmentId' },
  '/ductor.v1.AssignmentService/DeclineAssignment': { kind: 'assignment', field: 'assignmentId' },
  '/ductor.v1.AssignmentService/ReleaseAssignment': { kind: 'assignment', field: 'assignmentId' },
  '/ductor.v1.AssignmentService/RespondAssignment': { kind: 'assignment', field: 'assignmentId' },
  '/ductor.v1.AssignmentService/SetAssignmentWorkState': { kind: 'assignment', field: 'assignmentId' },
  // Each object that changes has a row of its own.
  '/ductor.v1.BundleService/ApplyRoutingBundle': { kind: 'bundle', field: 'expectedPlan' },
  '/ductor.v1.ClaimService/ClaimItem': { kind: 'claim_item', field: 'itemId' },
  '/ductor.v1.ClaimService/CompleteClaim': { kind: 'claim_item', field: 'itemId' },
  '/ductor.v1.ClaimService/CreateClaimQueue': { kind: 'claim_queue', field: 'name' },
  '/ductor.v1.ClaimService/DeclineClaim': { kind: 'claim_item', field: 'itemId' },
  '/ductor.v1.ClaimService/DeleteClaimQueue': { kind: 'claim_queue', field: 'queueId' },
  '/ductor.v1.ClaimService/ReleaseClaim': { kind: 'claim_item', field: 'itemId' },
  '/ductor.v1.ClaimService/UpdateClaimQueue': { kind: 'claim_queue', field: 'queueId' },
  '/ductor.v1.EndpointService/DeleteEndpoint': { kind: 'endpoint', field: 'endpointId' },
  '/ductor.v1.EndpointService/RegisterEndpoint': { kind: 'endpoint', field: 'name' },
  '/ductor.v1.PoolService/CreatePool': { kind: 'pool', field: 'name' },
  '/ductor.v1.PoolService/DeletePool': { kind: 'pool', field: 'poolId' },
  '/ductor.v1.PoolService/ResetPoolCapacity': { kind: 'pool', field: 'poolId' },
  '/ductor.v1.PoolService/SetPoolEnabled': { kind: 'pool', field: 'poolId' },
  '/ductor.v1.PoolService/UpdatePool': { kind: 'pool', field: 'poolId' },
  '/ductor.v1.RecipientService/CreateRecipient': { kind: 'recipient', field: 'name' },
  '/ductor.v1.RecipientService/DeleteRecipient': { kind: 'recipient', field: 'recipientId' },
  '/ductor.v1.RecipientService/PauseRecipient': { kind: 'recipient', field: 'recipientId' },
  '/ductor.v1.RecipientService/ResumeRecipient': { kind: 'recipient', field: 'recipientId' },
  '/ductor.v1.RecipientService/UpdateRecipient': { kind: 'recipient', field: 'recipientId' },
  '/ductor.v1.RoutingService/RemoveWaitingWork': { kind: 'waiting_work', field: 'decisionId' },
  '/ductor.v1.RuleService/CreateRule': { kind: 'rule', field: 'name' },
  '/ductor.v1.RuleService/DeleteRule': { kind: 'rule', field: 'ruleId' },
  // Each rule that moves has a row of its own.
  '/ductor.v1.RuleService/ReorderRules': { kind: 'rule', field: 'ruleIds' },
  '/ductor.v1.RuleService/UpdateRule': { kind: 'rule', field: 'ruleId' },
  // Each run that is asked has a row of its own.
  '/ductor.v1.RunService/BatchRuns': { kind: 'run', field: 'confirmation' },
  '/ductor.v1.RunService/CancelRun': { kind: 'run', field: 'runId' },
  '/ductor.v1.RunService/ForkRun': { kind: 'run', field: 'runId' },
  '/ductor.v1.RunService/PauseRun': { kind: 'run', field: 'runId' },
  '/ductor.v1.RunService/ResumeRun': { kind: 'run', field: 'runId' },
  '/ductor.v1.RunService/RetryRun': { kind: 'run', field: 'runId' },
  '/ductor.v1.RunService/SignalRun': { kind: 'run', field: 'runId' },
  '/ductor.v1.RunService/SignalWithStart': { kind: 'run', field: 'name' },
  '/ductor.v1.RunService/StreamTriggers': { kind: 'run', field: 'familySlug' },
  '/ductor.v1.RunService/TerminateRun': { kind: 'run', field: 'runId' },
  '/ductor.v1.RunService/TriggerAndWait': { kind: 'run', field: 'familySlug' },
  '/ductor.v1.RunService/TriggerRun': { kind: 'run', field: 'familySlug' },
  '/ductor.v1.RunService/TriggerRuns': { kind: 'run', field: 'familySlug' },
  '/ductor.v1.RunService/UpdateRun': { kind: 'run', field: 'runId' },
  '/ductor.v1.ScheduleService/BackfillSchedule': { kind: 'schedule', field: 'scheduleId' },
  '/ductor.v1.ScheduleService/CreateSchedule': { kind: 'schedule', field: 'slug' },
  '/ductor.v1.ScheduleService/DeleteSchedule': { kind: 'schedule', field: 'scheduleId' },
  '/ductor.v1.ScheduleService/PauseSchedule': { kind: 'schedule', field: 'scheduleId' },
  '/ductor.v1.ScheduleService/ResumeSchedule': { kind: 'schedule', field: 'scheduleId' },
  '/ductor.v1.ScheduleService/TriggerSchedule': { kind: 'schedule', field: 'scheduleId' },
  '/ductor.v1.ScheduleService/UpdateSchedule': { kind: 'schedule', field: 'scheduleId' },
  '/ductor.v1.TenancyService/CreateApiKey': { kind: 'api_key', field: 'name' },
  '/ductor.v1.TenancyService/CreateTenant': { kind: 'tenant', field: 'slug' },
  '/ductor.v1.TenancyService/RevokeApiKey': { kind: 'api_key', field: 'keyId' },
  '/ductor.v1.WorkflowService/CreateWorkflow': { kind: 'workflow', field: 'familySlug' },
  '/ductor.v1.WorkflowService/PromoteWorkflow': { kind: 'workflow', field: 'workflowId' },
  '/ductor.v1.WorkflowService/PublishWorkflow': { kind: 'workflow', field: 'workflowId' },
  '/ductor.v1.WorkflowService/UpdateWorkflow': { kind: 'workflow', field: 'workflowId' },
};

/** What a method changes; undefined when it changes nothing that a caller asks for. */
export function auditedMethod(method: string): AuditedMethod | undefined {
  return Object.hasOwn(AUDITED, method) ? AUDITED[method] : undefined;
}

/** Whether the method writes, by its scope, and the table above does not say what: it must not be served. */
export function isAuditMissing(method: string): boolean {
  const scope = Object.hasOwn(PERMISSIONS, method) ? PERMISSIONS[method] : undefined;
  const isWriting = scope !== undefined && /:(?:write|delete)$/.test(scope);
  return isWriting && auditedMethod(method) === undefined;
}
