/** Snapshots: the state of a run after a row, so that loading stays bounded. */
import { Snapshot, type SnapshotStep } from '../../gen/ductor/journal/v1/journal.js';
import { stepTable, type RunState, type RunStatus, type StepState, type StepStatus } from '../machine/index.js';
import { moveOut, putBack, type PayloadShelf, type PayloadSink } from './payloads.js';
import { bodyOf, storedBody } from './body-codec.js';
import { fromStoredChain, fromStoredContinuing, toStoredChain, toStoredContinuing } from './chain-codec.js';
import { fromSnapshotClaim, toSnapshotClaim } from './claim-codec.js';
import { fromSnapshotQueued, toSnapshotQueued } from './queue-codec.js';
import { fromSnapshotGate, toSnapshotGate } from './gate-codec.js';
import { fromSnapshotChild, fromStoredFamily, toSnapshotChild, toStoredFamily } from './family-codec.js';
import {
  fromStoredAwaited,
  fromStoredBox,
  fromStoredSignal,
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
} from './stored.js';

/**
 * Format of snapshots this engine writes. Older ones knew no pauses and run timeouts (1), no bodies (2), no
 * sub-steps and no chains (3), no updates (4, with or
 * without gates).
 */
export const SNAPSHOT_FORMAT = 5;

const READABLE_FORMATS: readonly number[] = [1, 2, 3, 4, SNAPSHOT_FORMAT];

const MIN_JOURNAL_BYTES = 64 * 1024;

const RUN_STATUSES: Readonly<Record<RunStatus, true>> = {
  PENDING: true,
  RUNNING: true,
  WAITING: true,
  PAUSED: true,
  PARKED: true,
  CANCELLING: true,
  COMPLETED: true,
  FAILED: true,
  CANCELLED: true,
  TIMED_OUT: true,
  TERMINATED: true,
  CONTINUED: true,
};

const STEP_STATUSES: Readonly<Record<StepStatus, true>> = {
  SCHEDULED: true,
  RUNNING: true,
  BACKOFF: true,
  WAITING: true,
  CANCELLING: true,
  OPEN: true,
  CLOSING: true,
  COMPLETED: true,
  FAILED: true,
  SKIPPED: true,
  CANCELLED: true,
};

/**
 * Whether a snapshot is due with this tick: loading then reads at most about twice what the state holds.
 *
 * @param journalBytesSince bytes of the rows since the last snapshot, this tick's included
 * @param snapshotBytes size of the last snapshot, or stateBytes(state) as its estimate
 */
export function snapshotDue(journalBytesSince: number, snapshotBytes: number): boolean {
  return journalBytesSince > Math.max(MIN_JOURNAL_BYTES, snapshotBytes);
}

function storedStep(step: StepState): SnapshotStep {
  return {
    path: step.path,
    state: step.status,
    attempt: step.attempt,
    input: toStoredSource(step.input),
    output: step.output === null ? undefined : toStoredValue(step.output),
    error: toStoredError(step.error),
    dueAtUs: BigInt(step.dueAtUs ?? 0),
    worker: step.worker ?? '',
    lostInARow: step.lostInARow,
    sinceUs: BigInt(step.sinceUs),
    firstAtUs: BigInt(step.firstAtUs),
    progress: step.progress === null ? undefined : toStoredValue(step.progress),
    subSteps: step.subSteps.map(({ name, output }) => ({ name, output: toStoredValue(output) })),
    body: step.body === null ? undefined : storedBody(step.body),
    child: toSnapshotChild(step.child),
    ...toStoredKeys(step.keys),
    taken: step.taken ? toStoredSignal(step.taken) : undefined,
    awaits: step.awaits ? { path: '', ...toStoredAwaited(step.awaits) } : undefined,
    claim: toSnapshotClaim(step.claim),
    queued: toSnapshotQueued(step.queued),
    gate: toSnapshotGate(step.gate),
  };
}

