/** Steps whose HTTP call the engine makes. */
import { type CallbackOptions, callbackJson } from './callback-options.js';
import { DefinitionError } from './definition-error.js';
import type { StepJson } from './definition-json.js';
import { type OrRef, type StepRead, referenceCore } from './reference.js';
import { compileTemplate, type TemplateJson } from './template.js';
import { turnsOf } from './turn-options.js';

/** What is called; beside where its step stands. */
export interface HttpOptions extends Pick<
  CallbackOptions,
  'retry' | 'timeout' | 'cancelTimeout' | 'scheduleToStartTimeout' | 'priority' | 'idempotencyKey'
> {
  /** Default "GET". */
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** https, or what the engine's operator allows. */
  readonly url: OrRef<string>;
  /** They stand in the history of the run, as everything here. */
  readonly headers?: Readonly<Record<string, OrRef<string>>>;
  /** Parameters behind those of the URL. */
  readonly query?: Readonly<Record<string, OrRef<string> | OrRef<number> | OrRef<boolean>>>;
  /** Sent as JSON; a text as it stands where a header `content-type` names no JSON. */
  readonly body?: unknown;
  /** Statuses, and classes of them, that are an answer. Default ["2xx"]: any other fails the attempt as `http_404`. */
  readonly expect?: readonly (number | '2xx' | '3xx' | '4xx' | '5xx')[];
  /** Longest body of the answer, bytes, at most 1 MiB, the default. */
  readonly maxResponseBytes?: number;
  /** Redirects that are followed, at most 5. Default 0: a redirect is an answer. */
  readonly redirects?: number;
}

/** What such a step puts out. */
export interface HttpAnswer<Body = unknown> {
  readonly status: number;
  /** Names in lower case, without set-cookie. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON as such, text as text, everything else in base64; null where there is none. */
  readonly body: Body;
  readonly body_encoding: 'none' | 'json' | 'text' | 'base64';
}

/** A text, number or boolean as it stands, a reference as an expression. */
function literal(value: unknown, what: string, reads: StepRead[]): TemplateJson {
  const core = referenceCore(value);
  if (core !== undefined) {
    reads.push(...core.reads);
    return { expr: core.cel };
  }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  throw new DefinitionError(`${what} is no text, number or boolean`, 'pass one, or a reference to one');
}

function literals(values: Readonly<Record<string, unknown>>, what: string, reads: StepRead[]): TemplateJson {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, literal(value, `${what}.${name}`, reads)] as const),
  );
}

/** The step of a definition, but for its name and place. Throws DefinitionError. */
export function httpJson(
  name: string,
  { method, url, headers, query, body, expect, maxResponseBytes, redirects, ...options }: HttpOptions,
): { readonly json: Omit<StepJson, 'ref'>; readonly reads: readonly StepRead[] } {
  const reads: StepRead[] = [];
  const sent = body === undefined ? undefined : compileTemplate(body, `step ${name}: body`);
  const args = {
    ...(method !== undefined && { method }),
    url: literal(url, `step ${name}: url`, reads),
    ...(headers !== undefined && { headers: literals(headers, `step ${name}: headers`, reads) }),
    ...(query !== undefined && { query: literals(query, `step ${name}: query`, reads) }),
    ...(sent !== undefined && { body: sent.json }),
    ...(expect !== undefined && { expect: [...expect] }),
    ...(maxResponseBytes !== undefined && { max_response_bytes: maxResponseBytes }),
    ...(redirects !== undefined && { redirects }),
  };
  const turns = turnsOf(`step ${name}`, options);
  const json = { ...callbackJson(options), type: 'STEP_TYPE_HTTP' as const, args, ...turns.json };
  return { json, reads: [...reads, ...(sent?.reads ?? []), ...turns.reads] };
}
