/**
 * Whether the contract's message can hold a definition: types, names of fields, whole characters. Types of the builder
 * see to most of it; plain JavaScript, and definitions that were put together otherwise, do not have them.
 */
import { z } from 'zod';
import type { Problem } from '../errors.js';
import { FieldChecks, hasHalfPair, kindOf, refusal, shown } from '../connection/field-checks.js';
import type { BodyJson, ConcurrencyJson, DefinitionJson, EdgeJson, JoinJson } from '../workflow/definition-json.js';
import type { RateLimitJson, RetryJson, StepJson, UpdateJson } from '../workflow/definition-json.js';
import { EDGE_TYPES, STEP_TYPES } from './definition-message.js';

type FieldsOf<T> = Readonly<Record<keyof T, z.ZodType>>;

const text = z.string();
const mayText = text.optional();
const mayNumber = z.number().optional();
const mayCount = z.uint32().optional();
const fields = z.record(z.string(), z.unknown()).optional();
const value = z.unknown().optional();
const namesOf = (types: object): z.ZodType => z.enum(Object.keys(types));

const RETRY: FieldsOf<RetryJson> = {
  max_attempts: mayCount,
  initial_interval: mayText,
  backoff: mayNumber,
  max_interval: mayText,
  jitter: mayNumber,
  non_retryable: z.array(text).optional(),
  total_timeout: mayText,
};
const JOIN: FieldsOf<JoinJson> = { mode: mayText, count: mayCount, cancel_losers: z.boolean().optional() };
const CONCURRENCY: FieldsOf<ConcurrencyJson> = { key: mayText, limit: mayCount };
const RATE_LIMIT: FieldsOf<RateLimitJson> = { key: mayText, per: mayText, limit: mayCount };
const STEP: FieldsOf<StepJson> = {
  ref: mayText,
  type: namesOf(STEP_TYPES).optional(),
  title: mayText,
  args: fields,
  input: value,
  retry: z.strictObject(RETRY).optional(),
  timeout: mayText,
  cancel_timeout: mayText,
  queue: mayText,
  schedule_to_start_timeout: mayText,
  heartbeat_timeout: mayText,
  join: z.strictObject(JOIN).optional(),
  priority: mayCount,
  fairness_key: mayText,
  cost: mayCount,
  idempotency_key: mayText,
  concurrency: z.array(z.strictObject(CONCURRENCY)).optional(),
  rate_limit: z.strictObject(RATE_LIMIT).optional(),
  body: z.lazy(() => z.strictObject(BODY)).optional(),
};
const EDGE: FieldsOf<EdgeJson> = {
  source_ref: mayText,
  target_ref: mayText,
  type: namesOf(EDGE_TYPES).optional(),
  condition: mayText,
  case: mayText,
};
const BODY: FieldsOf<BodyJson> = {
  steps: z.array(z.strictObject(STEP)).optional(),
  edges: z.array(z.strictObject(EDGE)).optional(),
  output: value,
};
const UPDATE: FieldsOf<UpdateJson> = {
  name: mayText,
  input_schema: fields,
  validate: mayText,
  handled_by: mayText,
  output: value,
};
const DEFINITION: FieldsOf<DefinitionJson> = {
  family_slug: mayText,
  title: mayText,
  steps: z.array(z.strictObject(STEP)).optional(),
  edges: z.array(z.strictObject(EDGE)).optional(),
  output: value,
  input_schema: fields,
  timeout: mayText,
  on_failure: mayText,
  on_exhausted: mayText,
  retention: mayText,
  priority: mayCount,
  fairness_key: mayText,
  concurrency: z.array(z.strictObject(CONCURRENCY)).optional(),
  rate_limit: z.strictObject(RATE_LIMIT).optional(),
  updates: z.array(z.strictObject(UPDATE)).optional(),
  queries: z.record(z.string(), text).optional(),
};
/** What is missing is the engine's to say, in the words it has for every door. */
const SCHEMA = z.strictObject(DEFINITION);

/** Throws DuctorError invalid_argument with everything in it that could not be sent as it stands. */
export function checkDefinition(definition: DefinitionJson): void {
  const { error } = SCHEMA.safeParse(definition);
  if (error !== undefined)
    throw refusal(
      'invalid_argument',
      'definition of a workflow',
      error.issues.flatMap((issue) => problemsOf(issue, definition)),
    );
  const checks = new FieldChecks(`definition of ${definition.family_slug}`);
  findHalfPairs(checks, definition);
  checks.done();
}

function problemsOf(issue: z.core.$ZodIssue, definition: unknown): readonly Problem[] {
  const at = issue.path.reduce<unknown>(member, definition);
  const path = issue.path.length === 0 ? 'definition' : pathText(issue.path);
  const problem = (of: string, found: unknown, says: string, remedy: string): Problem => {
    return { path: of, value: shown(found), problem: says, remedy };
  };
  if (issue.code === 'unrecognized_keys') {
    const remedy = 'take it out, or write it as the contract does';
    return issue.keys.map((key) => problem(pathText([...issue.path, key]), key, 'is no field here', remedy));
  }
  if (issue.code === 'invalid_type')
    return [problem(path, at, `is ${kindOf(at)}, not of type ${issue.expected}`, `make it a ${issue.expected}`)];
  if (issue.code === 'invalid_value') {
    return [problem(path, at, 'is no such type', `use one of ${issue.values.map(String).join(', ')}`)];
  }
  return [problem(path, at, issue.message, 'change it')];
}

function member(value: unknown, name: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** `steps[0].args.duration` */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

/** UTF-8 would silently put another character there. Walks without recursion: values may nest deeply. */
function findHalfPairs(checks: FieldChecks, definition: unknown): void {
  const left: { readonly at: unknown; readonly path: readonly PropertyKey[] }[] = [{ at: definition, path: [] }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { at, path } = next;
    if (typeof at === 'string' && hasHalfPair(at))
      checks.note(pathText(path), at, 'holds half of a surrogate pair', 'write whole characters');
    if (typeof at !== 'object' || at === null) continue;
    for (const [key, inner] of Object.entries(at))
      left.push({ at: inner, path: [...path, Array.isArray(at) ? Number(key) : key] });
  }
}
