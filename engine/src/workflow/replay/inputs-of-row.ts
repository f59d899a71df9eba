/**
 * What the machine was told when it wrote a row: the facts from outside among its entries. Everything else in a row is
 * what the machine made of them, and is not looked at here.
 *
 * A row does not say all that there was: whether a timer was looked at, or by which of two messages a run was resumed.
 * So there are several readings of a row, the likeliest first; one that gives the row again is as good as the true one.
 */
import type { Entry, KeptStep, RunInput, RunState } from '../machine/index.js';

const WAKE: RunInput = { kind: 'wake' };

type Of<K extends Entry['kind']> = Extract<Entry, { readonly kind: K }>;

/** The steps that a fork took over: their ends stand behind its start. */
function keptSteps(entries: readonly Entry[]): readonly KeptStep[] {
  const kept: KeptStep[] = [];
  for (const entry of entries.slice(1)) {
    if (entry.kind === 'step_skipped') kept.push({ path: entry.path, end: { status: 'SKIPPED' } });
    else if (entry.kind === 'step_completed' && entry.attempt === 0) {
      kept.push({ path: entry.path, end: { status: 'COMPLETED', output: entry.output } });
    } else if (entry.kind === 'step_failed' && entry.attempt === 0) {
      kept.push({ path: entry.path, end: { status: 'FAILED', error: entry.error } });
    } else break;
  }
  return kept;
}

function startOf(entry: Of<'run_started'>, entries: readonly Entry[]): RunInput {
  const { familySlug, version, input, attributes, traceparent, runKey, family, fork } = entry;
  const [, second] = entries;
  const refusal = family !== undefined && second?.kind === 'run_failing' ? { refusal: second.error } : {};
  return {
    ...{ kind: 'start', input, attributes, ...refusal },
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(runKey === undefined ? {} : { runKey }),
    ...(family === undefined ? {} : { birth: { familySlug, version, family } }),
    ...(fork === undefined ? {} : { fork: { ...fork, kept: keptSteps(entries) } }),
  };
}

/**
 * How an attempt failed, whoever said so: a worker, its loss, or its time. The machine makes the same of each. One that
 * might be retried and was the last all the same asked for a later attempt than there is time for.
 */
function failedOf(entry: Of<'attempt_failed' | 'step_failed'>, isLast: boolean): RunInput {
  const { path, attempt, error } = entry;
  const { code, message, stack, causes, retryable } = error;
  const behind = causes === undefined ? {} : { causes };
  const retryAfterMs = isLast && retryable ? Number.MAX_SAFE_INTEGER : null;
  const failure = { code, message, stack, ...behind, nonRetryable: !retryable, retryAfterMs };
  return { kind: 'result', path, attempt, outcome: { kind: 'failed', ...failure } };
}

const CHILD_ENDS = { child_cancelled: 'CANCELLED', child_terminated: 'TERMINATED' } as const;

/** The end of the child that a step waited for; undefined: the entry says none. */
function childClosedOf(entry: Of<'step_completed' | 'step_failed' | 'step_cancelled'>, state: RunState) {
  const step = state.steps.get(entry.path);
  const runId = step?.child?.runId;
  if (runId === undefined || step?.status !== 'WAITING' || entry.attempt !== 0) return undefined;
  const closed = { kind: 'child_closed', path: entry.path, runId, output: null, error: null } as const;
  if (entry.kind === 'step_completed') return { ...closed, status: 'COMPLETED', output: entry.output } as const;
  if (entry.kind === 'step_cancelled') {
    return entry.abandoned ? undefined : ({ ...closed, status: 'CANCELLED' } as const);
  }
  const { error } = entry;
  if (error.code === 'child_cancelled' || error.code === 'child_terminated') {
    return { ...closed, status: CHILD_ENDS[error.code] } as const;
  }
  const [, message] = error.message.split(`child run ${runId} failed: `);
  return { ...closed, status: 'FAILED', error: message === undefined ? null : { ...error, message } } as const;
}

const CLAIM_ENDS: ReadonlyMap<string, 'expired' | 'withdrawn'> = new Map([
  ['claim_expired', 'expired'],
  ['claim_withdrawn', 'withdrawn'],
]);

/** What became of the item that a step waited for; undefined: the entry says nothing of it. */
function claimToldOf(entry: Of<'step_completed' | 'step_failed' | 'step_cancelled'>, state: RunState) {
  const claim = state.steps.get(entry.path)?.claim;
  if (claim === undefined || entry.kind === 'step_cancelled') return undefined;
  const { path } = entry;
  const { itemId, until } = claim;
  if (entry.kind === 'step_completed') {
    return { kind: 'claim_told', path, itemId, what: until, output: entry.output } as const;
  }
  const what = CLAIM_ENDS.get(entry.error.code);
  return what === undefined ? undefined : ({ kind: 'claim_told', path, itemId, what, output: null } as const);
}

