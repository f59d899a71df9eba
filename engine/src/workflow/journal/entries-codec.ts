/**
 * Rows of the journal as bytes (proto/ductor/journal/v1/journal.proto).
 *
 * Measured (bench/machine-ticks.ts, Node 20, CPU time, 300 B values), an entry: encoding 1.8 us, decoding 0.8 us,
 * folding 0.35 us. Generated code is fast enough: a codec by hand could save no more than half of a tick's 8.5 us.
 */
import { Entries, type Entry as StoredEntry, type Fork } from '../../gen/ductor/journal/v1/journal.js';
import { DuctorError } from '../../kernel/index.js';
import type { ClosedStatus, Entry } from '../machine/index.js';
import { moveOut, putBack, type PayloadShelf, type PayloadSink } from './payloads.js';
import { bodyEntryOf, isStoredBody, storedBodyEntry, type BodyRunEntry } from './body-codec.js';
import { fromStoredChain, fromStoredContinuing, toStoredChain, toStoredContinuing } from './chain-codec.js';
import { isStoredWaiting, storedWaitingEntry, waitingEntryOf } from './queue-codec.js';
import { isWaitingEntry } from '../machine/waiting-entry.js';
import { gateEntryOf, isStoredGate, storedGateEntry } from './gate-codec.js';
import { slateEntryOf, storedSlateEntry } from './slate-codec.js';
import { childEntryOf, fromStoredFamily, storedChildEntry, toStoredFamily } from './family-codec.js';
import {
  fromStoredAnswer,
  fromStoredAwaited,
  fromStoredBox,
  fromStoredSignal,
  toStoredAnswer,
  toStoredAwaited,
  toStoredBox,
  toStoredSignal,
} from './signal-codec.js';
import {
  fromStoredError,
  fromStoredKeys,
  fromStoredSource,
  fromStoredValue,
  orNull,
  requiredError,
  requiredValue,
  toStoredError,
  toStoredKeys,
  toStoredSource,
  toStoredValue,
  unreadable,
} from './stored.js';

/** Format of rows this engine writes, and the newest it reads. */
export const ENTRIES_FORMAT = 1;

type Stored = NonNullable<StoredEntry['entry']>;
type StepEntry = Exclude<Extract<Entry, { readonly path: string }>, BodyRunEntry>;
type RunEntry = Exclude<Entry, { readonly path: string }>;

function storedStepEntry(entry: StepEntry): Stored {
  if (isWaitingEntry(entry)) return storedWaitingEntry(entry);
  const { path } = entry;
  switch (entry.kind) {
    case 'step_scheduled': {
      const { attempt, keys } = entry;
      const [input, startByUs] = [toStoredSource(entry.input), BigInt(entry.startByUs ?? 0)];
      const { fairnessKey, idempotencyKey } = toStoredKeys(keys);
      return { $case: 'stepScheduled', value: { path, attempt, input, startByUs, fairnessKey, idempotencyKey } };
    }
    case 'step_running': {
      const { attempt, worker, deadlineUs } = entry;
      return { $case: 'stepRunning', value: { path, attempt, worker, deadlineUs: BigInt(deadlineUs) } };
    }
    case 'step_completed':
      return { $case: 'stepCompleted', value: { path, attempt: entry.attempt, output: toStoredValue(entry.output) } };
    case 'attempt_failed': {
      const { attempt, error } = entry;
      const progress = entry.progress === null ? undefined : toStoredValue(entry.progress);
      const value = { path, attempt, error: toStoredError(error), retryAtUs: BigInt(entry.retryAtUs), progress };
      return { $case: 'attemptFailed', value };
    }
    case 'step_failed':
      return { $case: 'stepFailed', value: { path, attempt: entry.attempt, error: toStoredError(entry.error) } };
    case 'sub_step_completed': {
      const { attempt, name, output } = entry;
      return { $case: 'subStepCompleted', value: { path, attempt, name, output: toStoredValue(output) } };
    }
    case 'step_waiting':
      return { $case: 'stepWaiting', value: { path, wakeAtUs: BigInt(entry.wakeAtUs) } };
    case 'step_asked':
    case 'step_granted':
      return storedGateEntry(entry);
    case 'step_selecting':
    case 'slate_reserved':
      return storedSlateEntry(entry);
    case 'child_started':
    case 'child_told':
      return storedChildEntry(entry);
    case 'step_awaiting':
      return { $case: 'stepAwaiting', value: { path, ...toStoredAwaited(entry) } };
    case 'signal_taken': {
      const { name, id, output } = entry;
      const value = { path, name, id, output: output === null ? undefined : toStoredValue(output) };
      return { $case: 'signalTaken', value };
    }
    case 'update_taken':
      return { $case: 'updateTaken', value: { path, name: entry.name, id: entry.id } };
    case 'approval_escalated':
      return { $case: 'approvalEscalated', value: { path } };
    case 'step_skipped':
      return { $case: 'stepSkipped', value: { path } };
    case 'step_cancelling':
      return { $case: 'stepCancelling', value: { path, attempt: entry.attempt, deadlineUs: BigInt(entry.deadlineUs) } };
    case 'step_cancelled':
      return { $case: 'stepCancelled', value: { path, attempt: entry.attempt, abandoned: entry.abandoned } };
  }
}

