/** Figures of a pool over its members. */
import { DuctorError } from '../../kernel/index.js';
import type { RecipientCounters } from '../ports.js';
import type { Member } from './sql/list-members.js';

/** Figures of a pool. Units count over members with a limit, because the others have no share of one. */
export interface PoolStats {
  readonly totalRecipients: number;
  /** In use and available. */
  readonly activeRecipients: number;
  readonly unlimitedRecipients: number;
  readonly totalCapacity: number;
  /** Committed and reserved units of members with a limit. */
  readonly usedCapacity: number;
  /** Reserved units of all members. */
  readonly held: number;
  /** usedCapacity / totalCapacity; null when no member has a limit. */
  readonly utilization: number | null;
}

/** The figures. Throws capacity_authority_unavailable when a member's counters are missing: 0 would be a guess. */
export function statsOf(members: readonly Member[], counters: ReadonlyMap<string, RecipientCounters>): PoolStats {
  const sums = { activeRecipients: 0, unlimitedRecipients: 0, totalCapacity: 0, usedCapacity: 0, held: 0 };
  for (const { recipientId, isActive, maxConcurrent } of members) {
    const counted = counters.get(recipientId);
    if (counted === undefined) {
      throw new DuctorError('capacity_authority_unavailable', `nothing is counted for recipient ${recipientId}`);
    }
    if (isActive) sums.activeRecipients += 1;
    sums.held += counted.held;
    if (maxConcurrent === 0) {
      sums.unlimitedRecipients += 1;
      continue;
    }
    sums.totalCapacity += maxConcurrent;
    sums.usedCapacity += counted.committed + counted.held;
  }
  const { totalCapacity, usedCapacity } = sums;
  const utilization = totalCapacity === 0 ? null : usedCapacity / totalCapacity;
  return { ...sums, totalRecipients: members.length, utilization };
}
