/** Hands attempts out, with the time by which a worker must have begun. */
import { callbackAt, emit, type Tick } from './tick.js';
import { storableUs } from './timestamp.js';
import type { StepKeys } from './state.js';
import type { ValueSource } from './value.js';

/**
 * Schedules an attempt: from now on a worker may have it.
 *
 * @param input of the first attempt; null: that of the first
 * @param keys of the first attempt; default: those of the first, or the default ones
 */
export function schedule(
  tick: Tick,
  path: string,
  attempt: number,
  input: ValueSource | null,
  keys: StepKeys | null = null,
): void {
  const startBy = startByUs(tick, path);
  emit(tick, {
    ...{ kind: 'step_scheduled', path, attempt, input, startByUs: startBy },
    ...(keys === null ? {} : { keys }),
  });
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
