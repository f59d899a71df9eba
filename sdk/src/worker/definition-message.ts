/** A definition in JSON as the message of the contract. */
import { EdgeDefinition as EdgeMessage, EdgeType, WorkflowDefinition } from '../gen/ductor/v1/workflow.js';
import { BodyDefinition as BodyMessage, StepDefinition as StepMessage, StepType } from '../gen/ductor/v1/workflow.js';
import type { UpdateDefinition as UpdateMessage } from '../gen/ductor/v1/workflow.js';
import type { BodyJson, DefinitionJson, EdgeJson, StepJson, UpdateJson } from '../workflow/definition-json.js';

/** Numbers of the types of steps. */
export const STEP_TYPES: Readonly<Record<StepJson['type'], StepType>> = {
  STEP_TYPE_CALLBACK: StepType.STEP_TYPE_CALLBACK,
  STEP_TYPE_DATAFLOW: StepType.STEP_TYPE_DATAFLOW,
  STEP_TYPE_WAIT: StepType.STEP_TYPE_WAIT,
  STEP_TYPE_SWITCH: StepType.STEP_TYPE_SWITCH,
  STEP_TYPE_FAIL: StepType.STEP_TYPE_FAIL,
  STEP_TYPE_COMPLETE: StepType.STEP_TYPE_COMPLETE,
  STEP_TYPE_SUB_WORKFLOW: StepType.STEP_TYPE_SUB_WORKFLOW,
  STEP_TYPE_HTTP: StepType.STEP_TYPE_HTTP,
  STEP_TYPE_SELECT: StepType.STEP_TYPE_SELECT,
  STEP_TYPE_ROUTE: StepType.STEP_TYPE_ROUTE,
  STEP_TYPE_CLAIM: StepType.STEP_TYPE_CLAIM,
  STEP_TYPE_SCATTER: StepType.STEP_TYPE_SCATTER,
  STEP_TYPE_GATHER: StepType.STEP_TYPE_GATHER,
  STEP_TYPE_LOOP: StepType.STEP_TYPE_LOOP,
  STEP_TYPE_SIGNAL: StepType.STEP_TYPE_SIGNAL,
  STEP_TYPE_APPROVAL: StepType.STEP_TYPE_APPROVAL,
  STEP_TYPE_CONTINUE_AS_NEW: StepType.STEP_TYPE_CONTINUE_AS_NEW,
};
/** Numbers of the types of edges. */
export const EDGE_TYPES: Readonly<Record<EdgeJson['type'], EdgeType>> = {
  EDGE_TYPE_SUCCESS: EdgeType.EDGE_TYPE_SUCCESS,
  EDGE_TYPE_FAILURE: EdgeType.EDGE_TYPE_FAILURE,
  EDGE_TYPE_ALWAYS: EdgeType.EDGE_TYPE_ALWAYS,
  EDGE_TYPE_TIMEOUT: EdgeType.EDGE_TYPE_TIMEOUT,
  EDGE_TYPE_COMPENSATE: EdgeType.EDGE_TYPE_COMPENSATE,
};

function stepMessage(step: StepJson): StepMessage {
  return StepMessage.fromPartial({
    ref: step.ref,
    type: STEP_TYPES[step.type],
    title: step.title ?? '',
    args: step.args,
    input: step.input,
    timeout: step.timeout,
    cancelTimeout: step.cancel_timeout,
    queue: step.queue,
    scheduleToStartTimeout: step.schedule_to_start_timeout,
    heartbeatTimeout: step.heartbeat_timeout,
    join: step.join && {
      mode: step.join.mode ?? '',
      count: step.join.count,
      cancelLosers: step.join.cancel_losers ?? false,
    },
    retry: step.retry && {
      maxAttempts: step.retry.max_attempts,
      initialInterval: step.retry.initial_interval,
      backoff: step.retry.backoff,
      maxInterval: step.retry.max_interval,
      jitter: step.retry.jitter,
      nonRetryable: step.retry.non_retryable ?? [],
      totalTimeout: step.retry.total_timeout,
    },
    body: step.body && bodyMessage(step.body),
    priority: step.priority,
    fairnessKey: step.fairness_key,
    cost: step.cost,
    idempotencyKey: step.idempotency_key,
    concurrency: step.concurrency ?? [],
    rateLimit: step.rate_limit,
  });
}

function bodyMessage({ steps = [], edges = [], output }: Partial<BodyJson>): BodyMessage {
  return BodyMessage.fromPartial({ steps: steps.map(stepMessage), edges: edges.map(edgeMessage), output });
}

function edgeMessage(edge: EdgeJson): EdgeMessage {
  return EdgeMessage.fromPartial({
    sourceRef: edge.source_ref,
    targetRef: edge.target_ref,
    type: EDGE_TYPES[edge.type],
    condition: edge.condition ?? '',
    case: edge.case ?? '',
  });
}

function updateMessage(update: Partial<UpdateJson>): UpdateMessage {
  const { name = '', input_schema: inputSchema, validate = '', handled_by: handledBy = '', output } = update;
  return { name, inputSchema, validate, handledBy, output };
}

/** The message that publishes a definition. */
export function definitionMessage(definition: DefinitionJson): WorkflowDefinition {
  // What is not there is the engine's to miss: it says so in the words it has for every door.
  const given: Partial<DefinitionJson> = definition;
  const { steps = [], edges = [] } = given;
  return WorkflowDefinition.fromPartial({
    familySlug: definition.family_slug,
    title: definition.title ?? '',
    steps: steps.map(stepMessage),
    edges: edges.map(edgeMessage),
    output: definition.output,
    inputSchema: definition.input_schema,
    timeout: definition.timeout,
    onFailure: definition.on_failure ?? '',
    onExhausted: definition.on_exhausted ?? '',
    priority: definition.priority,
    fairnessKey: definition.fairness_key,
    retention: definition.retention,
    concurrency: definition.concurrency ?? [],
    rateLimit: definition.rate_limit,
    updates: (definition.updates ?? []).map(updateMessage),
    queries: definition.queries ?? {},
  });
}
