/**
 * A run that is paused or parked begins nothing: what ends is recorded, and what comes due waits until it is resumed. A
 * cancel, an end and the time of the run end the pause.
 */
import type { Entry, RunState } from '../../../engine/src/workflow/machine/index.js';
import type { Sim } from '../core/sim.js';

/** Entries by which something begins. */
const BEGINNINGS: ReadonlySet<Entry['kind']> = new Set([
  'step_scheduled',
  'step_waiting',
  'step_awaiting',
  'step_opened',
  'step_selecting',
  'slate_reserved',
  'claim_queued',
  'route_queued',
  'child_started',
  'run_continuing',
] as const);

/** Entries by which a run goes on, be it to its end. */
const GOES_ON: ReadonlySet<Entry['kind']> = new Set([
  'run_resumed',
  'cancel_requested',
  'run_terminated',
  'run_failing',
  'run_ending',
  'run_compensating',
] as const);

const ENDS: ReadonlySet<Entry['kind']> = new Set(['step_completed', 'step_failed', 'attempt_failed'] as const);

/** Looks at a row, before it is folded. */
export function checkHeld(sim: Sim, before: RunState, entries: readonly Entry[], where: string): void {
  if (before.paused === null && before.parked === null) return;
  // Whoever is being ended is held by nothing.
  if (before.cancel !== null || before.compensating !== null) return;
  let isHeld = true;
  for (const { kind } of entries) {
    if (GOES_ON.has(kind)) isHeld = false;
    if (isHeld && BEGINNINGS.has(kind)) sim.violate(`${where}: ${kind} while the run is held`);
    if (isHeld && ENDS.has(kind)) sim.marks.reach('result_while_paused');
  }
}
