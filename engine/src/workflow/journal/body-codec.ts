/** Bodies as stored: the entries that concern them, and what a snapshot holds of them. */
import type { Entry as StoredEntry, SnapshotBody } from '../../gen/ductor/journal/v1/journal.js';
import {
  NULL_VALUE,
  outcomesOf,
  pathIn,
  scopeName,
  withOutcomes,
  type BodyState,
  type Entry,
  type FailedItems,
  type ItemOutcome,
  type ValueSource,
} from '../machine/index.js';
import {
  fromStoredError,
  fromStoredSource,
  fromStoredValue,
  requiredError,
  toStoredError,
  toStoredSource,
  toStoredValue,
  unreadable,
} from './stored.js';

type Stored = NonNullable<StoredEntry['entry']>;

/** Entries that concern bodies. */
export type BodyRunEntry = Extract<
  Entry,
  { readonly kind: `body_${string}` | 'step_opened' | 'step_continuing' | 'step_closing' | 'step_collected' }
>;

type StoredBody = Extract<
  Stored,
  { readonly $case: `body${string}` | 'stepOpened' | 'stepContinuing' | 'stepClosing' | 'stepCollected' }
>;

/** The name of the step of the body whose output is the body's; undefined when it is something else. */
function refOfOutput(path: string, index: number, output: ValueSource | null): string | undefined {
  const prefix = `${scopeName(path, index)}/`;
  return output?.kind === 'stepOutput' && output.path.startsWith(prefix) ? output.path.slice(prefix.length) : undefined;
}

/** An entry as stored. */
export function storedBodyEntry(entry: BodyRunEntry): Stored {
  switch (entry.kind) {
    case 'step_opened': {
      const { path, body, source, count, keeps } = entry;
      return { $case: 'stepOpened', value: { path, body, source: toStoredSource(source), count, keeps } };
    }
    case 'step_continuing':
      return { $case: 'stepContinuing', value: { path: entry.path, atUs: BigInt(entry.atUs) } };
    case 'step_closing':
      return { $case: 'stepClosing', value: { path: entry.path, error: toStoredError(entry.error) } };
    case 'step_collected': {
      const { path, of, failed, isTyped } = entry;
      return { $case: 'stepCollected', value: { path, of, failed, isTyped } };
    }
    case 'body_completed': {
      const { path, index } = entry;
      const outputOf = refOfOutput(path, index, entry.output);
      const output = outputOf === undefined ? toStoredSource(entry.output) : undefined;
      return { $case: 'bodyCompleted', value: { path, index, output, outputOf: outputOf ?? '' } };
    }
    case 'body_failed':
      return { $case: 'bodyFailed', value: { ...placeOf(entry), error: toStoredError(entry.error) } };
    case 'body_cancelled':
      return { $case: 'bodyCancelled', value: placeOf(entry) };
    case 'body_failing':
      return { $case: 'bodyFailing', value: { ...placeOf(entry), error: toStoredError(entry.error) } };
  }
}

function placeOf({ path, index }: { readonly path: string; readonly index: number }): { path: string; index: number } {
  return { path, index };
}

function kindOf(body: string): BodyState['kind'] {
  if (body === 'scatter' || body === 'loop' || body === 'select' || body === 'slate') return body;
  throw unreadable(`a body of kind ${JSON.stringify(body)}`);
}

function failedOf(failed: string): FailedItems {
  if (failed === 'null' || failed === 'skip' || failed === 'error') return failed;
  throw unreadable(`failed items as ${JSON.stringify(failed)}`);
}

/** Whether a stored entry concerns a body. */
export function isStoredBody(stored: Stored): stored is StoredBody {
  return stored.$case.startsWith('body') || OF_STEPS.includes(stored.$case);
}

const OF_STEPS: readonly Stored['$case'][] = ['stepOpened', 'stepContinuing', 'stepClosing', 'stepCollected'];

