/**
 * Which slots have come, and what is to become of each as far as time alone decides it. Pure.
 *
 * A slot that is at most GRACE_MS late is on time, whatever the policy: as much as a takeover by another node takes.
 */
import { formatDurationMs } from '../../kernel/index.js';
import type { CatchUpPolicy } from '../schedule.js';
import { jitterUs } from '../slots/slots.js';
import type { Slots } from '../slots/spec.js';

/** So late a slot may begin and still be on time. */
const GRACE_MS = 10_000;
/** Slots that are planned at once. */
const PAGE_SLOTS = 1_000;

const US_PER_MS = 1_000;

/** A slot whose time has come. */
export interface PlannedSlot {
  readonly slotUs: number;
  readonly dueUs: number;
  readonly outcome: 'due' | 'missed_catch_up';
  readonly reason: string;
}

/** What is to be planned. */
export interface PlanRequest {
  readonly scheduleId: string;
  readonly slots: Slots;
  /** The first slot that was not planned yet. */
  readonly nextSlotUs: number;
  readonly nowUs: number;
  readonly catchUp: CatchUpPolicy;
  readonly catchUpWindowMs: number;
  readonly jitterMs: number;
}

/** What has come, and what comes next. */
export interface SlotPlan {
  readonly planned: readonly PlannedSlot[];
  /** null: there is none any more. */
  readonly nextSlotUs: number | null;
  readonly nextDueUs: number | null;
}

function lateText(lateUs: number): string {
  return `${formatDurationMs(Math.floor(lateUs / 1_000_000) * 1_000)} late`;
}

/** Why a late slot starts nothing, or undefined where it does. */
function whyMissed(request: PlanRequest, lateUs: number, hasFollower: boolean): string | undefined {
  const late = lateText(lateUs);
  if (lateUs > request.catchUpWindowMs * US_PER_MS) {
    return `${late}: beyond the catch-up window of ${formatDurationMs(request.catchUpWindowMs)}`;
  }
  if (request.catchUp === 'none') return `${late}: the catch-up policy is none`;
  if (request.catchUp === 'latest' && hasFollower) return `${late}: a later slot is caught up instead`;
  return undefined;
}

/**
 * Plans the slots that are due, at most PAGE_SLOTS. What lies beyond the window even then is passed over in one jump,
 * and the last row says so: a schedule of every second must not keep an engine busy for hours after a year of absence.
 */
export function planSlots(request: PlanRequest): SlotPlan {
  const { scheduleId, slots, nowUs, jitterMs } = request;
  const dueOf = (slotUs: number): number => slotUs + jitterUs(scheduleId, slotUs, jitterMs);
  const planned: PlannedSlot[] = [];
  let slotUs: number | null = request.nextSlotUs;
  while (slotUs !== null && dueOf(slotUs) <= nowUs && planned.length < PAGE_SLOTS) {
    const following = slots.nextAfter(slotUs);
    const [dueUs, lateUs] = [dueOf(slotUs), nowUs - dueOf(slotUs)];
    const hasFollower = following !== null && dueOf(following) <= nowUs;
    const isLate = lateUs > GRACE_MS * US_PER_MS;
    const missed = isLate ? whyMissed(request, lateUs, hasFollower) : undefined;
    if (missed !== undefined) planned.push({ slotUs, dueUs, outcome: 'missed_catch_up', reason: missed });
    else planned.push({ slotUs, dueUs, outcome: 'due', reason: isLate ? `caught up ${lateText(lateUs)}` : '' });
    slotUs = following;
  }
  const windowUs = nowUs - request.catchUpWindowMs * US_PER_MS;
  if (slotUs !== null && planned.length >= PAGE_SLOTS && dueOf(slotUs) < windowUs) {
    const last = planned.pop();
    slotUs = slots.nextAfter(windowUs);
    if (last !== undefined) {
      planned.push({ ...last, reason: `${last.reason}; so are the slots after it up to the window, not listed` });
    }
  }
  return { planned, nextSlotUs: slotUs, nextDueUs: slotUs === null ? null : dueOf(slotUs) };
}
