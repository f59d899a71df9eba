/** What each entry does to a run: the one place where state changes. Needs neither plan nor expressions. */
import { impossible } from '../../kernel/index.js';
import type { Draft } from './draft.js';
import type { Entry } from './entries.js';
import type { StepState } from './state.js';
import { checkRunEntry, checkStepEntry, type RunEntry, type StepEntry } from './transitions.js';

/** Code of an attempt whose worker is gone for good. */
export const WORKER_LOST = 'worker_lost';

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
  };
}

/** The step after an entry that checkStepEntry has let through. */
function nextStep(previous: StepState | undefined, entry: StepEntry): StepState {
  const step = previous ?? freshStep(entry.path);
  switch (entry.kind) {
    case 'step_scheduled': {
      const input = entry.input ?? step.input;
      return { ...step, status: 'SCHEDULED', attempt: entry.attempt, input, dueAtUs: null, worker: null };
    }
    case 'step_running':
      return { ...step, status: 'RUNNING', dueAtUs: entry.deadlineUs, worker: entry.worker || null };
    case 'step_completed':
      return { ...step, status: 'COMPLETED', output: entry.output, dueAtUs: null, worker: null, lostInARow: 0 };
    case 'attempt_failed': {
      const lostInARow = entry.error.code === WORKER_LOST ? step.lostInARow + 1 : 0;
      return { ...step, status: 'BACKOFF', error: entry.error, dueAtUs: entry.retryAtUs, worker: null, lostInARow };
    }
    case 'step_failed':
      return { ...step, status: 'FAILED', error: entry.error, dueAtUs: null, worker: null };
    case 'step_waiting':
      return { ...step, status: 'WAITING', dueAtUs: entry.wakeAtUs };
    case 'step_skipped':
      return step;
    case 'step_cancelling':
      return { ...step, status: 'CANCELLING', dueAtUs: entry.deadlineUs };
    case 'step_cancelled':
      return { ...step, status: 'CANCELLED', dueAtUs: null, worker: null };
  }
}

function applyRunEntry(draft: Draft, entry: RunEntry): void {
  switch (entry.kind) {
    case 'run_started':
      draft.started = true;
      draft.startedAtUs = draft.atUs;
      draft.familySlug = entry.familySlug;
      draft.version = entry.version;
      draft.input = entry.input;
      draft.attributes = entry.attributes;
      return;
    case 'cancel_requested':
      // A cancel ends parking: it is how a dead letter is closed.
      draft.cancel = { reason: entry.reason, requestedBy: entry.requestedBy };
      draft.parked = null;
      return;
    case 'run_parked':
      draft.parked = { code: entry.code, message: entry.message };
      return;
    case 'run_resumed':
      draft.parked = null;
      return;
    case 'run_failing':
      draft.error = entry.error;
      return;
    case 'run_closed':
      draft.closed = entry.status;
      draft.closedAtUs = draft.atUs;
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
  const previous = checkStepEntry(draft, entry);
  if (entry.kind === 'step_scheduled' && previous === undefined && entry.input === null) {
    impossible('first-attempt', `step ${entry.path} of run ${draft.before.runId} is scheduled without input`);
  }
  draft.steps.set(nextStep(previous, entry));
}