/** A stored entry. Throws internal for what this engine does not know. */
export function bodyEntryOf(stored: StoredBody): Entry {
  switch (stored.$case) {
    case 'stepOpened': {
      const { path, body, count, keeps } = stored.value;
      const source = fromStoredSource(stored.value.source) ?? NULL_SOURCE;
      return { kind: 'step_opened', path, body: kindOf(body), source, count, keeps };
    }
    case 'stepContinuing':
      return { kind: 'step_continuing', path: stored.value.path, atUs: Number(stored.value.atUs) };
    case 'stepClosing':
      return { kind: 'step_closing', path: stored.value.path, error: fromStoredError(stored.value.error) };
    case 'stepCollected': {
      const { path, of, failed, isTyped } = stored.value;
      return { kind: 'step_collected', path, of, failed: failedOf(failed), isTyped };
    }
    case 'bodyCompleted': {
      const { path, index, outputOf } = stored.value;
      const isStep = outputOf !== '';
      const output = isStep
        ? { kind: 'stepOutput' as const, path: pathIn(scopeName(path, index), outputOf) }
        : fromStoredSource(stored.value.output);
      return { kind: 'body_completed', path, index, output };
    }
    case 'bodyFailed':
      return { kind: 'body_failed', ...placeOf(stored.value), error: requiredError(stored.value.error) };
    case 'bodyCancelled':
      return { kind: 'body_cancelled', ...placeOf(stored.value) };
    case 'bodyFailing':
      return { kind: 'body_failing', ...placeOf(stored.value), error: requiredError(stored.value.error) };
  }
}

const NULL_SOURCE: ValueSource = { kind: 'value', value: NULL_VALUE };

/** Codes of outcomes, one byte each. */
const [NOTHING, NULL, OUTPUT, FAILURE] = [0, 1, 2, 3];
const NULL_BYTES = Buffer.from(NULL_VALUE.data);

/** A body as a snapshot holds it. */
export function storedBody(body: BodyState): SnapshotBody {
  const { kind, count, begun, completed, failed, stopped, keeps } = body;
  const outcomes: number[] = [];
  const outputs: SnapshotBody['outputs'] = [];
  const errors: SnapshotBody['errors'] = [];
  for (const [index, outcome] of outcomesOf(body).entries()) {
    if (outcome === null) outcomes.push(NOTHING);
    else if ('code' in outcome) {
      outcomes.push(FAILURE);
      errors.push({ index, ...outcome });
    } else if (outcome.encoding === 'json' && NULL_BYTES.equals(outcome.data)) {
      outcomes.push(NULL);
    } else {
      outcomes.push(OUTPUT);
      outputs.push(toStoredValue(outcome));
    }
  }
  return {
    ...{ kind, source: toStoredSource(body.source), count, begun, completed, failed, stopped, keeps },
    ...{ keptBytes: BigInt(body.keptBytes), outcomes: Buffer.from(outcomes), outputs, errors },
    failures: body.failures.map((failure) => ({ ...failure })),
  };
}

/** A body out of a snapshot. Throws internal for what this engine does not know. */
export function bodyOf(stored: SnapshotBody): BodyState {
  const [outputs, errors] = [stored.outputs.values(), stored.errors.values()];
  const outcomes = Array.from(stored.outcomes, (code): ItemOutcome => {
    if (code === NULL) return NULL_VALUE;
    const output = code === OUTPUT ? outputs.next().value : undefined;
    if (output !== undefined) return fromStoredValue(output);
    const error = code === FAILURE ? errors.next().value : undefined;
    return error === undefined ? null : { code: error.code, message: error.message };
  });
  const { count, begun, completed, failed, stopped, keeps } = stored;
  const source = fromStoredSource(stored.source) ?? NULL_SOURCE;
  const failures = stored.failures.map(({ index, code, message }) => ({ index, code, message }));
  const keptBytes = Number(stored.keptBytes);
  const counts = { count, begun, completed, failed, stopped };
  return withOutcomes({ kind: kindOf(stored.kind), source, ...counts, keeps, keptBytes, failures }, outcomes);
}
