/** The workflow room: definitions, the machine, the journal, the coordinator, and their stores. */
export * from './coordinator/index.js';
export type { Definition, EdgeDefinition, JoinDefinition, Json } from './definition/definition.js';
export type { RetryDefinition, StepDefinition } from './definition/definition.js';
export { didYouMean } from './definition/suggest.js';
export {
  historyOf,
  isSnapshotReadable,
  loadRun,
  payloadShelf,
  type HistoryItem,
  type JournalRow,
} from './journal/index.js';
export {
  CODEC_PREFIX,
  admitFirstSignal,
  admitSignal,
  admitUpdate,
  answerIn,
  answerQuery,
  deadLetterOf,
  decisionPayload,
  explainRun,
  explainStep,
  groupDeadLetters,
  hasReceived,
  planFork,
  plannedUpdate,
  queryReads,
  stepTable,
  type ForkPlan,
  type KeptStep,
  HTTP_QUEUE,
  isClosed,
  jsonOfValue,
  jsonValue,
  MAX_VALUE_BYTES,
  NULL_VALUE,
  runOutput,
  stepAt,
  type AttemptOutcome,
  type ErrorCause,
  type BodyState,
  type DeadLetter,
  type DeadLetterGroup,
  type Plan,
  type PlanStep,
  type RunFailure,
  type RunReason as WaitReason,
  type RunState,
  type RunStatus,
  type Signal,
  type StepState,
  type StepStatus,
  type SubStep,
  type UpdateAnswer,
  type Value,
} from './machine/index.js';
export {
  createWorkflowRegistry,
  type Published,
  type WorkflowDiff,
  type WorkflowRecord,
  type WorkflowRegistry,
  type WorkflowVersionRecord,
} from './registry/index.js';
export { replayBundle, type BundleReplay, type RunBundle } from './replay/index.js';
export * from './store-postgres/inspect/index.js';
export { createJanitor, RETENTION_MS, type Janitor, type JanitorReport } from './retention/index.js';
export {
  CLAIM_WAITERS,
  endLeftFamilies,
  maintainRuns,
  openChains,
  postgresClusterStore,
  postgresInboxStore,
  postgresRunReader,
  postgresRunStore,
  QUEUE_WAITERS,
  type RunCursor,
  type RunPage,
  type RunQuery,
  type RunReader,
} from './store-postgres/index.js';
