/** A definition in JSON as the message of the contract. */
import { EdgeType, StepType, WorkflowDefinition } from '../gen/ductor/v1/workflow.js';
import type { DefinitionJson, EdgeJson, StepJson } from '../workflow/definition-json.js';

const STEP_TYPES: Readonly<Record<StepJson['type'], StepType>> = {
  STEP_TYPE_CALLBACK: StepType.STEP_TYPE_CALLBACK,
  STEP_TYPE_DATAFLOW: StepType.STEP_TYPE_DATAFLOW,
  STEP_TYPE_WAIT: StepType.STEP_TYPE_WAIT,
};
const EDGE_TYPES: Readonly<Record<EdgeJson['type'], EdgeType>> = {
  EDGE_TYPE_SUCCESS: EdgeType.EDGE_TYPE_SUCCESS,
  EDGE_TYPE_FAILURE: EdgeType.EDGE_TYPE_FAILURE,
  EDGE_TYPE_ALWAYS: EdgeType.EDGE_TYPE_ALWAYS,
};

/** The message that publishes a definition. */
export function definitionMessage(definition: DefinitionJson): WorkflowDefinition {
  return WorkflowDefinition.fromPartial({
    familySlug: definition.family_slug,
    title: definition.title ?? '',
    steps: definition.steps.map((step) => ({
      ref: step.ref,
      type: STEP_TYPES[step.type],
      title: step.title ?? '',
      args: step.args,
      input: step.input,
      timeout: step.timeout,
      cancelTimeout: step.cancel_timeout,
      queue: step.queue,
      retry: step.retry && {
        maxAttempts: step.retry.max_attempts,
        initialInterval: step.retry.initial_interval,
        backoff: step.retry.backoff,
        maxInterval: step.retry.max_interval,
        jitter: step.retry.jitter,
        nonRetryable: step.retry.non_retryable ?? [],
      },
    })),
    edges: definition.edges.map((edge) => ({
      sourceRef: edge.source_ref,
      targetRef: edge.target_ref,
      type: EDGE_TYPES[edge.type],
      condition: edge.condition ?? '',
    })),
    output: definition.output,
    inputSchema: definition.input_schema,
  });
}
