/** STEP_TYPE_HTTP: an HTTP call that the engine makes. A task like a callback's, on a queue that the engine serves. */
import type { JsonValue } from '../../../expressions/index.js';
import { HTTP_HANDLER, HTTP_QUEUE } from '../../machine/plan.js';
import { childPath } from '../checking/problems.js';
import { field, isJsonList, isJsonObject, jsonKind, type JsonObject } from '../checking/shape.js';
import { createBuilder, type Builder } from '../computing/builder.js';
import { jsonComputed, type Computed } from '../computing/computed.js';
import type { Fields, LiteralField } from '../computing/field-spec.js';
import { compileKey, templateOf } from '../computing/template.js';
import type { Json } from '../definition.js';
import { durationOr, durationOrNull, retryPlan, STEP_DEFAULTS } from '../retry.js';
import type { StepType } from './step-type.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const KNOWN_BEFORE = { why: 'what a run may do must be seen in its definition' } as const;
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,128}$/i;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,4096}$/;
/** The engine's own. */
const OWN_HEADERS = new Set(['host', 'content-length', 'accept-encoding', 'connection', 'transfer-encoding', 'te']);
const MAX_HEADERS = 50;
const MAX_URL_CHARS = 2_048;
/** Answers whose body is longer do not fit a value once they are written as JSON. */
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 5;

function whole(example: string, min: number, max: number): LiteralField {
  const isFine = (value: Json): boolean =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
  return {
    kind: 'literal',
    isRequired: false,
    example,
    computable: KNOWN_BEFORE,
    problem: (value) => (isFine(value) ? undefined : `is not a whole number from ${min} to ${max}`),
  };
}

const METHOD: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"POST"',
  choices: METHODS,
  computable: KNOWN_BEFORE,
  problem: (value) => (METHODS.some((method) => method === value) ? undefined : `is none of ${METHODS.join(', ')}`),
};

function urlProblem(value: Json): string | undefined {
  if (typeof value !== 'string') return `is ${jsonKind(value)}, not a URL`;
  if (value.length > MAX_URL_CHARS) return `is longer than ${MAX_URL_CHARS} characters`;
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) return 'is not a URL of https or http';
  const { username, password } = new URL(value);
  return username === '' && password === '' ? undefined : 'holds a user name or a password';
}

const URL_FIELD: LiteralField = {
  kind: 'literal',
  isRequired: true,
  example: '"https://api.example.com/leads"',
  computable: true,
  problem: urlProblem,
};

const HEADER: LiteralField = {
  kind: 'literal',
  isRequired: true,
  example: '"text/plain"',
  computable: true,
  problem: (value) =>
    typeof value === 'string' && HEADER_VALUE.test(value)
      ? undefined
      : 'is not the text of a header, at most 4096 characters in one line',
};

const PARAMETER: LiteralField = {
  kind: 'literal',
  isRequired: true,
  example: '"open"',
  computable: true,
  problem: (value) =>
    ['string', 'number', 'boolean'].includes(typeof value) ? undefined : `is ${jsonKind(value)}, not a text or number`,
};

const STATUS: LiteralField = {
  kind: 'literal',
  isRequired: true,
  example: '"2xx" or 404',
  computable: KNOWN_BEFORE,
  problem: (value) => {
    const isNumber = typeof value === 'number' && Number.isInteger(value) && value >= 200 && value <= 599;
    const isClass = typeof value === 'string' && /^[2-5]xx$/.test(value);
    return isNumber || isClass ? undefined : 'is neither a status from 200 to 599 nor a class such as "2xx"';
  },
};

const FIELDS: Fields = {
  method: METHOD,
  url: URL_FIELD,
  headers: { kind: 'record', isRequired: false, example: '{"accept": "application/json"}', value: HEADER },
  query: { kind: 'record', isRequired: false, example: '{"state": "open"}', value: PARAMETER },
  body: { kind: 'template', isRequired: false, example: '{"id": "input.id"}', variables: 'step' },
  expect: { kind: 'list', isRequired: false, example: '["2xx", 404]', item: STATUS },
  max_response_bytes: whole('65536', 1, MAX_BODY_BYTES),
  redirects: whole('2', 0, MAX_REDIRECTS),
};

