/** Why a run is not done yet: every open run has exactly one reason (M7). */
import { isEndDecided } from './draft.js';
import { isClosed, isUnbegun, wakeAtUs } from './queries.js';
import { explainGate, explainStep } from './explain-step.js';
import { isRunPending } from './gate-state.js';
import { isEnded } from './resolve-edges.js';
import type { RunState, StepState, StepStatus } from './state.js';

/** What a run waits for. */
export type ReasonKind =
  /** It is held for people: resume, retry or cancel it. */
  | 'parked'
  /** Somebody paused it. */
  | 'paused'
  /** An attempt was told to stop and has not ended. */
  | 'stopping'
  /** An attempt waits for a worker. */
  | 'no_worker'
  /** An attempt is known to run on a worker. */
  | 'running'
  /** The next attempt of a step is due later. */
  | 'retry_wait'
  /** A step waits for time, or the first ones begin in a moment. */
  | 'timer'
  /** A step goes on with its body in a moment. */
  | 'body'
  /** A step waits for a signal. */
  | 'signal'
  /** Somebody has to decide. */
  | 'approval'
  /** Work of a step waits in a claim queue. */
  | 'claim'
  /** Work of a step waits in the queue of a pool. */
  | 'queue'
  /** A step waits for the end of its child run. */
  | 'child'
  /** A step, or the run as a whole, stands in line for room under a key, or waits for the turn of a rate. */
  | 'semaphore';

/** The one reason. */
export interface RunReason {
  readonly kind: ReasonKind;
  /** Path of the step; empty when the run as a whole is meant. */
  readonly step: string;
  /** The attempt that is open, or the last one that was made; 0: none. */
  readonly attempt: number;
  readonly worker: string | null;
  /** Code of what went wrong, if something did. */
  readonly code: string;
  /** The reason in words. */
  readonly message: string;
  /** Since when it waits for this, microseconds since 1970; null when it is not known. */
  readonly sinceUs: number | null;
  /** When time will end it, microseconds since 1970; null: not by itself. */
  readonly untilUs: number | null;
  /** Steps that are under way besides. */
  readonly others: number;
}

/** Which step says why the run waits: the one that most likely needs somebody first. */
const ORDER: readonly StepStatus[] = ['SCHEDULED', 'BACKOFF', 'RUNNING', 'WAITING', 'CANCELLING', 'OPEN', 'CLOSING'];

const KINDS: Readonly<Partial<Record<StepStatus, ReasonKind>>> = {
  SCHEDULED: 'no_worker',
  BACKOFF: 'retry_wait',
  RUNNING: 'running',
  WAITING: 'timer',
  CANCELLING: 'stopping',
  OPEN: 'body',
  CLOSING: 'body',
};

/** How the run will end, when that is decided, as the beginning of a sentence. */
function ending(state: RunState): string {
  if (!isEndDecided(state)) return '';
  if (state.compensating !== null) return `${decided(state)} and is being compensated: `;
  return `${decided(state)}: `;
}

function decided(state: RunState): string {
  if (state.cancel !== null) return 'the run is being cancelled';
  if (state.ending === 'COMPLETED') return 'the run is complete';
  if (state.ending === 'CONTINUED') return 'the run continues as new';
  if (state.ending === 'TIMED_OUT') return 'the time of the run is over';
  return `the run is failing with ${state.error?.code ?? 'an error'}`;
}

function kindOf({ awaits, child, claim, queued, gate, status }: StepState): ReasonKind {
  if (claim !== undefined) return 'claim';
  if (queued !== undefined) return 'queue';
  if (status === 'WAITING' && gate !== null) return 'semaphore';
  if (awaits) return awaits.approval === null ? 'signal' : 'approval';
  return child === null ? (KINDS[status] ?? 'running') : 'child';
}

function ofStep(state: RunState, step: StepState, others: number): RunReason {
  const { path, attempt, worker, sinceUs, status, awaits } = step;
  return {
    kind: kindOf(step),
    step: path,
    attempt,
    worker,
    code: status === 'BACKOFF' ? (step.error?.code ?? '') : '',
    message: `${ending(state)}step ${path} waits for ${explainStep(state, step)}`,
    sinceUs: sinceUs === 0 ? null : sinceUs,
    untilUs: (awaits ? awaits.deadlineUs : step.dueAtUs) ?? state.deadlineUs,
    others,
  };
}

/** The run as a whole was not let in yet; null: it was. */
function inLine({ gate, deadlineUs }: RunState): RunReason | null {
  if (gate === null || !isRunPending({ gate })) return null;
  const message = `the run waits for ${explainGate(gate)}`;
  const untilUs = gate.startAtUs ?? deadlineUs;
  const common = { step: '', attempt: 0, worker: null, code: '', others: 0 };
  return { ...common, kind: 'semaphore', message, sinceUs: gate.sinceUs, untilUs };
}

function held(state: RunState, open: number): RunReason | null {
  const { parked, paused, heldSinceUs: sinceUs } = state;
  const common = { attempt: 0, worker: null, sinceUs, untilUs: null, others: open };
  if (parked !== null) {
    const { code, step } = parked;
    const attempt = state.steps.get(step)?.attempt ?? 0;
    const message = `the run is parked for ${code}: ${parked.message}`;
    return { ...common, kind: 'parked', step, attempt, code, message };
  }
  if (paused === null) return null;
  const why = paused.reason === '' ? '' : `: ${paused.reason}`;
  const message = `the run was paused by ${paused.requestedBy || 'somebody'}${why}`;
  return { ...common, kind: 'paused', step: '', code: '', message };
}

/** A run that continues another one begins with its second row. */
function unbegun(state: RunState): RunReason {
  const message = `the run continues run ${state.chain?.previousId ?? ''} and begins in a moment`;
  return {
    ...{ kind: 'timer', step: '', attempt: 0, worker: null, code: '', message },
    ...{ sinceUs: state.startedAtUs, untilUs: wakeAtUs(state), others: 0 },
  };
}

/** The reason an open run waits for; null when it is closed or has not started. */
export function explainRun(state: RunState): RunReason | null {
  if (isClosed(state) || state.seq === 0) return null;
  const open = [...state.steps.values()].filter(({ status }) => !isEnded(status));
  const reason = held(state, open.length);
  if (reason !== null) return reason;
  const line = inLine(state);
  if (line !== null) return line;
  for (const wanted of ORDER) {
    const step = open.find(({ status }) => status === wanted);
    if (step !== undefined) return ofStep(state, step, open.length - 1);
  }
  return isUnbegun(state) ? unbegun(state) : null;
}
