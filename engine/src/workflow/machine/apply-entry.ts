/** What each entry does to a run: the one place where state changes. Needs neither plan nor expressions. */
import { impossible } from '../../kernel/index.js';
import { applyBodyEntry, beginScope, collected } from './apply-body-entry.js';
import { newBody } from './body-state.js';
import type { Draft } from './draft.js';
import type { Entry } from './entries.js';
import { awaitedBy, dueOf, escalated } from './awaited.js';
import { askedGate, askedStep, grantedGate, leaveLines, left } from './gate-state.js';
import { putAnswer, putSignal, takeSignal, type Signal } from './signal-box.js';
import { valueOf } from './resolve-source.js';
import type { BodyState, StepState } from './state.js';
import {
  checkBodyEntry,
  checkRunEntry,
  checkStepEntry,
  isBodyEntry,
  type RunEntry,
  type StepEntry,
} from './transitions.js';
import { isWaitingEntry, type WaitingEntry } from './waiting-entry.js';

/** Code of an attempt whose worker is gone for good. */
export const WORKER_LOST = 'worker_lost';

type SignalTaken = Extract<Entry, { readonly kind: 'signal_taken' }>;

const NO_SUB_STEPS: StepState['subSteps'] = [];

function freshStep(path: string): StepState {
  return {
    path,
    status: 'SKIPPED',
    attempt: 0,
    input: null,
    output: null,
    error: null,
    dueAtUs: null,
    worker: null,
    lostInARow: 0,
    sinceUs: 0,
    firstAtUs: 0,
    progress: null,
    subSteps: NO_SUB_STEPS,
    body: null,
    child: null,
    keys: null,
    gate: null,
  };
}

/** A step whose child is on its way. */
function withChild(step: StepState, entry: StepEntry & { readonly kind: 'child_started' }, sinceUs: number): StepState {
  const { runId, familySlug, policy, isDetached } = entry;
  const child = { runId, familySlug, policy, isDetached, told: null };
  return { ...step, status: 'WAITING', input: entry.input, sinceUs, child };
}

/** A step whose work waits in a queue. */
function inQueue(step: StepState, entry: WaitingEntry, sinceUs: number): StepState {
  if (entry.kind === 'claim_settling' || entry.kind === 'route_settling') return { ...step, dueAtUs: null };
  if (entry.kind === 'route_queued') {
    const { workId, poolId, deadlineUs } = entry;
    return { ...step, dueAtUs: deadlineUs, sinceUs, queued: { workId, poolId } };
  }
  const { itemId, decisionId, queueId, poolId, until, deadlineUs: dueAtUs } = entry;
  return { ...step, dueAtUs, sinceUs, claim: { itemId, decisionId, queueId, poolId, until } };
}

function scheduledStep(
  step: StepState,
  entry: StepEntry & { readonly kind: 'step_scheduled' },
  sinceUs: number,
): StepState {
  const { attempt, startByUs: dueAtUs } = entry;
  const input = entry.input ?? step.input;
  const firstAtUs = step.firstAtUs === 0 ? sinceUs : step.firstAtUs;
  const keys = entry.keys ?? step.keys;
  const gate = step.gate === null ? null : { ...step.gate, startAtUs: null };
  return { ...step, status: 'SCHEDULED', attempt, input, dueAtUs, worker: null, sinceUs, firstAtUs, keys, gate };
}

/** A step whose attempt failed, and that is tried again. */
function triedStep(
  step: StepState,
  entry: StepEntry & { readonly kind: 'attempt_failed' },
  sinceUs: number,
): StepState {
  const { error, retryAtUs: dueAtUs } = entry;
  const lostInARow = error.code === WORKER_LOST ? step.lostInARow + 1 : 0;
  const progress = entry.progress ?? step.progress;
  const gate = step.gate === null ? null : left(step.gate, sinceUs);
  return { ...step, status: 'BACKOFF', error, dueAtUs, worker: null, lostInARow, sinceUs, progress, gate };
}

