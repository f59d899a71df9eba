/** Signals, and what waits for them, between memory and their stored form. */
import type {
  OpenApproval as StoredApproval,
  SeenSignal,
  SignalReceived as StoredSignal,
  StepAwaiting as StoredAwaiting,
  UpdateAnswered,
} from '../../gen/ductor/journal/v1/journal.js';
import {
  boxOf,
  seenOf,
  type Awaited,
  type OpenApproval,
  type Signal,
  type SignalBox,
  type UpdateAnswer,
  type ValueSource,
} from '../machine/index.js';
import {
  fromStoredError,
  fromStoredSource,
  orNull,
  requiredValue,
  toStoredError,
  toStoredSource,
  toStoredValue,
  unreadable,
} from './stored.js';

/** A signal as stored. */
export function toStoredSignal({ name, id, payload, by }: Signal): StoredSignal {
  return { name, id, payload: toStoredValue(payload), by };
}

/** A stored signal. */
export function fromStoredSignal({ name, id, payload, by }: StoredSignal): Signal {
  return { name, id, payload: requiredValue(payload), by };
}

/** What a run has received, as stored beside it. */
export function toStoredBox(box: SignalBox | undefined): {
  signals: StoredSignal[];
  seenSignals: SeenSignal[];
  answers: UpdateAnswered[];
} {
  if (box === undefined) return { signals: [], seenSignals: [], answers: [] };
  const seenSignals = seenOf(box).map(({ name, id, atUs }) => ({ name, id, atUs: BigInt(atUs) }));
  const answers = box.answers.map(({ output, ...answer }) =>
    toStoredAnswer({ ...answer, output: output === null ? null : { kind: 'value', value: output } }),
  );
  return { signals: box.waiting.map(toStoredSignal), seenSignals, answers };
}

/** What an entry says of an answer. */
type Answered = Omit<UpdateAnswer, 'output'> & { readonly output: ValueSource | null };

/** An answer to an update, as stored. */
export function toStoredAnswer({ name, id, output, error }: Answered): UpdateAnswered {
  return { name, id, output: toStoredSource(output), error: toStoredError(error) };
}

/** A stored answer to an update. */
export function fromStoredAnswer({ name, id, output, error }: UpdateAnswered): Answered {
  return { name, id, output: fromStoredSource(output), error: fromStoredError(error) };
}

/** An answer that is kept: its value stands with it. */
function keptAnswer(stored: UpdateAnswered): UpdateAnswer {
  const { output, ...answer } = fromStoredAnswer(stored);
  if (output === null) return { ...answer, output };
  if (output.kind !== 'value') throw unreadable('a kept answer without its value');
  return { ...answer, output: output.value };
}

/** What a run has received; absent: nothing. */
export function fromStoredBox(stored: {
  readonly signals: readonly StoredSignal[];
  readonly seenSignals: readonly SeenSignal[];
  readonly answers: readonly UpdateAnswered[];
}): {
  readonly signals?: SignalBox;
} {
  const { signals, seenSignals, answers } = stored;
  if (seenSignals.length === 0) return {};
  const seen = seenSignals.map(({ name, id, atUs }) => ({ name, id, atUs: Number(atUs) }));
  return { signals: boxOf(signals.map(fromStoredSignal), seen, answers.map(keptAnswer)) };
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
