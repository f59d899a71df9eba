/**
 * The canonical form of a definition: what equal content is measured by. Fields that say nothing (absent, or an empty
 * text, list or object where it means the same as absent) are left out; defaults are not filled in, so that a later
 * version may change them for new definitions only.
 */
import { canonicalDigest, canonicalJson } from '../../kernel/index.js';
import type {
  BodyDefinition,
  Definition,
  EdgeDefinition,
  RetryDefinition,
  StepDefinition,
  UpdateDefinition,
} from './definition.js';

/** Whether a value says nothing: absent, or an empty text, list or object. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === '') return true;
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}

/** An object without the named fields where they are undefined or empty. */
function without<T extends object>(object: T, mayBeEmpty: readonly (keyof T & string)[]): T {
  const kept = { ...object };
  for (const key of mayBeEmpty) if (isEmpty(kept[key])) delete kept[key];
  for (const [key, value] of Object.entries(kept)) if (value === undefined) Reflect.deleteProperty(kept, key);
  return kept;
}

function normaliseRetry(retry: RetryDefinition): RetryDefinition {
  return without(retry, ['initial_interval', 'max_interval', 'non_retryable', 'total_timeout']);
}

function normaliseStep(step: StepDefinition): StepDefinition {
  const retry = step.retry === undefined ? undefined : normaliseRetry(step.retry);
  const join = step.join === undefined ? undefined : without(step.join, ['mode']);
  const body = step.body === undefined ? undefined : normaliseBody(step.body);
  const whole = {
    ...step,
    ...(body === undefined ? {} : { body }),
    ...(retry === undefined ? {} : { retry }),
    ...(join === undefined ? {} : { join }),
  };
  const times = ['timeout', 'cancel_timeout', 'schedule_to_start_timeout', 'heartbeat_timeout'] as const;
  const keys = ['fairness_key', 'idempotency_key', 'concurrency'] as const;
  return without(whole, ['title', 'args', 'retry', 'queue', 'join', ...times, ...keys]);
}

function normaliseBody({ steps, edges, ...rest }: BodyDefinition): BodyDefinition {
  const kept = edges === undefined ? {} : { edges: edges.map(normaliseEdge) };
  return without({ ...rest, steps: steps.map(normaliseStep), ...kept }, ['edges']);
}

function normaliseEdge(edge: EdgeDefinition): EdgeDefinition {
  return without(edge, ['condition', 'case']);
}

function normaliseUpdate(update: UpdateDefinition): UpdateDefinition {
  return without(update, ['input_schema', 'validate']);
}

/** The definition without fields that say nothing. An `input` or `output` of null, {} or [] is a value and stays. */
export function normaliseDefinition(definition: Definition): Definition {
  const { steps, edges, ...rest } = definition;
  const whole: Definition = {
    ...rest,
    steps: steps.map(normaliseStep),
    ...(edges === undefined ? {} : { edges: edges.map(normaliseEdge) }),
    ...(rest.updates === undefined ? {} : { updates: rest.updates.map(normaliseUpdate) }),
  };
  const options = ['timeout', 'on_failure', 'on_exhausted', 'fairness_key', 'retention', 'concurrency'] as const;
  return without(whole, ['title', 'edges', 'input_schema', 'updates', 'queries', 'pinned_limits', ...options]);
}

/** The canonical text (RFC 8785) of a definition. */
export function canonicalDefinition(definition: Definition): string {
  return canonicalJson(normaliseDefinition(definition));
}

/** SHA-256 of the canonical text, hex: equal for equal content, whatever order its fields stood in. */
export function definitionDigest(definition: Definition): string {
  return Buffer.from(canonicalDigest(normaliseDefinition(definition))).toString('hex');
}

/** A definition as it is stored: plain JSON with the author's order of fields. */
export function printDefinition(definition: Definition): string {
  return JSON.stringify(normaliseDefinition(definition));
}
