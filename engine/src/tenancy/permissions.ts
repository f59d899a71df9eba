/**
 * What a key needs for a call: one table, method to scope. Default deny: a method that is not here cannot be served
 * (the server refuses to start), so that a new method is never open by being forgotten.
 */

/** What a key may be allowed to do. */
export type Scope =
  | 'assignment:read'
  | 'assignment:write'
  | 'audit:read'
  | 'bridge:work'
  | 'bundle:read'
  | 'bundle:write'
  | 'claim:read'
  | 'claim:write'
  | 'claim_queue:delete'
  | 'claim_queue:write'
  | 'key:read'
  | 'key:write'
  | 'pool:delete'
  | 'pool:read'
  | 'pool:write'
  | 'recipient:delete'
  | 'recipient:read'
  | 'recipient:write'
  | 'routing:read'
  | 'routing:report'
  | 'routing:route'
  | 'rule:delete'
  | 'rule:read'
  | 'rule:write'
  | 'run:read'
  | 'run:write'
  | 'schedule:read'
  | 'schedule:write'
  | 'tenant:admin'
  | 'workflow:read'
  | 'workflow:write';

/** What makes a key an operator's: the one scope that reaches beyond its own tenant, to make and list tenants. */
export const OPERATOR_SCOPE = 'tenant:admin';

/** Scopes within a tenant. */
export const TENANT_SCOPES: readonly Scope[] = [
  'assignment:read',
  'assignment:write',
  'audit:read',
  'bridge:work',
  'bundle:read',
  'bundle:write',
  'claim:read',
  'claim:write',
  'claim_queue:delete',
  'claim_queue:write',
  'key:read',
  'key:write',
  'pool:delete',
  'pool:read',
  'pool:write',
  'recipient:delete',
  'recipient:read',
  'recipient:write',
  'routing:read',
  'routing:report',
  'routing:route',
  'rule:delete',
  'rule:read',
  'rule:write',
  'run:read',
  'run:write',
  'schedule:read',
  'schedule:write',
  'workflow:read',
  'workflow:write',
];

/** Every scope. */
export const SCOPES: readonly Scope[] = [...TENANT_SCOPES, OPERATOR_SCOPE];

/** Served without a key: they say only whether the node lives and what its contract is, which is public anyway. */
export const PUBLIC = 'public';

