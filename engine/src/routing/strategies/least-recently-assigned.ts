/** Whoever waits longest; never counts as longest. State: the moments in the recipients' facts. */
import type { ParamsOf } from '../../pools/index.js';
import type { RecipientFacts } from '../core/candidate.js';
import { grouped, type Strategy } from './strategy.js';
import { compareMoments } from './tie-chain.js';

const CLOCKS = {
  assigned: 'lastAssignedUs',
  idle: 'lastReleasedUs',
  inbound: 'lastInboundUs',
} as const satisfies Record<string, keyof RecipientFacts>;

/** least_recently_assigned */
export function leastRecentlyAssigned({ clock }: ParamsOf<'least_recently_assigned'>): Strategy {
  const field = CLOCKS[clock];
  return (candidates) => ({
    groups: grouped(candidates, (a, b) => compareMoments(a.facts[field], b.facts[field])),
    ties: 'hash',
  });
}
