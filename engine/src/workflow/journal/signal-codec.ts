/** Signals, and what waits for them, between memory and their stored form. */
import type {
  OpenApproval as StoredApproval,
  SeenSignal,
  SignalReceived as StoredSignal,
  StepAwaiting as StoredAwaiting,
} from '../../gen/ductor/journal/v1/journal.js';
import { boxOf, seenOf, type Awaited, type OpenApproval, type Signal, type SignalBox } from '../machine/index.js';
import { orNull, requiredValue, toStoredValue } from './stored.js';

/** A signal as stored. */
export function toStoredSignal({ name, id, payload, by }: Signal): StoredSignal {
  return { name, id, payload: toStoredValue(payload), by };
}

/** A stored signal. */
export function fromStoredSignal({ name, id, payload, by }: StoredSignal): Signal {
  return { name, id, payload: requiredValue(payload), by };
}

/** What a run has received, as stored beside it. */
export function toStoredBox(box: SignalBox | undefined): { signals: StoredSignal[]; seenSignals: SeenSignal[] } {
  if (box === undefined) return { signals: [], seenSignals: [] };
  const seenSignals = seenOf(box).map(({ name, id, atUs }) => ({ name, id, atUs: BigInt(atUs) }));
  return { signals: box.waiting.map(toStoredSignal), seenSignals };
}

/** What a run has received; absent: nothing. */
export function fromStoredBox(stored: {
  readonly signals: readonly StoredSignal[];
  readonly seenSignals: readonly SeenSignal[];
}): {
  readonly signals?: SignalBox;
} {
  const { signals, seenSignals } = stored;
  if (seenSignals.length === 0) return {};
  const seen = seenSignals.map(({ name, id, atUs }) => ({ name, id, atUs: Number(atUs) }));
  return { signals: boxOf(signals.map(fromStoredSignal), seen) };
}

function toStoredApproval({ assignees, options, escalation }: OpenApproval): StoredApproval {
  return {
    assignees: assignees === null ? undefined : { names: [...assignees] },
    options: [...options],
    escalateAtUs: BigInt(escalation?.atUs ?? 0),
    escalateTo: escalation === null ? undefined : { names: [...escalation.assignees] },
  };
}

function fromStoredApproval({ assignees, options, escalateAtUs, escalateTo }: StoredApproval): OpenApproval {
  const escalation = escalateTo === undefined ? null : { atUs: Number(escalateAtUs), assignees: escalateTo.names };
  return { assignees: assignees?.names ?? null, options, escalation };
}

/** What a step waits for, as stored; its path stands beside it. */
export function toStoredAwaited({ name, deadlineUs, approval }: Awaited): Omit<StoredAwaiting, 'path'> {
  const stored = approval === null ? undefined : toStoredApproval(approval);
  return { name, deadlineUs: BigInt(deadlineUs ?? 0), approval: stored };
}

/** What a step waits for. */
export function fromStoredAwaited({ name, deadlineUs, approval }: Omit<StoredAwaiting, 'path'>): Awaited {
  return {
    name,
    deadlineUs: orNull(deadlineUs),
    approval: approval === undefined ? null : fromStoredApproval(approval),
  };
}
