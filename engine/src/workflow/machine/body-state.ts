/**
 * What a step knows of the body it runs: counters, a cursor, and what came of the items that ended. Nothing here grows
 * with the items that are still to come, and no change costs more than one chunk of the outcomes that are kept.
 */
import { impossible } from '../../kernel/index.js';
import { MAX_VALUE_BYTES } from './failure.js';
import type { FailedItems } from './plan.js';
import type { BodyState, ItemOutcome, RunFailure } from './state.js';
import { asJson, listOfValues } from './typed-json.js';
import { jsonValue, type Value } from './value.js';

/** Failures of items that a scatter names in its output. */
const NAMED_FAILURES = 20;
const CHUNK = 64;

/** A body before its first item. */
export function newBody(fields: Pick<BodyState, 'kind' | 'source' | 'count' | 'keeps'>): BodyState {
  const none = { begun: 0, completed: 0, failed: 0, stopped: 0 };
  return { ...fields, ...none, keptBytes: 0, outcomes: [], failures: [] };
}

/** Items or iterations that have begun and not ended. */
export function openOf(body: BodyState): number {
  return body.begun - body.completed - body.failed - body.stopped;
}

function isKeptOutput(outcome: ItemOutcome): outcome is Value {
  return outcome !== null && 'data' in outcome;
}

/** The bytes an outcome counts for. */
function sizeOf(outcome: ItemOutcome): number {
  return isKeptOutput(outcome) ? (outcome.absent?.size ?? outcome.data.byteLength) + 1 : 5;
}

function padded(chunk: readonly ItemOutcome[], length: number): ItemOutcome[] {
  return [...chunk, ...Array.from({ length: Math.max(0, length - chunk.length) }, () => null)];
}

function withOutcome(body: BodyState, index: number, outcome: ItemOutcome): BodyState {
  if (!body.keeps || body.keptBytes > MAX_VALUE_BYTES) return body;
  const keptBytes = body.keptBytes + sizeOf(outcome);
  if (keptBytes > MAX_VALUE_BYTES) return { ...body, keptBytes, outcomes: [] };
  const outcomes = [...body.outcomes];
  const at = Math.floor(index / CHUNK);
  while (outcomes.length <= at) {
    if (outcomes.length > 0) outcomes.push(padded(outcomes.pop() ?? [], CHUNK));
    outcomes.push([]);
  }
  const chunk = padded(outcomes[at] ?? [], (index % CHUNK) + 1);
  chunk[index % CHUNK] = outcome;
  outcomes[at] = chunk;
  return { ...body, keptBytes, outcomes };
}

/** An item completed. */
export function itemCompleted(body: BodyState, index: number, output: Value): BodyState {
  const next = { ...body, completed: body.completed + 1 };
  if (body.kind === 'loop') return { ...next, source: { kind: 'value', value: output } };
  return withOutcome(next, index, output);
}

/** An item failed. */
export function itemFailed(body: BodyState, index: number, { code, message }: RunFailure): BodyState {
  const failures = body.failures.length < NAMED_FAILURES ? [...body.failures, { index, code, message }] : body.failures;
  return withOutcome({ ...body, failed: body.failed + 1, failures }, index, { code, message });
}

/** All outcomes that are kept, by item. */
export function outcomesOf(body: BodyState): readonly ItemOutcome[] {
  return body.outcomes.flat();
}

/** The body with these outcomes, as it stood when they were stored. */
export function withOutcomes(body: Omit<BodyState, 'outcomes'>, outcomes: readonly ItemOutcome[]): BodyState {
  const chunks: ItemOutcome[][] = [];
  for (let at = 0; at < outcomes.length; at += CHUNK) chunks.push(outcomes.slice(at, at + CHUNK));
  return { ...body, outcomes: chunks };
}

/** Bytes a body takes, as an estimate. */
export function bodyBytes(body: BodyState | null): number {
  if (body === null) return 0;
  const source = body.source.kind === 'value' ? body.source.value.data.byteLength + 160 : 0;
  const kept = body.keptBytes > MAX_VALUE_BYTES ? 0 : body.keptBytes;
  const failures = body.failures.reduce((sum, { message }) => sum + 100 + 2 * message.length, 0);
  return 200 + source + kept + failures;
}

/** What a scatter puts out: how its items ended, and which failed first. */
export function scatterOutput({ count, completed, failed, failures }: BodyState): Value {
  return jsonValue({ count, completed, failed, failures });
}

function shown(outcome: ItemOutcome, failed: FailedItems): readonly Value[] {
  if (isKeptOutput(outcome)) {
    if (outcome.absent !== undefined) impossible('body-absent', `the value ${outcome.absent.digest} was not loaded`);
    return [outcome];
  }
  if (failed === 'skip') return [];
  const error = outcome === null ? { code: 'cancelled', message: 'the item was stopped' } : outcome;
  return [jsonValue(failed === 'null' ? null : { error })];
}

/** Whether the outputs can stand in one list. */
export function fitsOneList(body: BodyState): boolean {
  return body.keptBytes + 2 <= MAX_VALUE_BYTES;
}

/**
 * The outputs of the items as a list, in the order of the items.
 *
 * @param isTyped whether they stay what they were. Journals of before the list kept types say that they do not
 */
export function gathered(body: BodyState, failed: FailedItems, isTyped: boolean): Value {
  const items = outcomesOf(body).flatMap((outcome) => shown(outcome, failed));
  return listOfValues(isTyped ? items : items.map((item) => ({ data: asJson(item), encoding: 'json' })));
}