/** The step after an entry that checkStepEntry has let through. */
function nextStep(draft: Draft, step: StepState, entry: StepEntry): StepState {
  const sinceUs = draft.atUs;
  if (isWaitingEntry(entry)) return inQueue(step, entry, sinceUs);
  switch (entry.kind) {
    case 'step_scheduled':
      return scheduledStep(step, entry, sinceUs);
    case 'step_running':
      return { ...step, status: 'RUNNING', dueAtUs: entry.deadlineUs, worker: entry.worker || null, sinceUs };
    case 'step_completed':
      return ended(step, sinceUs, { status: 'COMPLETED', output: entry.output, lostInARow: 0 });
    case 'attempt_failed':
      return triedStep(step, entry, sinceUs);
    case 'step_failed':
      return ended(step, sinceUs, { status: 'FAILED', error: entry.error });
    case 'sub_step_completed':
      return { ...step, subSteps: [...step.subSteps, { name: entry.name, output: entry.output }] };
    case 'step_waiting':
      return { ...step, status: 'WAITING', dueAtUs: entry.wakeAtUs, sinceUs };
    case 'step_selecting':
      return { ...step, status: 'WAITING', input: { kind: 'value', value: entry.routable }, sinceUs };
    case 'slate_reserved':
      return step;
    case 'step_asked':
      return askedStep(step, entry, sinceUs);
    case 'step_granted':
      return grantedStep(step, entry.startAtUs, sinceUs);
    case 'child_started':
      return withChild(step, entry, sinceUs);
    case 'child_told':
      return { ...step, child: step.child === null ? null : { ...step.child, told: entry.how } };
    case 'step_awaiting':
      return { ...step, status: 'WAITING', awaits: awaitedBy(entry), dueAtUs: dueOf(entry), sinceUs };
    case 'signal_taken':
      return ended(step, sinceUs, { status: 'COMPLETED', output: entry.output });
    case 'update_taken':
      return { ...rested(step), dueAtUs: null, sinceUs };
    case 'approval_escalated': {
      const awaits = escalated(step);
      return { ...step, awaits, dueAtUs: dueOf(awaits) };
    }
    case 'step_skipped':
      return { ...step, sinceUs };
    case 'step_cancelling':
      return { ...step, status: 'CANCELLING', dueAtUs: entry.deadlineUs, sinceUs };
    case 'step_cancelled':
      return ended(step, sinceUs, { status: 'CANCELLED' });
    case 'step_opened': {
      const { body: kind, source, count, keeps } = entry;
      return { ...step, status: 'OPEN', body: newBody({ kind, source, count, keeps }), sinceUs };
    }
    case 'step_continuing':
      return { ...step, dueAtUs: entry.atUs === 0 ? null : entry.atUs };
    case 'step_closing':
      return { ...step, status: 'CLOSING', error: entry.error, dueAtUs: null, sinceUs };
    case 'step_collected':
      return ended(step, sinceUs, { status: 'COMPLETED', output: collected(draft, step, entry) });
  }
}

/** A step that was granted what it asked for, and begins at this time; 0: at once. */
function grantedStep(step: StepState, startAtUs: number, sinceUs: number): StepState {
  if (step.gate === null) return step;
  const gate = grantedGate(step.gate, startAtUs, sinceUs);
  return { ...step, gate, dueAtUs: gate.startAtUs, sinceUs };
}

/** Of a body that is over, only outcomes that are still to be collected are of use. */
function restOf(body: BodyState | null): BodyState | null {
  return body?.keeps === true && body.kind === 'scatter' ? body : null;
}

/** How a step ended. */
type End = Pick<StepState, 'status'> & Partial<Pick<StepState, 'output' | 'error' | 'lostInARow'>>;

/** An ended step, without what it no longer has. Written out: once a step, and objects spread together are slow. */
function ended(step: StepState, sinceUs: number, end: End): StepState {
  return {
    path: step.path,
    status: end.status,
    attempt: step.attempt,
    input: step.input,
    output: end.output === undefined ? step.output : end.output,
    error: end.error === undefined ? step.error : end.error,
    dueAtUs: null,
    worker: null,
    lostInARow: end.lostInARow ?? step.lostInARow,
    sinceUs,
    firstAtUs: step.firstAtUs,
    progress: null,
    subSteps: NO_SUB_STEPS,
    body: restOf(step.body),
    child: step.child,
    keys: step.keys,
    gate: null,
  };
}

/** A step that waits for no signal any more. */
function rested(step: StepState): StepState {
  const { awaits: _, ...rest } = step;
  return rest;
}

/** Takes the signal out of the box. */
function unboxed(draft: Draft, { name, id }: Pick<SignalTaken, 'name' | 'id'>): Signal {
  const found = takeSignal(draft.signals, name, id);
  if (found === undefined) impossible('signal-taken', `run ${draft.before.runId} has no signal ${name} to take`);
  draft.signals = found.box;
  return found.signal;
}

/** The entry with its output, taken out of the box. */
function taken(draft: Draft, entry: SignalTaken): SignalTaken {
  const { payload } = unboxed(draft, entry);
  return { ...entry, output: entry.output ?? payload };
}

/** The answer to an update, with the value itself: steps of bodies are forgotten, and another run may take over. */
function putAnswered(draft: Draft, entry: RunEntry & { readonly kind: 'update_answered' }): void {
  const { name, id, output, error } = entry;
  const value = output === null ? null : valueOf(draft, output, '');
  draft.signals = putAnswer(draft.signals, { name, id, output: value, error }, draft.atUs);
}