/**
 * A state as the bytes of a snapshot. Tenant, run and row number stand beside it.
 *
 * @param sink takes up values that are too large, as far as the run has not stored them yet; default: none is
 */
export function encodeSnapshot(state: RunState, sink?: PayloadSink): Uint8Array {
  const stored = storedState(state);
  const hasPayloads = sink !== undefined && moveOut(stored, sink, true);
  return Snapshot.encode({ ...stored, hasPayloads }).finish();
}

function storedState(state: RunState): Omit<Snapshot, 'hasPayloads'> {
  const { cancel, parked, paused } = state;
  return {
    format: SNAPSHOT_FORMAT,
    familySlug: state.familySlug,
    version: state.version,
    status: state.status,
    input: toStoredValue(state.input),
    attributes: state.attributes,
    steps: Array.from(state.steps.values(), storedStep),
    startedAtUs: BigInt(state.startedAtUs),
    closedAtUs: BigInt(state.closedAtUs ?? 0),
    atUs: BigInt(state.atUs),
    output: toStoredSource(state.output),
    error: toStoredError(state.error),
    cancel: cancel === null ? undefined : { reason: cancel.reason, requestedBy: cancel.requestedBy },
    parked: parked === null ? undefined : { ...parked },
    deadlineUs: BigInt(state.deadlineUs ?? 0),
    ending: state.ending ?? '',
    compensating: [...(state.compensating ?? [])],
    paused: paused === null ? undefined : { ...paused },
    heldSinceUs: BigInt(state.heldSinceUs ?? 0),
    traceparent: state.traceparent ?? '',
    runKey: state.runKey ?? '',
    failing: [...state.steps.scopes.values()].flatMap(({ name, error }) =>
      error === null ? [] : { name, error: toStoredError(error) },
    ),
    family: toStoredFamily(state.family),
    ...toStoredBox(state.signals),
    continuing: state.continuing === null ? undefined : toStoredContinuing(state.continuing),
    chain: toStoredChain(state.chain),
    successorId: state.continuedAs ?? '',
    gate: toSnapshotGate(state.gate),
  };
}

function isRunStatus(text: string): text is RunStatus {
  return Object.hasOwn(RUN_STATUSES, text);
}

function isStepStatus(text: string): text is StepStatus {
  return Object.hasOwn(STEP_STATUSES, text);
}

function stepOf(stored: SnapshotStep): StepState | null {
  if (!isStepStatus(stored.state)) return null;
  return {
    path: stored.path,
    status: stored.state,
    attempt: stored.attempt,
    input: fromStoredSource(stored.input),
    output: stored.output === undefined ? null : fromStoredValue(stored.output),
    error: fromStoredError(stored.error),
    dueAtUs: orNull(stored.dueAtUs),
    worker: stored.worker === '' ? null : stored.worker,
    lostInARow: stored.lostInARow,
    sinceUs: Number(stored.sinceUs),
    firstAtUs: Number(stored.firstAtUs),
    progress: stored.progress === undefined ? null : fromStoredValue(stored.progress),
    subSteps: stored.subSteps.map(({ name, output }) => ({ name, output: requiredValue(output) })),
    body: stored.body === undefined ? null : bodyOf(stored.body),
    child: fromSnapshotChild(stored.child),
    keys: fromStoredKeys(stored),
    gate: fromSnapshotGate(stored.gate),
    ...(stored.taken === undefined ? {} : { taken: fromStoredSignal(stored.taken) }),
    ...fromSnapshotClaim(stored.claim),
    ...fromSnapshotQueued(stored.queued),
    ...(stored.awaits === undefined ? {} : { awaits: fromStoredAwaited(stored.awaits) }),
  };
}

function endingOf(ending: string): RunState['ending'] {
  return ending === 'COMPLETED' || ending === 'TIMED_OUT' || ending === 'CONTINUED' ? ending : null;
}

