/** A definition as it travels, as the JSON that users write: what is absent there is absent here. */
import {
  EdgeType,
  StepType,
  type EdgeDefinition as WireEdge,
  type BodyDefinition,
  type ConcurrencyKey,
  type Join,
  type RetryPolicy,
  type StepDefinition as WireStep,
  type UpdateDefinition as WireUpdate,
  type WorkflowDefinition,
} from '../../gen/ductor/v1/workflow.js';
import type { Definition, EdgeDefinition, StepDefinition } from '../ports.js';
import { plainJson, plainObject } from './plain-json.js';

/** The entries that are there. */
function present<T extends object>(entries: { readonly [K in keyof T]: T[K] | undefined }): Partial<T> {
  const kept: Partial<T> = {};
  for (const key in entries) if (entries[key] !== undefined) kept[key] = entries[key];
  return kept;
}

const nonEmpty = (text: string): string | undefined => (text === '' ? undefined : text);

type Retry = NonNullable<StepDefinition['retry']>;

function retryOf(retry: RetryPolicy): Retry {
  return present<Retry>({
    max_attempts: retry.maxAttempts,
    initial_interval: retry.initialInterval,
    backoff: retry.backoff,
    max_interval: retry.maxInterval,
    jitter: retry.jitter,
    non_retryable: retry.nonRetryable.length === 0 ? undefined : retry.nonRetryable,
    total_timeout: retry.totalTimeout,
  });
}

type JoinJson = NonNullable<StepDefinition['join']>;

function joinOf(join: Join): JoinJson {
  return present<JoinJson>({
    mode: nonEmpty(join.mode),
    count: join.count,
    cancel_losers: join.cancelLosers ? true : undefined,
  });
}

function concurrencyOf(keys: readonly ConcurrencyKey[]): StepDefinition['concurrency'] | undefined {
  return keys.length === 0 ? undefined : keys.map(({ key, limit }) => ({ key, limit }));
}

function stepOf(step: WireStep, path: string): StepDefinition {
  return {
    ref: step.ref,
    // A number this engine does not know stays a number in the text: the validator names it with its path.
    type: StepType[step.type] ?? String(step.type),
    ...present<StepDefinition>({
      ref: undefined,
      type: undefined,
      title: nonEmpty(step.title),
      args: step.args === undefined ? undefined : plainObject(step.args, `${path}.args`),
      input: step.input === undefined ? undefined : plainJson(step.input, `${path}.input`),
      retry: step.retry === undefined ? undefined : retryOf(step.retry),
      timeout: step.timeout,
      cancel_timeout: step.cancelTimeout,
      queue: step.queue,
      schedule_to_start_timeout: step.scheduleToStartTimeout,
      heartbeat_timeout: step.heartbeatTimeout,
      join: step.join === undefined ? undefined : joinOf(step.join),
      body: step.body === undefined ? undefined : bodyOf(step.body, `${path}.body`),
      priority: step.priority,
      fairness_key: step.fairnessKey,
      cost: step.cost,
      idempotency_key: step.idempotencyKey,
      concurrency: concurrencyOf(step.concurrency),
      rate_limit: step.rateLimit,
    }),
  };
}

function bodyOf(body: BodyDefinition, path: string): NonNullable<StepDefinition['body']> {
  return {
    steps: body.steps.map((step, index) => stepOf(step, `${path}.steps[${index}]`)),
    ...present<Omit<NonNullable<StepDefinition['body']>, 'steps'>>({
      edges: body.edges.length === 0 ? undefined : body.edges.map(edgeOf),
      output: body.output === undefined ? undefined : plainJson(body.output, `${path}.output`),
    }),
  };
}

function edgeOf(edge: WireEdge): EdgeDefinition {
  return {
    source_ref: edge.sourceRef,
    target_ref: edge.targetRef,
    type: EdgeType[edge.type] ?? String(edge.type),
    ...(edge.condition === '' ? {} : { condition: edge.condition }),
    ...(edge.case === '' ? {} : { case: edge.case }),
  };
}

type UpdateJson = NonNullable<Definition['updates']>[number];

function updateOf(update: WireUpdate, path: string): UpdateJson {
  const { name, inputSchema, validate, handledBy, output } = update;
  return {
    ...{ name, handled_by: handledBy },
    ...present<Omit<UpdateJson, 'name' | 'handled_by'>>({
      input_schema: inputSchema === undefined ? undefined : plainObject(inputSchema, `${path}.input_schema`),
      validate: nonEmpty(validate),
      output: output === undefined ? undefined : plainJson(output, `${path}.output`),
    }),
  };
}

function updatesOf({ updates }: WorkflowDefinition): readonly UpdateJson[] | undefined {
  return updates.length === 0 ? undefined : updates.map((update, index) => updateOf(update, `updates[${index}]`));
}

/** Throws invalid_argument when JSON inside it is deeper, longer or stranger than JSON from outside may be. */
export function definitionFromWire(wire: WorkflowDefinition): Definition {
  return {
    family_slug: wire.familySlug,
    steps: wire.steps.map((step, index) => stepOf(step, `steps[${index}]`)),
    ...present<Omit<Definition, 'family_slug' | 'steps'>>({
      title: nonEmpty(wire.title),
      edges: wire.edges.length === 0 ? undefined : wire.edges.map(edgeOf),
      output: wire.output === undefined ? undefined : plainJson(wire.output, 'output'),
      input_schema: wire.inputSchema === undefined ? undefined : plainObject(wire.inputSchema, 'input_schema'),
      timeout: wire.timeout,
      on_failure: nonEmpty(wire.onFailure),
      on_exhausted: nonEmpty(wire.onExhausted),
      priority: wire.priority,
      fairness_key: wire.fairnessKey,
      retention: wire.retention,
      concurrency: concurrencyOf(wire.concurrency),
      rate_limit: wire.rateLimit,
      updates: updatesOf(wire),
      queries: Object.keys(wire.queries).length === 0 ? undefined : wire.queries,
    }),
  };
}