/** Ends parking and pause. The run's own limits stood still meanwhile: they are moved by the time it was held. */
function release(draft: Draft): void {
  const heldUs = draft.heldSinceUs === null ? 0 : draft.atUs - draft.heldSinceUs;
  draft.parked = null;
  draft.paused = null;
  draft.heldSinceUs = null;
  if (heldUs === 0) return;
  if (draft.deadlineUs !== null) draft.deadlineUs += heldUs;
  if (draft.steps.nextDueUs() === null) return;
  for (const step of [...draft.steps.values()]) {
    if (step.status !== 'SCHEDULED' || step.dueAtUs === null) continue;
    draft.steps.set({ ...step, dueAtUs: step.dueAtUs + heldUs });
  }
}

/** Holds the run. A step that parked it has its time for all attempts anew once it goes on. */
function park(draft: Draft, entry: RunEntry & { readonly kind: 'run_parked' }): void {
  draft.parked = { code: entry.code, message: entry.message, step: entry.step };
  draft.heldSinceUs ??= draft.atUs;
  leaveLines(draft);
  const step = entry.step === '' ? undefined : draft.steps.get(entry.step);
  if (step !== undefined) draft.steps.set({ ...step, firstAtUs: 0 });
}

/** A cancel ends parking and pause: it is how a dead letter is closed. */
function cancel(draft: Draft, { reason, requestedBy }: RunEntry & { readonly kind: 'cancel_requested' }): void {
  draft.cancel = { reason, requestedBy };
  draft.ending = null;
  draft.continuing = null;
  release(draft);
}

function begin(draft: Draft, entry: RunEntry & { readonly kind: 'run_started' }): void {
  draft.started = true;
  draft.startedAtUs = draft.atUs;
  draft.familySlug = entry.familySlug;
  draft.version = entry.version;
  draft.input = entry.input;
  draft.attributes = entry.attributes;
  draft.deadlineUs = entry.deadlineUs;
  draft.traceparent = entry.traceparent;
  draft.runKey = entry.runKey;
  draft.family = entry.family ?? null;
  draft.chain = entry.chain ?? null;
  draft.signals = entry.signals ?? draft.signals;
}

function applyRunEntry(draft: Draft, entry: RunEntry): void {
  switch (entry.kind) {
    case 'run_started':
      return begin(draft, entry);
    case 'signal_received': {
      const { name, id, payload, by } = entry;
      draft.signals = putSignal(draft.signals, { name, id, payload, by }, draft.atUs);
      return;
    }
    case 'run_asked':
      draft.gate = askedGate(entry, draft.atUs);
      return;
    case 'run_granted':
      draft.gate = draft.gate === null ? null : grantedGate(draft.gate, entry.startAtUs, draft.atUs);
      return;
    case 'update_answered':
      return putAnswered(draft, entry);
    case 'cancel_requested':
      cancel(draft, entry);
      return;
    case 'run_parked':
      park(draft, entry);
      return;
    case 'run_paused':
      draft.paused = { reason: entry.reason, requestedBy: entry.requestedBy };
      draft.heldSinceUs ??= draft.atUs;
      leaveLines(draft);
      return;
    case 'run_resumed':
      release(draft);
      return;
    case 'run_failing':
      draft.error = entry.error;
      return;
    case 'run_ending':
      draft.ending = entry.status;
      draft.output = entry.output;
      draft.error = entry.error;
      return;
    case 'run_continuing':
      draft.ending = 'CONTINUED';
      draft.continuing = { input: entry.input, version: entry.version, timeoutUs: entry.timeoutUs };
      return;
    case 'run_compensating':
      draft.compensating = entry.steps;
      return;
    case 'run_terminated':
      draft.terminated = true;
      release(draft);
      return;
    case 'run_closed':
      draft.closed = entry.status;
      draft.gate = null;
      draft.closedAtUs = draft.atUs;
      draft.continuing = null;
      draft.continuedAs = entry.successorId ?? null;
      draft.output = entry.output;
      draft.error = entry.error;
  }
}

/** Applies one entry to a draft. Throws internal (tag transition) when the table of transitions has no such change. */
export function applyEntry(draft: Draft, entry: Entry): void {
  if (!('path' in entry)) {
    checkRunEntry(draft, entry);
    applyRunEntry(draft, entry);
    return;
  }
  if (isBodyEntry(entry)) {
    applyBodyEntry(draft, checkBodyEntry(draft, entry), entry);
    return;
  }
  const previous = checkStepEntry(draft, entry);
  if (entry.kind === 'step_scheduled' && previous === undefined && entry.input === null) {
    impossible('first-attempt', `step ${entry.path} of run ${draft.before.runId} is scheduled without input`);
  }
  const full = entry.kind === 'signal_taken' ? taken(draft, entry) : entry;
  if (previous === undefined) beginScope(draft, entry.path);
  const next = nextStep(draft, previous ?? freshStep(entry.path), full);
  draft.steps.set(entry.kind === 'update_taken' ? { ...next, taken: unboxed(draft, entry) } : next);
}
