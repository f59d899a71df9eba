/**
 * The clock of one clause of an assignment.
 *
 *   running -> warned -> breached | settled        running -> settled        running, warned <-> paused
 *
 * It is settled when the clause was kept, or the assignment ended without it (declined, released). What was kept is
 * told by the moments of the assignment, whenever the clock is looked at: late looks change nothing. Invariants: 1. a
 * clause is warned of at most once, and breached at most once; 2. what was done in time is never breached, what was
 * done later always; 3. while it stands still it is neither warned of nor breached, but for what was due before; 4. it
 * is due once so much of its time has passed in which it did not stand still.
 */
import { afterOpenUs, openUsBetween } from '../../pools/index.js';
import type { Hours } from '../pipeline/hours.js';
import type { SlaClause, SlaSettings } from '../pipeline/settings.js';

/** When a clause is due, microseconds since 1970. */
export interface ClockTimes {
  readonly clause: SlaClause;
  readonly warnUs: number;
  readonly dueUs: number;
}

/** A clock. */
export interface SlaClock extends ClockTimes {
  readonly warnedUs: number | null;
  readonly breachedUs: number | null;
  readonly settledUs: number | null;
  /** Since when it stands still; null: it runs. */
  readonly pausedUs: number | null;
  /** How much of its time it has stood still before, us. */
  readonly stoodUs: number;
}

/** The moments of an assignment; null: not yet, or never. */
export interface Progress {
  readonly state: string;
  readonly committedUs: number | null;
  readonly respondedUs: number | null;
  readonly endedUs: number | null;
}

/** What a look at a clock came to. */
export type Step = 'wait' | 'warn' | 'breach' | 'settle';

/** The same distance in open or in all time; undefined: it never comes. */
function after(fromUs: number, withinUs: number, { isBusiness }: SlaSettings, hours: Hours): number | undefined {
  if (!isBusiness || hours === undefined) return fromUs + withinUs;
  return 'isShut' in hours ? undefined : afterOpenUs(hours, fromUs, withinUs);
}

/**
 * The clocks of an assignment that is made.
 *
 * @param hours of the pool, or of the recipient where the SLA goes by those
 * @param isAccepted whether nobody has to accept it: then it is picked up already
 * @param stoodUs how much of their time clocks of this work stood still before. Default: none
 */
export function clocksOf(
  sla: SlaSettings,
  hours: Hours,
  times: { readonly receivedUs: number | undefined; readonly decidedUs: number },
  isAccepted: boolean,
  stoodUs = 0,
): readonly ClockTimes[] {
  const fromUs = sla.startsWhenReceived ? (times.receivedUs ?? times.decidedUs) : times.decidedUs;
  const clauses: readonly SlaClause[] = ['pickup', 'first_response', 'resolve'];
  return clauses.flatMap((clause) => {
    const withinUs = sla.within[clause];
    if (withinUs === undefined || (clause === 'pickup' && isAccepted)) return [];
    const dueUs = after(fromUs, withinUs + stoodUs, sla, hours);
    const warnUs = after(fromUs, Math.floor((withinUs * sla.warnPct) / 100) + stoodUs, sla, hours);
    return dueUs === undefined || warnUs === undefined ? [] : [{ clause, warnUs, dueUs }];
  });
}

/** When the clause was kept; null: not yet. */
function keptUs(clause: SlaClause, { state, committedUs, respondedUs, endedUs }: Progress): number | null {
  const completedUs = state === 'completed' ? endedUs : null;
  if (clause === 'pickup') return committedUs;
  return clause === 'first_response' ? (respondedUs ?? completedUs) : completedUs;
}

/** Whether a clause whose time is over by then was not kept. */
export function isBroken({ clause, dueUs }: Pick<ClockTimes, 'clause' | 'dueUs'>, now: Progress): boolean {
  const doneUs = keptUs(clause, now) ?? now.endedUs;
  return doneUs === null || doneUs > dueUs;
}

/** What is to be done with a clock now. */
export function stepOf(clock: SlaClock, now: Progress, nowUs: number): Step {
  const { clause, warnUs, dueUs, warnedUs, breachedUs, pausedUs } = clock;
  if (breachedUs !== null) return 'settle';
  const isDone = keptUs(clause, now) !== null || now.endedUs !== null;
  // It did not run out before it stood still, and does not run since.
  if (pausedUs !== null) return isDone ? 'settle' : warnedUs === null && pausedUs >= warnUs ? 'warn' : 'wait';
  if (isDone) return isBroken(clock, now) ? 'breach' : 'settle';
  if (nowUs >= dueUs) return 'breach';
  return warnedUs === null && nowUs >= warnUs ? 'warn' : 'wait';
}

/** When to look at it next; null: never. */
export function nextLookUs({ warnUs, dueUs, warnedUs, breachedUs, settledUs, pausedUs }: SlaClock): number | null {
  if (breachedUs !== null || settledUs !== null) return null;
  if (pausedUs !== null) return warnedUs === null && warnUs <= pausedUs ? warnUs : null;
  return warnedUs === null ? Math.min(warnUs, dueUs) : dueUs;
}

/** The clock from when it stands still; the same when that changes nothing: it is over, or has run out. */
export function paused<Clock extends SlaClock>(clock: Clock, now: Progress, nowUs: number): Clock {
  const { clause, dueUs, breachedUs, settledUs, pausedUs } = clock;
  const isOver = breachedUs !== null || settledUs !== null || keptUs(clause, now) !== null || nowUs >= dueUs;
  return isOver || pausedUs !== null ? clock : { ...clock, pausedUs: nowUs };
}

/**
 * The clock that runs again: what has not come by then is due later, by as much of its time as it stood still.
 *
 * @param hours as for clocksOf, as they are now
 */
export function resumed<Clock extends SlaClock>(clock: Clock, isBusiness: boolean, hours: Hours, nowUs: number): Clock {
  const { warnUs, dueUs, warnedUs, pausedUs, stoodUs } = clock;
  if (pausedUs === null) return clock;
  const opening = isBusiness && hours !== undefined && !('isShut' in hours) ? hours : undefined;
  const still = openUsBetween(opening, pausedUs, nowUs);
  const later = (us: number): number => afterOpenUs(opening, us, still) ?? us + still;
  return {
    ...clock,
    warnUs: warnedUs === null && warnUs > pausedUs ? later(warnUs) : warnUs,
    ...{ dueUs: later(dueUs), pausedUs: null, stoodUs: stoodUs + still },
  };
}
