/** From a trigger to a committed start. */
import { createHash } from 'node:crypto';
import { canonicalDigest, parseDurationMs } from '../../../kernel/index.js';
import { RunKeyConflict, type TriggerRunRequest } from '../../../gen/ductor/v1/run.js';
import type { Deed } from '../../../tenancy/index.js';
import { FieldChecks, MAX_IDENTIFIER_CHARS } from '../checks/field-checks.js';
import { checkRetention } from '../checks/check-retention.js';
import { requestValue, type RequestValue } from '../checks/request-value.js';
import { CODEC_PREFIX, OWN_KEYS, runKeyAsStartKey, type Coordinator, type Signal } from '../ports.js';
import type { StartKey, StartOutcome, WorkflowCatalog } from '../ports.js';

/** What a start belongs to: who did it, and the trace of the call. */
export interface Cause {
  readonly deed: Deed;
  readonly traceparent: string | undefined;
  /** What the run has received when it begins. */
  readonly signal?: Signal;
}

/** What starts need. */
export interface Starter {
  readonly coordinator: Pick<Coordinator, 'start'>;
  readonly catalog: Pick<WorkflowCatalog, 'currentVersion'>;
}

const INPUT_FIELDS = { json: 'input', bytes: 'input_payload' };
const MAX_ATTRIBUTES = 64;
const MAX_ATTRIBUTE_CHARS = 256;

/** The input of a request. Throws invalid_argument, value_too_large. */
export function inputOf({ input, inputPayload }: Pick<TriggerRunRequest, 'input' | 'inputPayload'>): RequestValue {
  return requestValue(input, inputPayload, INPUT_FIELDS);
}

/** What tells two inputs apart: SHA-256 of the canonical JSON with its types, or of encoding and bytes. */
function fingerprintOf({ value, json }: RequestValue): Uint8Array {
  if (json !== undefined) return canonicalDigest(json);
  // What an app has coded by itself differs each time it does: its key alone decides.
  if (value.encoding.startsWith(CODEC_PREFIX)) return createHash('sha256').update(value.encoding).digest();
  return createHash('sha256').update(`${value.encoding}\0`).update(value.data).digest();
}

/** Checks the attributes of runs, by default at most 64. */
export function checkAttributes(
  checks: FieldChecks,
  attributes: Readonly<Record<string, string>>,
  maxAttributes = MAX_ATTRIBUTES,
): void {
  const entries = Object.entries(attributes);
  checks.count('attributes', entries.length, 0, maxAttributes);
  for (const [name, text] of entries.slice(0, maxAttributes)) {
    checks.required('attributes', name, MAX_ATTRIBUTE_CHARS);
    checks.text(`attributes.${name.slice(0, 64)}`, text, MAX_ATTRIBUTE_CHARS);
  }
}

function startKeyOf(key: string, input: RequestValue): StartKey | null {
  return key === '' ? null : { key, fingerprint: fingerprintOf(input) };
}

function checkFields(request: TriggerRunRequest): void {
  const checks = new FieldChecks();
  checks.required('family_slug', request.familySlug);
  checks.text('idempotency_key', request.idempotencyKey, MAX_IDENTIFIER_CHARS);
  checkAttributes(checks, request.attributes);
  if (request.idempotencyKey.startsWith(OWN_KEYS)) {
    checks.note('idempotency_key', request.idempotencyKey, `begins with ${OWN_KEYS}`, 'begin it with something else');
  }
  checks.text('run_key', request.runKey, MAX_IDENTIFIER_CHARS);
  if (request.runKey !== '' && request.idempotencyKey !== '') {
    checks.note('run_key', request.runKey, 'stands beside idempotency_key', 'send one of them');
  }
  checkRetention(checks, request.retention);
  if (request.onOpen === RunKeyConflict.UNRECOGNIZED) {
    checks.note('on_open', '', 'is no such conflict', 'send RUN_KEY_CONFLICT_ANSWER or RUN_KEY_CONFLICT_REFUSE');
  }
  checks.done();
}

/**
 * Checks a trigger and starts its run, as the deed of a caller and in a trace. Resolves after the commit. The
 * coordinator checks the input by the schema.
 *
 * Throws invalid_argument, value_too_large, not_found, workflow_not_published, idempotency_conflict, run_key_taken,
 * node_starting, database_unavailable.
 */
export async function startRun(
  starter: Starter,
  tenantId: string,
  request: TriggerRunRequest,
  { deed: by, traceparent, signal }: Cause,
): Promise<StartOutcome> {
  checkFields(request);
  const { familySlug, idempotencyKey, runKey } = request;
  const input = inputOf(request);
  const version = request.version || (await starter.catalog.currentVersion(tenantId, familySlug));
  return starter.coordinator.start({
    tenantId,
    familySlug,
    version,
    input: input.value,
    attributes: { ...request.attributes },
    by,
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(signal === undefined ? {} : { signal }),
    ...(request.retention === '' ? {} : { retentionMs: parseDurationMs(request.retention) ?? 0 }),
    ...(runKey === ''
      ? {}
      : { runKey, onOpen: request.onOpen === RunKeyConflict.RUN_KEY_CONFLICT_REFUSE ? 'refuse' : 'answer' }),
    startKey: runKey === '' ? startKeyOf(idempotencyKey, input) : runKeyAsStartKey(runKey),
  });
}