/** What became of the work that a step waited for in a queue; undefined: the entry says nothing of it. */
function routeToldOf(entry: Of<'step_completed' | 'step_failed' | 'step_cancelled'>, state: RunState) {
  const queued = state.steps.get(entry.path)?.queued;
  if (queued === undefined || entry.kind === 'step_cancelled') return undefined;
  const told = { kind: 'route_told', path: entry.path, workId: queued.workId } as const;
  if (entry.kind === 'step_completed') return { ...told, answer: { kind: 'routed', output: entry.output } } as const;
  const { code, message, retryable: isRetryable } = entry.error;
  if (code === 'timeout') return undefined;
  return { ...told, answer: { kind: 'failed', code, message, isRetryable } } as const;
}

/** What ended a step, if that came from outside. */
function endOf(
  entry: Of<'step_completed' | 'step_failed' | 'step_cancelled'>,
  state: RunState,
  isStopping: (path: string) => boolean,
): RunInput | undefined {
  const { path, attempt } = entry;
  if (attempt === 0) return childClosedOf(entry, state) ?? claimToldOf(entry, state) ?? routeToldOf(entry, state);
  if (entry.kind === 'step_failed') return failedOf(entry, true);
  if (entry.kind === 'step_completed') {
    return { kind: 'result', path, attempt, outcome: { kind: 'completed', output: entry.output } };
  }
  const isTold = !entry.abandoned && isStopping(path);
  return isTold ? { kind: 'result', path, attempt, outcome: { kind: 'cancelled' } } : undefined;
}

/** What was granted to somebody who stood in line before this row. */
function grantOf(path: string, startAtUs: number, state: RunState): RunInput | undefined {
  const gate = path === '' ? state.gate : state.steps.get(path)?.gate;
  if (gate?.state !== 'waiting') return undefined;
  return { kind: 'semaphore', path, ticket: gate.ticket, startAtUs };
}

/** How the reading of a row differs from the likeliest one. */
interface Reading {
  /** A run goes on by a retry of what parked it, not by a resume. */
  readonly isRetry: boolean;
  /** What was told to stop in this row and has stopped in it, was stopped by its worker and not by the machine. */
  readonly hasStopped: boolean;
}

/** The facts of a row in order. */
function factsOf(entries: readonly Entry[], state: RunState, { isRetry, hasStopped }: Reading): readonly RunInput[] {
  const told = new Set(entries.flatMap((entry) => (entry.kind === 'step_cancelling' ? [entry.path] : [])));
  const parkedBy = new Set(entries.flatMap((entry) => (entry.kind === 'run_parked' ? [entry.step] : [])));
  const isStopping = (path: string): boolean =>
    (hasStopped && told.has(path)) || state.steps.get(path)?.status === 'CANCELLING';
  const factOf = (entry: Entry): RunInput | undefined => {
    switch (entry.kind) {
      case 'run_started':
        return startOf(entry, entries);
      case 'step_running':
        // When it began stands nowhere; its deadline says it, see replay-journal.ts.
        return { kind: 'running', path: entry.path, attempt: entry.attempt, worker: entry.worker, startedAtUs: 0 };
      case 'step_completed':
      case 'step_failed':
      case 'step_cancelled':
        return endOf(entry, state, isStopping);
      case 'attempt_failed':
        return failedOf(entry, parkedBy.has(entry.path));
      case 'sub_step_completed':
        return { ...entry, kind: 'sub_step' };
      case 'step_granted':
        return grantOf(entry.path, entry.startAtUs, state);
      case 'run_granted':
        return grantOf('', entry.startAtUs, state);
      case 'signal_received':
        return { ...entry, kind: 'signal' };
      case 'cancel_requested':
        return { ...entry, kind: 'cancel' };
      case 'run_parked':
        return entry.step === '' ? { kind: 'park', code: entry.code, message: entry.message } : undefined;
      case 'run_paused':
        return { ...entry, kind: 'pause' };
      case 'run_resumed':
        return { kind: isRetry ? 'retry' : 'resume', requestedBy: entry.requestedBy };
      case 'run_terminated':
        return { ...entry, kind: 'terminate' };
      default:
        return undefined;
    }
  };
  return entries.flatMap((entry) => factOf(entry) ?? []);
}

/** Of a thing that is there or not: both, where it matters. */
function either(matters: boolean): readonly boolean[] {
  return matters ? [false, true] : [false];
}

/** What may have been told for a row, the likeliest first. */
export function readingsOf(entries: readonly Entry[], state: RunState): readonly (readonly RunInput[])[] {
  const kinds = new Set(entries.map(({ kind }) => kind));
  const isBothStopped = kinds.has('step_cancelling') && kinds.has('step_cancelled');
  const readings = either(kinds.has('run_resumed')).flatMap((isRetry) =>
    either(isBothStopped).map((hasStopped) => ({ isRetry, hasStopped })),
  );
  return readings.flatMap((reading) => {
    const facts = factsOf(entries, state, reading);
    return facts.length === 0 ? [[WAKE]] : [facts, [WAKE, ...facts], [...facts, WAKE]];
  });
}