/** Each value of a record of literals, computed where it is. */
function compileRecord(value: Json | undefined, path: string, build: Builder, spec: LiteralField): Computed {
  const entries = isJsonObject(value) ? Object.entries(value) : [];
  const parts = entries.map(([key, item]) => [key, build.literal(item, childPath(path, key), spec)] as const);
  return jsonComputed(
    parts.flatMap(([, part]) => part.references),
    (evaluation) => Object.fromEntries(parts.map(([key, part]) => [key, part.json(evaluation)] as const)),
  );
}

/** What the engine is to send and what it may take for an answer, as the input of the task. */
function compileRequest(args: JsonObject, build: Builder): Computed {
  const body = field(args, 'body');
  const parts: readonly (readonly [string, Computed])[] = [
    ['url', build.literal(field(args, 'url') ?? null, 'args.url', URL_FIELD)],
    ['headers', compileRecord(field(args, 'headers'), 'args.headers', build, HEADER)],
    ['query', compileRecord(field(args, 'query'), 'args.query', build, PARAMETER)],
    ...(body === undefined ? [] : [['body', build.template(body, 'args.body', 'step')] as const]),
  ];
  const fixed: Readonly<Record<string, JsonValue>> = {
    method: field(args, 'method') ?? 'GET',
    expect: field(args, 'expect') ?? ['2xx'],
    max_response_bytes: field(args, 'max_response_bytes') ?? MAX_BODY_BYTES,
    redirects: field(args, 'redirects') ?? 0,
  };
  return jsonComputed(
    parts.flatMap(([, part]) => part.references),
    (evaluation) => ({
      ...fixed,
      ...Object.fromEntries(parts.map(([key, part]) => [key, part.json(evaluation)] as const)),
    }),
  );
}

/** args: method, url, headers, query, body, expect, max_response_bytes, redirects. Its output is the answer. */
export const HTTP: StepType = {
  name: 'STEP_TYPE_HTTP',
  options: new Set([
    ...(['retry', 'timeout', 'cancel_timeout', 'schedule_to_start_timeout'] as const),
    ...(['priority', 'idempotency_key'] as const),
  ]),
  canTimeOut: () => true,
  canCompensate: true,
  canFail: () => true,
  fieldsOf: () => FIELDS,
  check({ problems }, path, args) {
    const headers = field(args, 'headers');
    const names = isJsonObject(headers) ? Object.keys(headers) : [];
    const at = childPath(path, 'headers');
    if (names.length > MAX_HEADERS) {
      problems.add(at, undefined, `has ${names.length} headers, more than ${MAX_HEADERS}`, 'Send fewer.');
    }
    for (const name of names) {
      const isOwn = OWN_HEADERS.has(name.toLowerCase());
      if (HEADER_NAME.test(name) && !isOwn) continue;
      const problem = isOwn ? 'is a header that the engine sets itself' : 'is not the name of a header';
      problems.add(childPath(at, name), name, problem, 'Remove it.');
    }
    const method = field(args, 'method') ?? 'GET';
    const hasNone = method === 'GET' || method === 'HEAD';
    if (hasNone && field(args, 'body') !== undefined) {
      problems.add(
        childPath(path, 'body'),
        undefined,
        'cannot go with GET or HEAD',
        'Use POST, or put it in the query.',
      );
    }
    const expect = field(args, 'expect');
    if (isJsonList(expect) && expect.length > MAX_HEADERS) {
      problems.add(
        childPath(path, 'expect'),
        undefined,
        `has more than ${MAX_HEADERS} entries`,
        'Name classes: "4xx".',
      );
    }
  },
  compile: (step, cel) => ({
    type: 'CALLBACK',
    handler: HTTP_HANDLER,
    queue: HTTP_QUEUE,
    input: templateOf(compileRequest(step.args ?? {}, createBuilder(cel))),
    retry: retryPlan(step.retry),
    timeoutMs: durationOr(step.timeout, STEP_DEFAULTS.timeoutMs),
    cancelTimeoutMs: durationOr(step.cancel_timeout, STEP_DEFAULTS.cancelTimeoutMs),
    scheduleToStartTimeoutMs: durationOrNull(step.schedule_to_start_timeout),
    heartbeatTimeoutMs: null,
    priority: step.priority ?? null,
    cost: 1,
    fairnessKey: null,
    idempotencyKey: compileKey(cel, step.idempotency_key, 'idempotency_key'),
    semaphores: null,
    takes: null,
  }),
};
