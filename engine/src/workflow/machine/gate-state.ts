/**
 * What has to be granted before an attempt, or a run as a whole, begins: room under keys, and turns of rates.
 *
 *   (none) -> waiting (in line) -> held (granted; it begins at startAtUs) -> left (the attempt ended) -> waiting ...
 *   waiting, or held before its beginning -> left, when the run is parked or paused: who is held waits for nothing
 * Whoever is stopped while waiting leaves the line, and whoever ends gives back what was held, by the row that says so:
 * a gate is open (waiting or held) in the state exactly when it is in the tables.
 */
import type { Draft } from './draft.js';
import type { Entry } from './entries.js';
import type { RunInput } from './inputs.js';
import type { GateState, RunState, StepState } from './state.js';

/** Whether a gate stands in line or holds something. */
function isOpen(gate: GateState | null | undefined): gate is GateState {
  return gate !== null && gate !== undefined && gate.state !== 'left';
}

/** Whether the run as a whole has not been let in yet. */
export function isRunPending({ gate }: Pick<RunState, 'gate'>): boolean {
  return gate !== null && (gate.state !== 'held' || gate.startAtUs !== null);
}

/** When time changes the gate of a run, microseconds since 1970; null: never. */
export function gateDueUs({ gate }: Pick<RunState, 'gate'>): number | null {
  if (gate === null || gate.state === 'waiting') return null;
  return gate.state === 'held' ? gate.startAtUs : gate.sinceUs;
}

/** For the many entries that close none. */
const NO_GATES: readonly (GateState & { readonly path: string })[] = [];

/** Gates that an entry may close: looked at before it is applied. */
export function gatesBefore(draft: Draft, entry: Entry): typeof NO_GATES {
  switch (entry.kind) {
    case 'step_completed':
    case 'step_failed':
    case 'attempt_failed':
    case 'step_cancelled': {
      const gate = draft.steps.get(entry.path)?.gate;
      return isOpen(gate) ? [{ ...gate, path: entry.path }] : NO_GATES;
    }
    case 'run_parked':
    case 'run_paused': {
      const open = [...draft.steps.values()].flatMap(({ path, gate, status }) =>
        status === 'WAITING' && isOpen(gate) ? [{ ...gate, path }] : [],
      );
      return isOpen(draft.gate) && isRunPending(draft) ? [...open, { ...draft.gate, path: '' }] : open;
    }
    case 'run_closed':
      return isOpen(draft.gate) ? [{ ...draft.gate, path: '' }] : NO_GATES;
    default:
      return NO_GATES;
  }
}

/** The gates of steps that wait, and of a run that was not let in, while the run is held: out of line. */
export function leaveLines(draft: Draft): void {
  if (draft.gate !== null && isRunPending(draft)) draft.gate = left(draft.gate, draft.atUs);
  for (const step of [...draft.steps.values()]) {
    if (step.status !== 'WAITING' || !isOpen(step.gate)) continue;
    draft.steps.set({ ...step, gate: left(step.gate, draft.atUs), dueAtUs: null });
  }
}

/** A gate that gave everything back. */
export function left(gate: GateState, sinceUs: number): GateState {
  return { ...gate, state: 'left', startAtUs: null, sinceUs };
}

/** A gate that stands in line, or with ticket 0 is to ask soon. */
export function askedGate({ ticket, wants }: Pick<GateState, 'ticket' | 'wants'>, sinceUs: number): GateState {
  return { state: ticket === 0 ? 'left' : 'waiting', ticket, wants, startAtUs: null, sinceUs };
}

/** @param startAtUs when it begins, microseconds since 1970; 0: at once */
export function grantedGate(gate: GateState, startAtUs: number, sinceUs: number): GateState {
  return { ...gate, state: 'held', startAtUs: startAtUs === 0 ? null : startAtUs, sinceUs };
}

/** Number of the row in the making: no two askings of a run have the same ticket. */
export function newTicket({ before }: Draft): number {
  return before.seq + 1;
}

/** The gate that an input of the mailbox means, if it still stands in line with this ticket. */
export function awaitedGate(
  draft: Draft,
  { path, ticket }: RunInput & { readonly kind: 'semaphore' },
): GateState | undefined {
  const gate = path === '' ? draft.gate : draft.steps.get(path)?.gate;
  return gate?.state === 'waiting' && gate.ticket === ticket ? gate : undefined;
}

/** The step with a gate that was asked for; what is absent stays as it was. */
export function askedStep(step: StepState, entry: Entry & { readonly kind: 'step_asked' }, sinceUs: number): StepState {
  const { ticket, wants, giveUpUs: dueAtUs } = entry;
  const gate: GateState = { state: 'waiting', ticket, wants, startAtUs: null, sinceUs };
  const [input, keys] = [entry.input ?? step.input, entry.keys ?? step.keys];
  return { ...step, status: 'WAITING', gate, dueAtUs, input, keys, worker: null, sinceUs };
}
