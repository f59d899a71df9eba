/** The machine: the pure function that decides what a run does next, its state, and questions about that state. */
export { admitFirstSignal, admitSignal, SIGNAL_BYTES_MAX, SIGNALS_MAX } from './admit-signal.js';
export { admitUpdate, answerQuery, hasReceived, plannedUpdate, queryReads } from './admit-update.js';
export { advance } from './advance.js';
export { emptyRun, isGivenUp } from './draft.js';
export type { ClosedStatus, Entry } from './entries.js';
export { explainRun, type ReasonKind, type RunReason } from './explain-run.js';
export { explainStep } from './explain-step.js';
export { MAX_VALUE_BYTES } from './failure.js';
export { fold, type RowStamp } from './fold.js';
export { planFork, type ForkPlan, type KeptStep } from './fork.js';
export type {
  Advance,
  AttemptOutcome,
  Birth,
  Command,
  Disposition,
  MachineContext,
  RunInput,
  RunMessage,
} from './inputs.js';
export {
  abortsOf,
  dispatchesOf,
  headerChanged,
  headerOf,
  idempotencyKeyOf,
  taskOf,
  type OpenAttempt,
} from './orders.js';
export { pathIn, refOfPath, scopeName, scopeOfPath } from './path.js';
export type {
  ClosePolicy,
  Compensation,
  ExpressionScope,
  FailedItems,
  Join,
  OpenApproval,
  Plan,
  PlanBody,
  PlanEdge,
  PlanSignal,
  PlanStep,
  PlanUpdate,
  RetryPlan,
  Template,
} from './plan.js';
export { decisionPayload } from './decision.js';
export { answerIn, boxOf, seenOf, type Signal, type SignalBox, type UpdateAnswer } from './signal-box.js';
export type { Awaited } from './state.js';
export { HTTP_QUEUE, stepAt } from './plan.js';
export { deadLetterOf, groupDeadLetters, type DeadLetter, type DeadLetterGroup } from './dead-letter.js';
export { isActive, isClosed, isContinued, resolveSource, runOutput, stateBytes, wakeAtUs } from './queries.js';
export { outcomesOf, withOutcomes } from './body-state.js';
export type {
  BodyState,
  ChainLink,
  ChildState,
  Continuing,
  FamilyLink,
  ForkLink,
  ItemOutcome,
  ErrorCause,
  RunFailure,
  RunState,
  RunStatus,
  ScopeState,
  GateState,
  StepKeys,
  StepState,
  StepStatus,
  StepTable,
  SubStep,
} from './state.js';
export { stepTable } from './step-table.js';
export { MAX_SUB_STEP_BYTES, MAX_SUB_STEPS } from './sub-steps.js';
export { formatTimestampUs } from './timestamp.js';
export { CODEC_PREFIX, jsonOfValue, TYPED_ENCODING } from './typed-json.js';
export { jsonValue, NULL_VALUE, type PayloadRef, type Value, type ValueSource } from './value.js';
