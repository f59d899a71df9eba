/**
 * What becomes of the slots of one schedule that are due, by what runs. Pure.
 *
 * A slot that is `starting` was decided before; it counts as running until its start is known.
 */
import type { OverlapPolicy, SlotOutcome } from '../schedule.js';

/** A slot that waits for its decision, or for its start. */
export interface OpenSlot {
  readonly slotUs: number;
  readonly overlap: OverlapPolicy;
  readonly outcome: Extract<SlotOutcome, 'due' | 'starting' | 'buffered'>;
}

/** A run of an earlier slot that has not ended. */
export interface RunningSlot {
  readonly slotUs: number;
  readonly runId: string;
}

/** What is decided. */
export interface SlotDecision {
  readonly slotUs: number;
  readonly outcome: 'starting' | 'buffered' | 'skipped_overlap';
  readonly reason: string;
}

/** All decisions, and runs to cancel before they are written down. */
export interface Decisions {
  readonly decisions: readonly SlotDecision[];
  readonly cancel: readonly string[];
}

/** A slot as people read it. */
function slotText(slotUs: number): string {
  return new Date(slotUs / 1_000).toISOString().replace('.000Z', 'Z');
}

/** What holds a slot up: the run of an earlier one, or one that is just being started. */
function inTheWay(running: readonly RunningSlot[], startingUs: number | undefined): string | undefined {
  const [first] = running;
  if (first !== undefined) return `run ${first.runId} of ${slotText(first.slotUs)} has not ended`;
  return startingUs === undefined ? undefined : `the slot ${slotText(startingUs)} is just being started`;
}

/**
 * Decides.
 *
 * @param open ascending by slot
 * @param running runs of earlier slots that have not ended
 */
export function decideSlots(open: readonly OpenSlot[], running: readonly RunningSlot[]): Decisions {
  const decisions: SlotDecision[] = [];
  const cancel = new Set<string>();
  const waiting = open.filter(({ outcome }) => outcome !== 'starting');
  let startingUs = open.find(({ outcome }) => outcome === 'starting')?.slotUs;
  let bufferedUs: number | undefined;
  const newestUs = waiting.filter(({ overlap }) => overlap === 'cancel_previous').at(-1)?.slotUs;
  const start = (slotUs: number): void => {
    decisions.push({ slotUs, outcome: 'starting', reason: '' });
    startingUs ??= slotUs;
  };
  for (const { slotUs, overlap, outcome } of waiting) {
    const buffer = (reason: string): void => {
      bufferedUs = slotUs;
      if (outcome !== 'buffered') decisions.push({ slotUs, outcome: 'buffered', reason });
    };
    const leaveOut = (reason: string): void => void decisions.push({ slotUs, outcome: 'skipped_overlap', reason });
    const obstacle = inTheWay(running, startingUs);
    if (overlap === 'cancel_previous' && newestUs !== undefined && newestUs !== slotUs) {
      leaveOut(`the slot ${slotText(newestUs)} takes its place`);
    } else if (overlap === 'allow' || obstacle === undefined) start(slotUs);
    else if (overlap === 'skip') leaveOut(obstacle);
    else if (overlap === 'cancel_previous') {
      for (const { runId } of running) cancel.add(runId);
      buffer(`waits for the end of what it cancelled: ${obstacle}`);
    } else if (bufferedUs === undefined) buffer(obstacle);
    else leaveOut(`the slot ${slotText(bufferedUs)} waits already`);
  }
  return { decisions, cancel: [...cancel] };
}