function stateOf(key: SnapshotKey, stored: Snapshot): RunState | null {
  if (!READABLE_FORMATS.includes(stored.format) || !isRunStatus(stored.status)) return null;
  const steps: StepState[] = [];
  for (const storedStepState of stored.steps) {
    const step = stepOf(storedStepState);
    if (step === null) return null;
    steps.push(step);
  }
  const { cancel, parked, paused } = stored;
  return {
    tenantId: key.tenantId,
    runId: key.runId,
    familySlug: stored.familySlug,
    version: stored.version,
    status: stored.status,
    seq: key.seq,
    atUs: Number(stored.atUs),
    startedAtUs: Number(stored.startedAtUs),
    closedAtUs: orNull(stored.closedAtUs),
    input: requiredValue(stored.input),
    attributes: stored.attributes,
    output: fromStoredSource(stored.output),
    error: fromStoredError(stored.error),
    cancel: cancel === undefined ? null : { reason: cancel.reason, requestedBy: cancel.requestedBy },
    parked: parked === undefined ? null : { code: parked.code, message: parked.message, step: parked.step },
    paused: paused === undefined ? null : { reason: paused.reason, requestedBy: paused.requestedBy },
    heldSinceUs: orNull(stored.heldSinceUs),
    ending: endingOf(stored.ending),
    continuing: stored.continuing === undefined ? null : fromStoredContinuing(stored.continuing),
    continuedAs: stored.successorId === '' ? null : stored.successorId,
    compensating: stored.compensating.length === 0 ? null : stored.compensating,
    deadlineUs: orNull(stored.deadlineUs),
    ...(stored.traceparent === '' ? {} : { traceparent: stored.traceparent }),
    ...(stored.runKey === '' ? {} : { runKey: stored.runKey }),
    family: stored.family === undefined ? null : fromStoredFamily(stored.family),
    ...fromStoredBox(stored),
    chain: stored.chain === undefined ? null : fromStoredChain(stored.chain),
    gate: fromSnapshotGate(stored.gate),
    steps: stepTable(
      steps,
      stored.failing.map(({ name, error }) => ({ name, error: requiredError(error) })),
    ),
  };
}

/** Whether this engine can read a snapshot, by its format alone; a store passes over those it cannot. */
export function isSnapshotReadable(bytes: Uint8Array): boolean {
  // Field 1 is the format, and the encoder writes fields in order: its key is 0x08, its number one byte up to 127.
  return bytes[0] === 0x08 && READABLE_FORMATS.includes(bytes[1] ?? 0);
}

/** What a snapshot belongs to: a run, and the last row it holds. */
export interface SnapshotKey {
  readonly tenantId: string;
  readonly runId: string;
  readonly seq: number;
}

/** A snapshot of which its values are not yet looked at. */
export type OpenSnapshot = Snapshot;

/** Opens a snapshot; null for truncated or foreign bytes. */
export function openSnapshot(bytes: Uint8Array): OpenSnapshot | null {
  return orUnreadable(() => Snapshot.decode(bytes));
}

/** The decoder throws plain errors of its own. */
function orUnreadable<T>(read: () => T | null): T | null {
  try {
    return read();
  } catch (caught) {
    if (caught instanceof Error) return null;
    throw caught;
  }
}

/**
 * The state an open snapshot holds, or null when this engine cannot read it: the run is then folded from its first row.
 * A snapshot is only a shortcut, so nothing about it is fatal.
 *
 * @param shelf payloads it may refer to, noting those it has not; default: values that stand there are absent
 */
export function snapshotState(key: SnapshotKey, stored: OpenSnapshot, shelf?: PayloadShelf): RunState | null {
  return orUnreadable(() => {
    if (stored.hasPayloads && shelf !== undefined) putBack(stored, shelf);
    return stateOf(key, stored);
  });
}

/** The state a snapshot holds, or null: openSnapshot and snapshotState in one. */
export function decodeSnapshot(key: SnapshotKey, bytes: Uint8Array, shelf?: PayloadShelf): RunState | null {
  const stored = openSnapshot(bytes);
  return stored === null ? null : snapshotState(key, stored, shelf);
}
