/** Definitions as the contract shows them. */
import type {
  BodyDefinition,
  EdgeDefinition as WireEdge,
  Join,
  RetryPolicy,
  StepDefinition as WireStep,
  UpdateDefinition as WireUpdate,
  WorkflowDefinition,
} from '../../../gen/ductor/v1/workflow.js';
import type { Definition, EdgeDefinition, JoinDefinition, Json, RetryDefinition, StepDefinition } from '../ports.js';
import { edgeTypeOf, stepTypeOf } from './enums.js';

/** A copy that the generated code may hold. */
const structOf = (json: { readonly [key: string]: Json } | undefined): { [key: string]: unknown } | undefined =>
  json === undefined ? undefined : { ...json };

function retryOf(retry: RetryDefinition): RetryPolicy {
  return {
    maxAttempts: retry.max_attempts,
    initialInterval: retry.initial_interval,
    backoff: retry.backoff,
    maxInterval: retry.max_interval,
    jitter: retry.jitter,
    nonRetryable: [...(retry.non_retryable ?? [])],
    totalTimeout: retry.total_timeout,
  };
}

function joinOf({ mode, count, cancel_losers: cancelLosers }: JoinDefinition): Join {
  return { mode: mode ?? '', count, cancelLosers: cancelLosers ?? false };
}

function stepOf(step: StepDefinition): WireStep {
  return {
    ref: step.ref,
    type: stepTypeOf(step.type),
    title: step.title ?? '',
    args: structOf(step.args),
    input: step.input,
    retry: step.retry === undefined ? undefined : retryOf(step.retry),
    timeout: step.timeout,
    cancelTimeout: step.cancel_timeout,
    queue: step.queue,
    scheduleToStartTimeout: step.schedule_to_start_timeout,
    heartbeatTimeout: step.heartbeat_timeout,
    join: step.join === undefined ? undefined : joinOf(step.join),
    body: step.body === undefined ? undefined : bodyOf(step.body),
    priority: step.priority,
    fairnessKey: step.fairness_key,
    cost: step.cost,
    idempotencyKey: step.idempotency_key,
    concurrency: (step.concurrency ?? []).map((key) => ({ ...key })),
    rateLimit: step.rate_limit,
  };
}

function bodyOf({ steps, edges, output }: NonNullable<StepDefinition['body']>): BodyDefinition {
  return { steps: steps.map(stepOf), edges: (edges ?? []).map(edgeOf), output };
}

function edgeOf(edge: EdgeDefinition): WireEdge {
  const { source_ref: sourceRef, target_ref: targetRef, type } = edge;
  return { sourceRef, targetRef, type: edgeTypeOf(type), condition: edge.condition ?? '', case: edge.case ?? '' };
}

function updateOf(update: NonNullable<Definition['updates']>[number]): WireUpdate {
  const { name, input_schema: schema, validate = '', handled_by: handledBy, output } = update;
  return { name, inputSchema: structOf(schema), validate, handledBy, output };
}

/** A definition on the wire. */
export function definitionToWire(definition: Definition): WorkflowDefinition {
  return {
    familySlug: definition.family_slug,
    title: definition.title ?? '',
    steps: definition.steps.map(stepOf),
    edges: (definition.edges ?? []).map(edgeOf),
    output: definition.output,
    inputSchema: structOf(definition.input_schema),
    timeout: definition.timeout,
    onFailure: definition.on_failure ?? '',
    onExhausted: definition.on_exhausted ?? '',
    priority: definition.priority,
    fairnessKey: definition.fairness_key,
    retention: definition.retention,
    concurrency: (definition.concurrency ?? []).map((key) => ({ ...key })),
    rateLimit: definition.rate_limit,
    updates: (definition.updates ?? []).map(updateOf),
    queries: { ...definition.queries },
  };
}