function isBody(entry: StepEntry | BodyRunEntry): entry is BodyRunEntry {
  return BODY_KINDS.has(entry.kind);
}

const BODY_KINDS: ReadonlySet<string> = new Set<BodyRunEntry['kind']>([
  ...(['step_opened', 'step_continuing', 'step_closing', 'step_collected'] as const),
  ...(['body_completed', 'body_failed', 'body_cancelled', 'body_failing'] as const),
]);

function storedRunEntry(entry: RunEntry): Stored {
  switch (entry.kind) {
    case 'run_started': {
      const { familySlug, version, attributes } = entry;
      const deadlineUs = BigInt(entry.deadlineUs ?? 0);
      const traceparent = entry.traceparent ?? '';
      const [input, family, chain] = [
        toStoredValue(entry.input),
        toStoredFamily(entry.family),
        toStoredChain(entry.chain),
      ];
      const value = {
        ...{ familySlug, version, input, attributes, deadlineUs, traceparent, family, chain },
        runKey: entry.runKey ?? '',
        ...toStoredBox(entry.signals),
        fork: entry.fork === undefined ? undefined : { ...entry.fork },
      };
      return { $case: 'runStarted', value };
    }
    case 'signal_received':
      return { $case: 'signalReceived', value: toStoredSignal(entry) };
    case 'run_asked':
    case 'run_granted':
      return storedGateEntry(entry);
    case 'update_answered':
      return { $case: 'updateAnswered', value: toStoredAnswer(entry) };
    case 'cancel_requested': {
      const { reason, requestedBy } = entry;
      return { $case: 'cancelRequested', value: { reason, requestedBy } };
    }
    case 'run_parked':
      return { $case: 'runParked', value: { code: entry.code, message: entry.message, step: entry.step } };
    case 'run_paused':
      return { $case: 'runPaused', value: { reason: entry.reason, requestedBy: entry.requestedBy } };
    case 'run_resumed':
      return { $case: 'runResumed', value: { requestedBy: entry.requestedBy } };
    case 'run_terminated':
      return { $case: 'runTerminated', value: { reason: entry.reason, requestedBy: entry.requestedBy } };
    case 'run_ending': {
      const { status, output, error } = entry;
      const value = { state: status, output: toStoredSource(output), error: toStoredError(error) };
      return { $case: 'runEnding', value };
    }
    case 'run_continuing':
      return { $case: 'runContinuing', value: toStoredContinuing(entry) };
    case 'run_compensating':
      return { $case: 'runCompensating', value: { steps: [...entry.steps] } };
    case 'run_failing':
      return { $case: 'runFailing', value: { error: toStoredError(entry.error) } };
    case 'run_closed': {
      const { status, output, error, successorId = '' } = entry;
      const value = { state: status, output: toStoredSource(output), error: toStoredError(error), successorId };
      return { $case: 'runClosed', value };
    }
  }
}

function storedEntry(entry: Entry): Stored {
  if (!('path' in entry)) return storedRunEntry(entry);
  return isBody(entry) ? storedBodyEntry(entry) : storedStepEntry(entry);
}

/**
 * The entries of one tick as the bytes of a journal row.
 *
 * @param sink takes up values that are too large for a row; default: none is
 */
