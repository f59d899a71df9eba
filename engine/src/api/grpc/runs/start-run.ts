/** From a trigger to a committed start. */
import { createHash } from 'node:crypto';
import { checkJson, canonicalDigest, DuctorError } from '../../../kernel/index.js';
import type { TriggerRunRequest } from '../../../gen/ductor/v1/run.js';
import { plainJson } from '../../../bridge/index.js';
import type { Deed } from '../../../tenancy/index.js';
import { hasProto } from '../../json/check-message.js';
import { FieldChecks, MAX_IDENTIFIER_CHARS } from '../checks/field-checks.js';
import {
  CODEC_PREFIX,
  jsonOfValue,
  jsonValue,
  MAX_VALUE_BYTES,
  NULL_VALUE,
  type Coordinator,
  type StartOutcome,
  type Value,
  type WorkflowCatalog,
} from '../ports.js';

/** What starts need. */
export interface Starter {
  readonly coordinator: Pick<Coordinator, 'start'>;
  readonly catalog: Pick<WorkflowCatalog, 'currentVersion'>;
}

const MAX_ATTRIBUTES = 64;
const MAX_ATTRIBUTE_CHARS = 256;

/** A value with, where it is JSON, what it says. */
interface Input {
  readonly value: Value;
  /** undefined: not JSON. */
  readonly json: unknown;
}

/** JSON, with its types if it has some; undefined for another encoding. Throws invalid_argument. */
function parsed(value: Value): ReturnType<typeof jsonOfValue> {
  try {
    return jsonOfValue(value);
  } catch (error) {
    const problem = `is not JSON: ${error instanceof Error ? error.message : 'unreadable'}`;
    const details = [
      { path: 'input_payload.data', value: '', problem, remedy: 'send UTF-8 JSON, or name the encoding' },
    ];
    throw new DuctorError('invalid_argument', `input_payload.data ${problem}`, { details });
  }
}

function checkInputSize({ data }: Value): void {
  if (data.length <= MAX_VALUE_BYTES) return;
  throw new DuctorError(
    'value_too_large',
    `the input has ${data.length} bytes, at most ${MAX_VALUE_BYTES} are allowed`,
  );
}

/** The input of a request. Throws invalid_argument, value_too_large. */
function inputOf({ input, inputPayload }: TriggerRunRequest): Input {
  if (inputPayload !== undefined) {
    const checks = new FieldChecks();
    if (input !== undefined) checks.note('input_payload', '', 'stands beside input', 'send one of them');
    checks.text('input_payload.encoding', inputPayload.encoding, MAX_IDENTIFIER_CHARS);
    checks.done();
    const value = { data: inputPayload.data, encoding: inputPayload.encoding || 'json' };
    checkInputSize(value);
    const found = parsed(value);
    if (found === undefined) return { value, json: undefined };
    checks.add(checkJson(found.json, 'input'));
    if (hasProto(found.json))
      checks.note('input', '__proto__', 'an object has a field named __proto__', 'give the field another name');
    checks.done();
    return { value, json: found.types.length === 0 ? found.json : found };
  }
  if (input === undefined) return { value: NULL_VALUE, json: null };
  const json = plainJson(input, 'input');
  const value = jsonValue(json);
  checkInputSize(value);
  return { value, json };
}

/** What tells two inputs apart: SHA-256 of the canonical JSON with its types, or of encoding and bytes. */
function fingerprintOf({ value, json }: Input): Uint8Array {
  if (json !== undefined) return canonicalDigest(json);
  // What an app has coded by itself differs each time it does: its key alone decides.
  if (value.encoding.startsWith(CODEC_PREFIX)) return createHash('sha256').update(value.encoding).digest();
  return createHash('sha256').update(`${value.encoding}\0`).update(value.data).digest();
}

function checkFields(request: TriggerRunRequest): void {
  const checks = new FieldChecks();
  checks.required('family_slug', request.familySlug);
  checks.text('idempotency_key', request.idempotencyKey, MAX_IDENTIFIER_CHARS);
  const attributes = Object.entries(request.attributes);
  checks.count('attributes', attributes.length, 0, MAX_ATTRIBUTES);
  for (const [name, text] of attributes.slice(0, MAX_ATTRIBUTES)) {
    checks.required('attributes', name, MAX_ATTRIBUTE_CHARS);
    checks.text(`attributes.${name.slice(0, 64)}`, text, MAX_ATTRIBUTE_CHARS);
  }
  checks.done();
}

/**
 * Checks a trigger and starts its run, as the deed of a caller and in a trace. Resolves after the commit. The
 * coordinator checks the input by the schema.
 *
 * Throws invalid_argument, value_too_large, not_found, workflow_not_published, idempotency_conflict, node_starting,
 * database_unavailable.
 */
export async function startRun(
  starter: Starter,
  tenantId: string,
  request: TriggerRunRequest,
  by: Deed,
  traceparent: string | undefined,
): Promise<StartOutcome> {
  checkFields(request);
  const { familySlug, idempotencyKey } = request;
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
    startKey: idempotencyKey === '' ? null : { key: idempotencyKey, fingerprint: fingerprintOf(input) },
  });
}