/** Full gRPC method name to what it needs. */
export const PERMISSIONS: Readonly<Record<string, Scope | typeof PUBLIC>> = {
  '/ductor.v1.AssignmentService/AcceptAssignment': 'assignment:write',
  '/ductor.v1.AssignmentService/BatchAssignments': 'assignment:write',
  '/ductor.v1.AssignmentService/CompleteAssignment': 'assignment:write',
  '/ductor.v1.AssignmentService/ConfirmAssignment': 'assignment:write',
  '/ductor.v1.AssignmentService/DeclineAssignment': 'assignment:write',
  '/ductor.v1.AssignmentService/GetAssignment': 'assignment:read',
  '/ductor.v1.AssignmentService/ListAssignments': 'assignment:read',
  '/ductor.v1.AssignmentService/ReleaseAssignment': 'assignment:write',
  '/ductor.v1.AssignmentService/RespondAssignment': 'assignment:write',
  '/ductor.v1.AssignmentService/SetAssignmentWorkState': 'assignment:write',
  '/ductor.v1.AuditService/ListAuditEvents': 'audit:read',
  '/ductor.v1.BridgeService/Beat': 'bridge:work',
  '/ductor.v1.BridgeService/Work': 'bridge:work',
  '/ductor.v1.BundleService/ApplyRoutingBundle': 'bundle:write',
  '/ductor.v1.BundleService/DiffRoutingBundle': 'bundle:read',
  '/ductor.v1.BundleService/ExportRoutingBundle': 'bundle:read',
  '/ductor.v1.ClaimService/ClaimItem': 'claim:write',
  '/ductor.v1.ClaimService/CompleteClaim': 'claim:write',
  '/ductor.v1.ClaimService/CreateClaimQueue': 'claim_queue:write',
  '/ductor.v1.ClaimService/DeclineClaim': 'claim:write',
  '/ductor.v1.ClaimService/DeleteClaimQueue': 'claim_queue:delete',
  '/ductor.v1.ClaimService/GetClaimItem': 'claim:read',
  '/ductor.v1.ClaimService/GetClaimQueue': 'claim:read',
  '/ductor.v1.ClaimService/ListClaimItems': 'claim:read',
  '/ductor.v1.ClaimService/ListClaimQueues': 'claim:read',
  '/ductor.v1.ClaimService/ReleaseClaim': 'claim:write',
  '/ductor.v1.ClaimService/UpdateClaimQueue': 'claim_queue:write',
  '/ductor.v1.EndpointService/DeleteEndpoint': 'bridge:work',
  '/ductor.v1.EndpointService/GetEndpoint': 'workflow:read',
  '/ductor.v1.EndpointService/ListEndpoints': 'workflow:read',
  '/ductor.v1.EndpointService/RegisterEndpoint': 'bridge:work',
  '/ductor.v1.PoolService/CreatePool': 'pool:write',
  '/ductor.v1.PoolService/DeletePool': 'pool:delete',
  '/ductor.v1.PoolService/GetPool': 'pool:read',
  '/ductor.v1.PoolService/GetPoolStats': 'pool:read',
  '/ductor.v1.PoolService/ListCapacity': 'pool:read',
  '/ductor.v1.PoolService/ListPools': 'pool:read',
  '/ductor.v1.PoolService/ResetPoolCapacity': 'pool:write',
  '/ductor.v1.PoolService/SetPoolEnabled': 'pool:write',
  '/ductor.v1.PoolService/UpdatePool': 'pool:write',
  '/ductor.v1.RecipientService/CreateRecipient': 'recipient:write',
  '/ductor.v1.RecipientService/DeleteRecipient': 'recipient:delete',
  '/ductor.v1.RecipientService/GetRecipient': 'recipient:read',
  '/ductor.v1.RecipientService/ListRecipients': 'recipient:read',
  '/ductor.v1.RecipientService/PauseRecipient': 'recipient:write',
  '/ductor.v1.RecipientService/ResumeRecipient': 'recipient:write',
  '/ductor.v1.RecipientService/UpdateRecipient': 'recipient:write',
  '/ductor.v1.RoutingService/ExplainDecision': 'routing:read',
  '/ductor.v1.RoutingService/ExportDecision': 'routing:read',
  '/ductor.v1.RoutingService/GetDecision': 'routing:read',
  '/ductor.v1.RoutingService/GetShadowReport': 'routing:read',
  '/ductor.v1.RoutingService/GetWaitingWork': 'routing:read',
  '/ductor.v1.RoutingService/ListDecisions': 'routing:read',
  '/ductor.v1.RoutingService/ListShadowDecisions': 'routing:read',
  '/ductor.v1.RoutingService/ListWaitingWork': 'routing:read',
  '/ductor.v1.RoutingService/PreviewRoute': 'routing:read',
  '/ductor.v1.RoutingService/PreviewRoutes': 'routing:read',
  '/ductor.v1.RoutingService/ReleaseSeats': 'routing:route',
  '/ductor.v1.RoutingService/RemoveWaitingWork': 'pool:write',
  '/ductor.v1.RoutingService/ReplayDecision': 'routing:read',
  // No rows of the audit trail: a decision is its own trail, and a report changes nothing that anybody has set.
  '/ductor.v1.RoutingService/ReportOutcome': 'routing:report',
  '/ductor.v1.RoutingService/Route': 'routing:route',
  '/ductor.v1.RoutingService/RouteBatch': 'routing:route',
  '/ductor.v1.RuleService/CreateRule': 'rule:write',
  '/ductor.v1.RuleService/DeleteRule': 'rule:delete',
  '/ductor.v1.RuleService/GetRule': 'rule:read',
  '/ductor.v1.RuleService/ListRules': 'rule:read',
  '/ductor.v1.RuleService/ReorderRules': 'rule:write',
  '/ductor.v1.RuleService/UpdateRule': 'rule:write',
  '/ductor.v1.RunService/AwaitRuns': 'run:read',
  '/ductor.v1.RunService/BatchRuns': 'run:write',
  '/ductor.v1.RunService/CancelRun': 'run:write',
  '/ductor.v1.RunService/ExplainRun': 'run:read',
  '/ductor.v1.RunService/ExportRun': 'run:read',
  '/ductor.v1.RunService/ForkRun': 'run:write',
  '/ductor.v1.RunService/GetRun': 'run:read',
  '/ductor.v1.RunService/GetRunHistory': 'run:read',
  '/ductor.v1.RunService/ListDeadLetters': 'run:read',
  '/ductor.v1.RunService/ListRuns': 'run:read',
  '/ductor.v1.RunService/PauseRun': 'run:write',
  '/ductor.v1.RunService/QueryRun': 'run:read',
  '/ductor.v1.RunService/ResumeRun': 'run:write',
  '/ductor.v1.RunService/RetryRun': 'run:write',
  '/ductor.v1.RunService/SignalRun': 'run:write',
  '/ductor.v1.RunService/SignalWithStart': 'run:write',
  '/ductor.v1.RunService/StreamTriggers': 'run:write',
  '/ductor.v1.RunService/TerminateRun': 'run:write',
  '/ductor.v1.RunService/TriggerAndWait': 'run:write',
  '/ductor.v1.RunService/TriggerRun': 'run:write',
  '/ductor.v1.RunService/TriggerRuns': 'run:write',
  '/ductor.v1.RunService/UpdateRun': 'run:write',
  '/ductor.v1.RunService/WatchRun': 'run:read',
  '/ductor.v1.ScheduleService/BackfillSchedule': 'schedule:write',
  '/ductor.v1.ScheduleService/CreateSchedule': 'schedule:write',
  '/ductor.v1.ScheduleService/DeleteSchedule': 'schedule:write',
  '/ductor.v1.ScheduleService/GetSchedule': 'schedule:read',
  '/ductor.v1.ScheduleService/ListScheduleSlots': 'schedule:read',
  '/ductor.v1.ScheduleService/ListSchedules': 'schedule:read',
  '/ductor.v1.ScheduleService/PauseSchedule': 'schedule:write',
  '/ductor.v1.ScheduleService/ResumeSchedule': 'schedule:write',
  '/ductor.v1.ScheduleService/TriggerSchedule': 'schedule:write',
  '/ductor.v1.ScheduleService/UpdateSchedule': 'schedule:write',
  '/ductor.v1.TenancyService/CreateApiKey': 'key:write',
  '/ductor.v1.TenancyService/CreateTenant': OPERATOR_SCOPE,
  '/ductor.v1.TenancyService/ListApiKeys': 'key:read',
  '/ductor.v1.TenancyService/ListTenants': OPERATOR_SCOPE,
  '/ductor.v1.TenancyService/RevokeApiKey': 'key:write',
  '/ductor.v1.WorkflowService/CreateWorkflow': 'workflow:write',
  '/ductor.v1.WorkflowService/DiffWorkflow': 'workflow:read',
  '/ductor.v1.WorkflowService/GetWorkflow': 'workflow:read',
  '/ductor.v1.WorkflowService/ListWorkflowVersions': 'workflow:read',
  '/ductor.v1.WorkflowService/ListWorkflows': 'workflow:read',
  '/ductor.v1.WorkflowService/PromoteWorkflow': 'workflow:write',
  '/ductor.v1.WorkflowService/PublishWorkflow': 'workflow:write',
  '/ductor.v1.WorkflowService/UpdateWorkflow': 'workflow:write',
  '/ductor.v1.WorkflowService/ValidateWorkflow': 'workflow:read',
  '/grpc.health.v1.Health/Check': PUBLIC,
  '/grpc.health.v1.Health/List': PUBLIC,
  '/grpc.health.v1.Health/Watch': PUBLIC,
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo': PUBLIC,
  '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo': PUBLIC,
};

/** Whether the text is a scope. */
export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}

/** What a method needs; undefined when the table does not know it, which means: nobody may. */
export function permissionOf(method: string): Scope | typeof PUBLIC | undefined {
  return Object.hasOwn(PERMISSIONS, method) ? PERMISSIONS[method] : undefined;
}
