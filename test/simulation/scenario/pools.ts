/** Pools that simulated runs select from: a few recipients, some of them with little room. */
import { recipientOf, snapshotOf } from '../../../engine/src/routing/testing/decision-kit.js';
import type { MemoryDatabase } from '../../../engine/src/workflow/testing/memory-database.js';
import { TENANTS } from './draw.js';

/** Name of the pool that every tenant has. */
export const SIMULATED_POOL = 'fixture-buyers';

const CAPACITIES = [{ max_concurrent: 1 }, { max_concurrent: 2 }, { max_concurrent: 3, daily_limit: 40 }, {}];

/** Gives each tenant a pool with recipients of its own. */
export function openPools({ reservations }: MemoryDatabase): void {
  for (const [index, tenantId] of TENANTS.entries()) {
    const recipients = CAPACITIES.map((capacity, at) => recipientOf(10 * (index + 1) + at, { capacity }));
    const { view } = snapshotOf(900 + index, { name: SIMULATED_POOL, strategy: 'round_robin' }, recipients);
    reservations.add({ tenantId, name: SIMULATED_POOL, view });
  }
}
