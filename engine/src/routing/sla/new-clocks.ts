/** The clocks of an assignment that a decision makes, ready to be stored. */
import type { Hours } from '../pipeline/hours.js';
import type { Member, PoolView } from '../pipeline/view.js';
import type { SlaSettings } from '../pipeline/settings.js';
import type { RouteAsk } from '../lane/ask.js';
import { clocksOf, nextLookUs } from './clock.js';
import { lateAsk } from './late-ask.js';
import type { NewClock } from './sql/clocks.js';

/** An assignment that is made. */
export interface MadeAssignment {
  readonly tenantId: string;
  readonly assignmentId: string;
  readonly recipientId: string;
  readonly ask: RouteAsk;
  readonly decidedUs: number;
  /** Whether nobody has to accept it any more. */
  readonly isAccepted: boolean;
}

/** The hours that its clocks go by. */
export function hoursOf(sla: SlaSettings, { hours, members, standbys }: PoolView, recipientId: string): Hours {
  if (!sla.byRecipient) return hours;
  const isIt = ({ id }: Member): boolean => id === recipientId;
  return (members.find(isIt) ?? standbys.find(isIt))?.hours;
}

/** JSON of what is asked for when a clause is broken; null: nothing. */
function againOf({ reroute }: SlaSettings, ask: RouteAsk, was: Parameters<typeof lateAsk>[1]): string | null {
  if (reroute === undefined) return null;
  const late = lateAsk(ask, was, reroute.excludesCurrent);
  return JSON.stringify(reroute.toFallback ? { ...late, isBreached: true } : late);
}

/**
 * Its clocks, by the SLA of its pool. Of work that is routed again because it was late, what was over by then is not
 * told once more; what ran out while it waited is told, and nobody loses the work for it.
 */
export function newClocks(view: PoolView, made: MadeAssignment): readonly NewClock[] {
  const { sla } = view.settings;
  if (sla === undefined) return [];
  const { tenantId, assignmentId, recipientId, ask, decidedUs } = made;
  const times = { receivedUs: ask.routable.receivedUs, decidedUs };
  const clocks = clocksOf(sla, hoursOf(sla, view, recipientId), times, made.isAccepted, ask.pausedUs);
  const again = againOf(sla, ask, { poolId: view.id, recipientId, decidedUs });
  return clocks.map((clock): NewClock => {
    const isTold = ask.isLate === true && clock.dueUs <= (ask.toldUs ?? decidedUs);
    // Nobody had it when its time ran out in a queue: whoever has it now is not the one who was late.
    const isBlamed = !isTold && (ask.waited === undefined || clock.dueUs > decidedUs);
    const stored = {
      ...{ ...clock, tenantId, assignmentId, warnedUs: null, settledUs: null, pausedUs: null },
      stoodUs: ask.pausedUs ?? 0,
      // Told before, with whoever was late: it does not rise once more.
      escalateBy: isTold ? 0 : sla.escalateBy,
      breachedUs: isTold ? decidedUs : null,
    };
    return { ...stored, nextUs: nextLookUs(stored), again: isBlamed ? again : null };
  });
}
