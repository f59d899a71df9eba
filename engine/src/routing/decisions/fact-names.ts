/** Short names of the facts of a recipient in a record. */
import type { RecipientFacts } from '../core/candidate.js';

/** Moments are written as the time before the decision, which is shorter. */
const MOMENTS: ReadonlySet<keyof RecipientFacts> = new Set([
  'lastAssignedUs',
  'lastReleasedUs',
  'lastInboundUs',
  'inRotationSinceUs',
  'cooldownUntilUs',
  'probeUntilUs',
  'latencyAtUs',
  'ratedAtUs',
]);

/** Short names of facts, in the order in which they are written. */
export const FACT_NAMES = {
  held: 'h',
  committed: 'k',
  admittedToday: 'a',
  committedToday: 'b',
  lastAssignedUs: 'la',
  lastReleasedUs: 'lr',
  lastInboundUs: 'li',
  inRotationSinceUs: 'rs',
  cooldownUntilUs: 'cu',
  isEjected: 'ej',
  limitEpisode: 'lp',
  probeUntilUs: 'pu',
  latencyUs: 'ly',
  latencyAtUs: 'lt',
  successMilli: 'sm',
  failureMilli: 'fm',
  ratedAtUs: 'rt',
  responses: 'rp',
} as const satisfies Record<keyof RecipientFacts, string>;

/** Whether a fact is a moment. */
export function isMoment(name: keyof RecipientFacts): boolean {
  return MOMENTS.has(name);
}

function isFactKey(key: string): key is keyof RecipientFacts {
  return Object.hasOwn(FACT_NAMES, key);
}

/** Names of facts as keys, in the order in which they are written. */
export const FACT_KEYS: readonly (keyof RecipientFacts)[] = Object.keys(FACT_NAMES).filter(isFactKey);
