/** Hands attempts out, with the time by which a worker must have begun; first what they need has to be granted. */
import type { Want } from '../../capacity/index.js';
import { awaitedGate, newTicket } from './gate-state.js';
import type { Disposition, RunInput } from './inputs.js';
import { callbackAt, emit, type Tick } from './tick.js';
import { storableUs } from './timestamp.js';
import type { StepKeys } from './state.js';
import type { ValueSource } from './value.js';

/** What the first attempt of a step brings; later ones have it from there. */
export interface FirstAttempt {
  readonly input: ValueSource;
  /** Null: all are the default ones. */
  readonly keys: StepKeys | null;
  /** What has to be granted before each attempt; empty: nothing. */
  readonly wants: readonly Want[];
}

/**
 * Lets the next attempt of a step begin as soon as what it needs is granted: from then on a worker may have it.
 *
 * @param first of the first attempt; null: a later one
 */
export function schedule(tick: Tick, path: string, first: FirstAttempt | null): void {
  const step = tick.draft.steps.get(path);
  const wants = first?.wants ?? step?.gate?.wants ?? [];
  if (wants.length === 0 || step?.gate?.state === 'held') return handOut(tick, path, first);
  const ticket = newTicket(tick.draft);
  const [input, keys] = [first?.input ?? null, first?.keys ?? null];
  emit(tick, { kind: 'step_asked', path, ticket, wants, input, keys, giveUpUs: startByUs(tick, path) });
  const startAtUs = tick.gate.ask(path, ticket, wants);
  if (startAtUs !== null) granted(tick, path, startAtUs);
}

/** A step was granted what it asked for: it begins, or waits for the time that a rate gave it. */
function granted(tick: Tick, path: string, startAtUs: number): void {
  const atUs = startAtUs <= tick.nowUs ? 0 : storableUs(startAtUs);
  emit(tick, { kind: 'step_granted', path, startAtUs: atUs });
  if (atUs === 0) handOut(tick, path, null);
}

/** A step was granted what it waits for, or may ask again. */
export function applyStepTurn(tick: Tick, input: RunInput & { readonly kind: 'semaphore' }): Disposition {
  const { path } = input;
  const gate = awaitedGate(tick.draft, input);
  if (gate === undefined) return 'ignored';
  const startAtUs = input.startAtUs ?? tick.gate.ask(path, gate.ticket, gate.wants);
  if (startAtUs === null) return 'ignored';
  granted(tick, path, startAtUs);
  return 'applied';
}

function handOut(tick: Tick, path: string, first: FirstAttempt | null): void {
  const attempt = (tick.draft.steps.get(path)?.attempt ?? 0) + 1;
  const input = first?.input ?? null;
  const keys = first?.keys ?? null;
  const startsByUs = startByUs(tick, path);
  // Written out: it is made for every attempt, and objects spread together are slow.
  if (keys === null) emit(tick, { kind: 'step_scheduled', path, attempt, input, startByUs: startsByUs });
  else emit(tick, { kind: 'step_scheduled', path, attempt, input, startByUs: startsByUs, keys });
  tick.scheduled.add(path);
  tick.commands.push({ kind: 'dispatch', path, attempt });
}

/** When a worker must have begun the attempt scheduled now; null: whenever. */
function startByUs(tick: Tick, path: string): number | null {
  const { retry, scheduleToStartTimeoutMs } = callbackAt(tick, path);
  if (scheduleToStartTimeoutMs === null && retry.totalTimeoutMs === null) return null;
  const known = tick.draft.steps.get(path)?.firstAtUs ?? 0;
  const firstAtUs = known === 0 ? tick.nowUs : known;
  const totalUs = retry.totalTimeoutMs === null ? null : firstAtUs + retry.totalTimeoutMs * 1000;
  if (scheduleToStartTimeoutMs === null) return totalUs === null ? null : storableUs(totalUs);
  return earliest(tick.nowUs + scheduleToStartTimeoutMs * 1000, totalUs);
}

/** The earlier of two times, the second of which may be never, as it can be stored. */
export function earliest(oneUs: number, otherUs: number | null): number {
  return storableUs(otherUs === null ? oneUs : Math.min(oneUs, otherUs));
}
