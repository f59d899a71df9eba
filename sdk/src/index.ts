/** @ductor/sdk: declare workflows in code, run their steps in this process, start and watch runs. */
export { DuctorClient, type RunHandle, type RunPage, type WaitOptions } from './client/client.js';
export type { BatchCalls, BatchPreview, BatchProgress, DeadLetterView } from './client/batches.js';
export type {
  BatchActionName,
  BatchFilter,
  BatchRunOptions,
  ListOptions,
  SignalWithStartOptions,
  TriggerOptions,
} from './client/request-options.js';
export type { CallbackAppOptions } from './callback/callback-app.js';
export { type CallbackHandler, type ExpressCallbackOptions, expressCallback } from './callback/express-callback.js';
export { type EndpointOptions, type RegisteredEndpoint, registerEndpoint } from './callback/register-endpoint.js';
export { type CallbackServer, type ServeCallbacksOptions, serveCallbacks } from './callback/serve-callbacks.js';
export type {
  AssignmentStateName,
  AssignmentClockView,
  AssignmentView,
  DecisionListOptions,
  DecisionPage,
  DecisionView,
  OutcomeReport,
  RecipientHealthView,
  ReportedWork,
  RoutedView,
  RoutingCalls,
} from './client/routing.js';
export type { WaitingListOptions, WaitingPage, WaitingView } from './client/waiting.js';
export type { PreviewOptions, RouteOptions, WorkOfMany, WorkToRoute } from './client/routing-work.js';
export type { DecisionOptions, ForkOptions, ForkPreview, RetryRunOptions } from './client/run-controls.js';
export type { RunControls, SendOptions } from './client/run-controls.js';
export type { RunQuestions, UpdateRunOptions } from './client/run-questions.js';
export type {
  FailureView,
  RunExplanationView,
  RunParentView,
  RunStateName,
  RunView,
  StepView,
} from './client/run-view.js';
export type {
  CatchUpName,
  OverlapName,
  ScheduleTimes,
  ScheduleView,
  SlotOutcomeName,
  SlotView,
} from './client/schedule-view.js';
export type {
  BackfillRange,
  NewSchedule,
  PageOptions,
  ScheduleOptions,
  SchedulePolicies,
  ScheduleUpdate,
  SlotListOptions,
} from './client/schedule-options.js';
export type {
  ApplyBundleOptions,
  BundleCalls,
  DiffBundleOptions,
  PrunedKind,
  RoutingPlan,
  RoutingTopology,
} from './client/bundles.js';
export type {
  ClaimCalls,
  ClaimItemPage,
  ClaimListOptions,
  ClaimQueueCalls,
  ClaimQueueFields,
  ClaimQueuePage,
  ClaimReason,
} from './client/claims.js';
export type {
  ClaimItemView,
  ClaimOfferName,
  ClaimOfferView,
  ClaimQueueView,
  ClaimStateName,
} from './client/claim-view.js';
export type { ClaimHandler, ClaimWorkOptions } from './client/claim-work.js';
export type {
  EnabledOptions,
  PoolCalls,
  PoolFields,
  PoolListOptions,
  PoolPage,
  PoolStatsView,
  PoolView,
  VersionGuard,
} from './client/pools.js';
export type {
  RecipientCalls,
  RecipientFields,
  RecipientListOptions,
  RecipientPage,
  RecipientView,
} from './client/recipients.js';
export type { RuleCalls, RuleFields, RulePage, RuleView } from './client/rules.js';
export type { Change } from './client/update-mask.js';
export type { ScheduleCalls, SchedulePage, SlotPage } from './client/schedules.js';
export type { ConnectionOptions, EngineTls } from './connection/connection.js';
export type { OpenTelemetryApi, TelemetrySpan } from './connection/open-telemetry.js';
export { RecipientState } from './gen/ductor/v1/recipient.js';
export { Status } from './gen/ductor/v1/workflow.js';
export { DuctorError, NonRetryableError, type Problem, RetryAfterError, RunFailedError } from './errors.js';
export { PoolManager, type PoolModelSelectionOptions } from './pools/pool-manager.js';
export type {
  AccountSeatASTNode,
  ModelASTNode,
  PoolChoice,
  PoolItem,
  PoolNode,
  PoolStrategy,
  PoolStrategyName,
} from './pools/pool-node.js';
export {
  type AppStrategy,
  defineStrategy,
  type RoutedWork,
  type StrategyCandidate,
  type StrategyChoice,
  type StrategyOptions,
  type StrategyPick,
} from './strategy/define-strategy.js';
export type { PayloadCodec } from './values/payload-codec.js';
export { type LogLevel, type LogSink, consoleSink } from './worker/log.js';
export { type Worker, type WorkerOptions, createWorker } from './worker/worker.js';
export type {
  BodyOutput,
  FailedItems,
  ForEachHandle,
  ForEachOptions,
  ItemCounts,
  ItemOutput,
  ItemRef,
  Iteration,
  LoopBody,
  LoopOptions,
} from './workflow/bodies.js';
export type {
  Aggregated,
  AggregateOptions,
  Aggregation,
  Aggregations,
  Assertion,
  DedupeOptions,
  ItemsOf,
  ListRef,
  Made,
  Merged,
  MergeMode,
  MergeOptions,
  MergePart,
  OfItem,
  SortKey,
  SortKeys,
} from './workflow/dataflow-types.js';
export type { DefinitionOptions } from './workflow/definition-options.js';
export type { WorkflowBuilder } from './workflow/workflow-builder.js';
export type {
  AnyStep,
  CompleteOptions,
  FailOptions,
  Placement,
  SlotOptions,
  StepFailureValue,
  StepHandle,
  StepOptions,
  SwitchHandle,
  SwitchOptions,
  WaitOptions as WaitStepOptions,
} from './workflow/step-options.js';
export type { CallbackOptions, RetryOptions } from './workflow/callback-options.js';
export type { ConcurrencyKey, Key, RateLimit, RunTurnOptions, TurnOptions } from './workflow/turn-options.js';
export type { ChildOptions, ChildWorkflow } from './workflow/child.js';
export type { ContinueOptions } from './workflow/continuing.js';
export type { CompensateOptions, CompensationOptions } from './workflow/compensation.js';
export { type AnyWorkflow, type Workflow, type WorkflowOptions, defineWorkflow } from './workflow/define-workflow.js';
export { DefinitionError } from './workflow/definition-error.js';
export type { DefinitionJson } from './workflow/definition-json.js';
export type { Jsonify, Restored } from './workflow/jsonify.js';
export { type Ref, type Reference, type WholeRef, cel } from './workflow/reference.js';
export type { HttpAnswer, HttpOptions } from './workflow/http-step.js';
export type {
  SelectEachOptions,
  SelectEachOutput,
  SelectedRecipient,
  SelectHandle,
  SelectOptions,
  SelectOutput,
  SelectRankedOptions,
  SelectRankedOutput,
  SelectRoutable,
  SelectSlateOptions,
  SelectSlateOutput,
} from './workflow/select-step.js';
export type { ClaimErrorCode, ClaimOutput, ClaimStepOptions } from './workflow/claim-step.js';
export type { RoutedRecipient, RouteErrorCode, RouteStepOptions, RouteOutput } from './workflow/route-step.js';
export type { ApprovalOptions, ApprovalOutput, SignalOptions } from './workflow/signal-steps.js';
export type { HandledUpdateOptions, UpdateOptions } from './workflow/updates.js';
export type { StepBody, StepContext, StepLogger } from './workflow/step-context.js';
export type { Arrives, Resolved, Template } from './workflow/template.js';
