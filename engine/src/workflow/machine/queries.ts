/** What a shell may ask of a run's state. All from the state alone: no plan, no clock. */
import { isEndDecided, isHeld } from './draft.js';
import { failureBytes } from './failure.js';
import { gateDueUs } from './gate-state.js';
import { valueOf } from './resolve-source.js';
import { boxBytes } from './signal-box.js';
import type { RunState } from './state.js';
import type { Value, ValueSource } from './value.js';

/** Whether the run has ended for good. */
export function isClosed(state: RunState): boolean {
  return state.closedAtUs !== null;
}

/**
 * Whether some attempt is scheduled, running or being cancelled, so that a takeover must load the run at once. A run
 * that is parked or paused is not active: nothing of it is to be dispatched, and a result that still comes loads it by
 * its key.
 */
export function isActive(state: RunState): boolean {
  return !isClosed(state) && !isHeld(state) && state.steps.active > 0;
}

/** Whether another run continues this one, which has ended. */
export function isContinued(state: RunState): boolean {
  return state.status === 'CONTINUED';
}

function isStarted({ seq, closedAtUs }: RunState): boolean {
  return seq > 0 && closedAtUs === null;
}

/** Whether no step of a run has begun that has started: it continues another one, and begins with the next tick. */
export function isUnbegun(state: RunState): boolean {
  return isStarted(state) && state.steps.size === 0 && state.gate === null && !isEndDecided(state);
}

/** When the run goes on by itself, microseconds since 1970; null when closed, held, or moved only from outside. */
export function wakeAtUs(state: RunState): number | null {
  if (isClosed(state) || isHeld(state)) return null;
  if (isUnbegun(state)) return state.startedAtUs;
  const gateUs = isEndDecided(state) ? null : gateDueUs(state);
  const stepsUs = state.steps.nextDueUs;
  const nextDueUs = gateUs === null ? stepsUs : Math.min(gateUs, stepsUs ?? gateUs);
  const isTimed = state.cancel === null && state.ending === null && state.compensating === null;
  const deadlineUs = isTimed ? state.deadlineUs : null;
  if (deadlineUs === null) return nextDueUs;
  return nextDueUs === null ? deadlineUs : Math.min(nextDueUs, deadlineUs);
}

/**
 * The value a source names. Throws internal when there is none: sources are recorded after the values they name.
 *
 * @param path of the step that receives it
 */
export function resolveSource(state: RunState, source: ValueSource, path: string): Value {
  return valueOf(state, source, path);
}

/** Output of a closed run, null when it has none. */
export function runOutput(state: RunState): Value | null {
  return state.output === null ? null : resolveSource(state, state.output, '');
}

/** Estimate of the memory a state takes, in bytes; costs nothing, kept as steps change. */
export function stateBytes(state: RunState): number {
  let bytes = 700 + state.input.data.byteLength + state.steps.bytes;
  for (const [key, value] of Object.entries(state.attributes)) bytes += 100 + 2 * (key.length + value.length);
  if (state.signals !== undefined) bytes += boxBytes(state.signals);
  if (state.output?.kind === 'value') bytes += state.output.value.data.byteLength;
  if (state.error !== null) bytes += failureBytes(state.error);
  return bytes;
}
