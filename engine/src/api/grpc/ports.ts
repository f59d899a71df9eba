/** What the API needs from the rooms below it. */
import type { WorkflowRegistry } from '../../workflow/index.js';

export {
  CODEC_PREFIX,
  explainRun,
  explainStep,
  historyOf,
  isClosed,
  jsonOfValue,
  jsonValue,
  loadRun,
  MAX_VALUE_BYTES,
  NULL_VALUE,
  payloadShelf,
  runOutput,
  stepAt,
  type BodyState,
  type AttemptRef,
  type Bus,
  type Coordinator,
  type Definition,
  type EdgeDefinition,
  type HistoryItem,
  type JoinDefinition,
  type JournalRow,
  type Json,
  type PayloadKey,
  type Plan,
  type PlanSource,
  type PlanStep,
  type RetryDefinition,
  type RunChange,
  type RunCursor,
  type RunFailure,
  type RunHeader,
  type RunKey,
  type RunQuery,
  type RunReader,
  type RunState,
  type RunStatus,
  type StartOutcome,
  type StepDefinition,
  type StepState,
  type StepStatus,
  type StoredRun,
  type Value,
  type WaitReason,
  type WorkflowRecord,
} from '../../workflow/index.js';

/** The part of the registry that the API talks to. */
export type WorkflowCatalog = Pick<
  WorkflowRegistry,
  | ('create' | 'get' | 'list' | 'updateDraft' | 'validate' | 'publish')
  | ('promote' | 'diff' | 'versions' | 'currentVersion')
>;
