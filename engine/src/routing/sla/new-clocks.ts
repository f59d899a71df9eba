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

function hoursOf(sla: SlaSettings, { hours, members, standbys }: PoolView, recipientId: string): Hours {
  if (!sla.byRecipient) return hours;
  const isIt = ({ id }: Member): boolean => id === recipientId;
  return (members.find(isIt) ?? standbys.find(isIt))?.hours;
}

/**
 * Its clocks, by the SLA of its pool. Of work that is routed again because it was late, what is over by then is not
 * told once more.
 */
export function newClocks(view: PoolView, made: MadeAssignment): readonly NewClock[] {
  const { sla } = view.settings;
  if (sla === undefined) return [];
  const { tenantId, assignmentId, recipientId, ask, decidedUs } = made;
  const times = { receivedUs: ask.routable.receivedUs, decidedUs };
  const clocks = clocksOf(sla, hoursOf(sla, view, recipientId), times, made.isAccepted);
  const { reroute } = sla;
  const again =
    reroute === undefined
      ? null
      : JSON.stringify(lateAsk(ask, { poolId: view.id, recipientId, decidedUs }, reroute.excludesCurrent));
  return clocks.map((clock): NewClock => {
    const isOver = ask.isLate === true && clock.dueUs <= decidedUs;
    const stored = {
      ...{ ...clock, tenantId, assignmentId, warnedUs: null, settledUs: null },
      breachedUs: isOver ? decidedUs : null,
    };
    return { ...stored, nextUs: nextLookUs(stored), again: isOver ? null : again };
  });
}
