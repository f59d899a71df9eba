/**
 * The clock of one clause of an assignment.
 *
 *   running -> warned -> breached | settled        running -> settled
 *
 * It is settled when the clause was kept, or the assignment ended without it (declined, released). What was kept is
 * told by the moments of the assignment, whenever the clock is looked at: late looks change nothing. Invariants: 1. a
 * clause is warned of at most once, and breached at most once; 2. what was done in time is never breached, what was
 * done later always.
 */
import { afterOpenUs } from '../../pools/index.js';
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
 */
export function clocksOf(
  sla: SlaSettings,
  hours: Hours,
  times: { readonly receivedUs: number | undefined; readonly decidedUs: number },
  isAccepted: boolean,
): readonly ClockTimes[] {
  const fromUs = sla.startsWhenReceived ? (times.receivedUs ?? times.decidedUs) : times.decidedUs;
  const clauses: readonly SlaClause[] = ['pickup', 'first_response', 'resolve'];
  return clauses.flatMap((clause) => {
    const withinUs = sla.within[clause];
    if (withinUs === undefined || (clause === 'pickup' && isAccepted)) return [];
    const dueUs = after(fromUs, withinUs, sla, hours);
    const warnUs = after(fromUs, Math.floor((withinUs * sla.warnPct) / 100), sla, hours);
    return dueUs === undefined || warnUs === undefined ? [] : [{ clause, warnUs, dueUs }];
  });
}

/** When the clause was kept; null: not yet. */
function keptUs(clause: SlaClause, { state, committedUs, respondedUs, endedUs }: Progress): number | null {
  const completedUs = state === 'completed' ? endedUs : null;
  if (clause === 'pickup') return committedUs;
  return clause === 'first_response' ? (respondedUs ?? completedUs) : completedUs;
}

/** What is to be done with a clock now. */
export function stepOf({ clause, warnUs, dueUs, warnedUs, breachedUs }: SlaClock, now: Progress, nowUs: number): Step {
  if (breachedUs !== null) return 'settle';
  const kept = keptUs(clause, now);
  if (kept !== null) return kept <= dueUs ? 'settle' : 'breach';
  if (now.endedUs !== null) return now.endedUs <= dueUs ? 'settle' : 'breach';
  if (nowUs >= dueUs) return 'breach';
  return warnedUs === null && nowUs >= warnUs ? 'warn' : 'wait';
}

/** When to look at it next; null: never. */
export function nextLookUs({ warnUs, dueUs, warnedUs, breachedUs, settledUs }: SlaClock): number | null {
  if (breachedUs !== null || settledUs !== null) return null;
  return warnedUs === null ? Math.min(warnUs, dueUs) : dueUs;
}
