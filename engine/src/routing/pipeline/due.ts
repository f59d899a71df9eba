/** When a response to work is due, by the SLA of its pool. */
import { afterOpenUs } from '../../pools/index.js';
import type { DecisionInput, PoolSnapshot } from './decision.js';

type Asked = Pick<DecisionInput, 'nowUs' | 'routable'>;

/**
 * The moment of the first clause of the SLA; undefined: there is none, or it never comes since the pool hardly opens.
 * A snapshot out of a record brings what was worked out then: zone data of another runtime must not decide anew.
 */
export function dueUsOf({ view, dueUs }: PoolSnapshot, { nowUs, routable }: Asked): number | undefined {
  const { sla } = view.settings;
  if (sla?.respondWithinUs === undefined) return undefined;
  const fromUs = sla.startsWhenReceived ? (routable.receivedUs ?? nowUs) : nowUs;
  if (!sla.isBusiness) return fromUs + sla.respondWithinUs;
  if (dueUs !== undefined) return dueUs ?? undefined;
  const { hours } = view;
  return hours !== undefined && 'isShut' in hours ? undefined : afterOpenUs(hours, fromUs, sla.respondWithinUs);
}