export function encodeEntries(entries: readonly Entry[], sink?: PayloadSink): Uint8Array {
  const stored = entries.map((entry) => ({ entry: storedEntry(entry) }));
  const row = { format: ENTRIES_FORMAT, entries: stored, hasPayloads: false };
  const bytes = Entries.encode(row).finish();
  if (sink === undefined || bytes.byteLength <= sink.aboveBytes || !moveOut(stored, sink, false)) return bytes;
  return Entries.encode({ ...row, hasPayloads: true }).finish();
}

const CLOSED: readonly ClosedStatus[] = ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT', 'TERMINATED', 'CONTINUED'];

/** A state in which a run can end. Throws internal for any other. */
export function closedStatus(state: string): ClosedStatus {
  return CLOSED.find((one) => one === state) ?? refused(`a run closed as ${JSON.stringify(state)}`);
}

function endingStatus(state: string): 'COMPLETED' | 'TIMED_OUT' {
  if (state === 'COMPLETED' || state === 'TIMED_OUT') return state;
  throw unreadable(`a run ending as ${JSON.stringify(state)}`);
}

function refused(what: string): never {
  throw unreadable(what);
}

type StoredBody = Parameters<typeof bodyEntryOf>[0] | Parameters<typeof gateEntryOf>[0];
type StoredStep = Exclude<Extract<Stored, { readonly value: { path: string } }>, StoredBody>;

function isStepCase(stored: Exclude<Stored, StoredBody>): stored is StoredStep {
  return 'path' in stored.value;
}

function stepEntryOf(stored: StoredStep): Entry {
  if (isStoredWaiting(stored)) return waitingEntryOf(stored);
  const { path } = stored.value;
  switch (stored.$case) {
    case 'stepScheduled': {
      const { attempt, input, startByUs } = stored.value;
      const keys = fromStoredKeys(stored.value);
      const entry = { path, attempt, input: fromStoredSource(input), startByUs: orNull(startByUs) };
      return { kind: 'step_scheduled', ...entry, ...(keys === null ? {} : { keys }) };
    }
    case 'stepRunning': {
      const { attempt, worker, deadlineUs } = stored.value;
      return { kind: 'step_running', path, attempt, worker, deadlineUs: Number(deadlineUs) };
    }
    case 'stepCompleted': {
      const { attempt, output } = stored.value;
      return { kind: 'step_completed', path, attempt, output: requiredValue(output) };
    }
    case 'attemptFailed': {
      const { attempt, retryAtUs } = stored.value;
      const error = requiredError(stored.value.error);
      const progress = stored.value.progress === undefined ? null : fromStoredValue(stored.value.progress);
      return { kind: 'attempt_failed', path, attempt, error, retryAtUs: Number(retryAtUs), progress };
    }
    case 'stepFailed':
      return { kind: 'step_failed', path, attempt: stored.value.attempt, error: requiredError(stored.value.error) };
    case 'subStepCompleted': {
      const { attempt, name, output } = stored.value;
      return { kind: 'sub_step_completed', path, attempt, name, output: requiredValue(output) };
    }
    case 'stepWaiting':
      return { kind: 'step_waiting', path, wakeAtUs: Number(stored.value.wakeAtUs) };
    case 'childStarted':
    case 'childTold':
      return childEntryOf(stored);
    case 'stepSelecting':
    case 'slateReserved':
      return slateEntryOf(stored);
    case 'stepAwaiting':
      return { kind: 'step_awaiting', path, ...fromStoredAwaited(stored.value) };
    case 'signalTaken': {
      const { name, id, output } = stored.value;
      return { kind: 'signal_taken', path, name, id, output: output === undefined ? null : fromStoredValue(output) };
    }
    case 'updateTaken':
      return { kind: 'update_taken', path, name: stored.value.name, id: stored.value.id };
    case 'approvalEscalated':
      return { kind: 'approval_escalated', path };
    case 'stepSkipped':
      return { kind: 'step_skipped', path };
    case 'stepCancelling': {
      const { attempt, deadlineUs } = stored.value;
      return { kind: 'step_cancelling', path, attempt, deadlineUs: Number(deadlineUs) };
    }
    case 'stepCancelled':
      return { kind: 'step_cancelled', ...stored.value };
  }
}

