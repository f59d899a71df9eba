/** The clocks of an assignment that a decision makes, ready to be stored. */
import type { Hop } from '../pipeline/decision.js';
import type { Hours } from '../pipeline/hours.js';
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
}

function hoursOf(sla: SlaSettings, { snapshot, filtered }: Hop, recipientId: string): Hours {
  if (!sla.byRecipient) return snapshot.view.hours;
  return filtered?.looked.find(({ member }) => member.id === recipientId)?.member.hours;
}

/** Its clocks. Of work that is routed again because it was late, what is over by then is not told once more. */
export function newClocks(sla: SlaSettings, hop: Hop, made: MadeAssignment): readonly NewClock[] {
  const { tenantId, assignmentId, recipientId, ask, decidedUs } = made;
  const { view } = hop.snapshot;
  const times = { receivedUs: ask.routable.receivedUs, decidedUs };
  const clocks = clocksOf(sla, hoursOf(sla, hop, recipientId), times, !view.settings.requiresAcceptance);
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