function forkOf(fork: Fork | undefined): { readonly fork?: { readonly runId: string; readonly from: string } } {
  return fork === undefined ? {} : { fork: { runId: fork.runId, from: fork.from } };
}

function runEntryOf(stored: Exclude<Stored, StoredStep | StoredBody>): Entry {
  switch (stored.$case) {
    case 'runStarted': {
      const { familySlug, version, attributes, traceparent, runKey } = stored.value;
      const input = requiredValue(stored.value.input);
      return {
        kind: 'run_started',
        familySlug,
        version,
        input,
        attributes,
        deadlineUs: orNull(stored.value.deadlineUs),
        ...(traceparent === '' ? {} : { traceparent }),
        ...(runKey === '' ? {} : { runKey }),
        ...(stored.value.family === undefined ? {} : { family: fromStoredFamily(stored.value.family) }),
        ...(stored.value.chain === undefined ? {} : { chain: fromStoredChain(stored.value.chain) }),
        ...fromStoredBox(stored.value),
        ...forkOf(stored.value.fork),
      };
    }
    case 'signalReceived':
      return { kind: 'signal_received', ...fromStoredSignal(stored.value) };
    case 'updateAnswered':
      return { kind: 'update_answered', ...fromStoredAnswer(stored.value) };
    case 'cancelRequested': {
      const { reason, requestedBy } = stored.value;
      return { kind: 'cancel_requested', reason, requestedBy };
    }
    case 'runParked':
      return { kind: 'run_parked', ...stored.value };
    case 'runPaused':
      return { kind: 'run_paused', ...stored.value };
    case 'runResumed':
      return { kind: 'run_resumed', requestedBy: stored.value.requestedBy };
    case 'runTerminated':
      return { kind: 'run_terminated', ...stored.value };
    case 'runEnding': {
      const { state, output, error } = stored.value;
      const status = endingStatus(state);
      return { kind: 'run_ending', status, output: fromStoredSource(output), error: fromStoredError(error) };
    }
    case 'runCompensating':
      return { kind: 'run_compensating', steps: stored.value.steps };
    case 'runContinuing':
      return { kind: 'run_continuing', ...fromStoredContinuing(stored.value) };
    case 'runFailing':
      return { kind: 'run_failing', error: requiredError(stored.value.error) };
    case 'runClosed': {
      const { state, successorId } = stored.value;
      const status = closedStatus(state);
      const [output, error] = [fromStoredSource(stored.value.output), fromStoredError(stored.value.error)];
      return { kind: 'run_closed', status, output, error, ...(successorId === '' ? {} : { successorId }) };
    }
  }
}

function entryOf({ entry }: StoredEntry): Entry {
  if (entry === undefined) throw unreadable('an entry of unknown kind; a newer engine wrote it');
  if (isStoredBody(entry)) return bodyEntryOf(entry);
  if (isStoredGate(entry)) return gateEntryOf(entry);
  return isStepCase(entry) ? stepEntryOf(entry) : runEntryOf(entry);
}

/** A row of which its values are not yet looked at. */
export type OpenRow = Pick<Entries, 'entries' | 'hasPayloads'>;

/** Opens a journal row. Throws internal for a format that this engine does not know. */
export function openEntries(bytes: Uint8Array): OpenRow {
  const row = decoded(bytes);
  if (row.format === ENTRIES_FORMAT) return row;
  throw unreadable(`a row of format ${row.format}; this engine reads ${ENTRIES_FORMAT}`);
}

/**
 * The entries of an open row. Throws internal for a kind of entry that this engine does not know.
 *
 * @param shelf payloads the row may refer to, noting those it has not; default: values that stand there are absent
 */
export function entriesOf({ entries, hasPayloads }: OpenRow, shelf?: PayloadShelf): readonly Entry[] {
  if (hasPayloads && shelf !== undefined) putBack(entries, shelf);
  return entries.map(entryOf);
}

/** The entries of a journal row. Throws what openEntries and entriesOf throw. */
export function decodeEntries(bytes: Uint8Array, shelf?: PayloadShelf): readonly Entry[] {
  return entriesOf(openEntries(bytes), shelf);
}

function decoded(bytes: Uint8Array): Entries {
  try {
    return Entries.decode(bytes);
  } catch (cause) {
    throw new DuctorError('internal', 'stored data is unreadable [journal]: a row is not in its format', { cause });
  }
}
