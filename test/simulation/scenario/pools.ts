/** Pools that simulated runs select from and route to: a few recipients, some of them with little room. */
import { recipientOf, snapshotOf } from '../../../engine/src/routing/testing/decision-kit.js';
import { idOf } from '../../../engine/src/routing/testing/strategy-kit.js';
import type { MemoryDatabase } from '../../../engine/src/workflow/testing/memory-database.js';
import type { MemoryPool } from '../../../engine/src/workflow/testing/memory-reservations.js';
import type { Choices } from '../core/choices.js';
import { TENANTS } from './draw.js';

/** Name of the pool that every tenant has. */
export const SIMULATED_POOL = 'fixture-buyers';

const CAPACITIES = [{ max_concurrent: 1 }, { max_concurrent: 2 }, { max_concurrent: 3, daily_limit: 40 }, {}];

const POND_CAPACITIES = [{ max_concurrent: 1 }, { max_concurrent: 2 }, { max_concurrent: 2 }, {}];

/** Most of those who claim share a budget; the first one has none but its own. */
const POND_TEAMS = ['', 'west', 'west', 'west'];

/** Claims that a team, or who is in none, may have open in a pond. */
export const POND_OPEN = 2;

/** Name of another one. */
export const SECOND_POOL = 'fixture-desks';

/** Gives each tenant pools with recipients of its own. */
export function openPools({ reservations }: MemoryDatabase, tenants: readonly string[]): void {
  for (const tenantId of tenants) {
    reservations.add(poolOf(tenantId, CAPACITIES));
    reservations.add(secondOf(tenantId));
  }
}

/** Name of the pool whose work is claimed. */
export const POND = 'fixture-pond';

/** Gives each tenant a pool whose work waits to be claimed, by two at first. */
export function openPonds({ reservations }: MemoryDatabase, tenants: readonly string[]): void {
  for (const tenantId of tenants) {
    const index = TENANTS.indexOf(tenantId);
    const recipients = POND_CAPACITIES.map((capacity, at) => {
      const attributes = { team: { string_value: POND_TEAMS[at] } };
      return recipientOf(100 * (index + 1) + at, { capacity, attributes });
    });
    const claim = {
      ...{ claim_ttl: '20s', waves: [{ size: 2 }, { after: '2s' }], cooldown_after_release: '1s' },
      budget: { max_claims: 20, period: { rolling: '1m' }, max_open: POND_OPEN, scope: 'team' },
    };
    const config = { routing_mode: 'claim', claim_queue_id: idOf(7_000 + index), claim };
    const { view } = snapshotOf(970 + index, { name: POND, strategy: 'least_loaded', config }, recipients);
    reservations.add({ tenantId, name: POND, view });
  }
}

/** Names of the pools of seats and of models. */
export const SEAT_POOL = 'fixture-seats';
export const MODEL_POOL = 'fixture-models';

const SEATS = [{}, { weight: 2 }, {}].map((fields) => ({ ...fields, type: 'account_seat' }));
const MODELS = [0, 0, 1, 2].map((tier) => ({ tier, type: 'model' }));
/** Nobody is ejected: who is left out has a rate limit. */
const HEALTH = { consecutive: 0, base: '1s' };

/** Gives each tenant a pool of seats and one of models, in tiers. */
export function openSeats({ reservations }: MemoryDatabase, tenants: readonly string[]): void {
  for (const tenantId of tenants) {
    const index = TENANTS.indexOf(tenantId);
    const add = (number: number, name: string, strategy: object, fields: readonly object[]): void => {
      const recipients = fields.map((each, at) => recipientOf(number * 10 + at, each));
      const config = { health: HEALTH, strategy_tree: strategy };
      reservations.add({ tenantId, name, view: snapshotOf(number, { name, config }, recipients).view });
    };
    const params = { probe_timeout: '2s', max_cooldown: '20s' };
    const inTurn = ['smooth_weighted_round_robin'];
    add(980 + index, SEAT_POOL, { strategy: 'seat_affinity', params, of: inTurn }, SEATS);
    const ladder = { min_success_rate: 0.5, min_samples: 3 };
    add(990 + index, MODEL_POOL, { strategy: 'escalate_on_retry', params: ladder, of: ['round_robin'] }, MODELS);
  }
}

/** Name of the pool whose work waits until somebody is free. */
export const BENCH = 'fixture-bench';

/** Gives each tenant a pool with a queue, and one seat that is seldom free: whoever has it waits for it, too. */
export function openBenches({ reservations }: MemoryDatabase, tenants: readonly string[]): void {
  for (const tenantId of tenants) {
    const index = TENANTS.indexOf(tenantId);
    const seat = recipientOf(100 * (index + 1) + 50, { type: 'account_seat', capacity: { max_concurrent: 1 } });
    const tree = { strategy: 'seat_affinity', of: ['least_loaded'] };
    const config = { fallback: { kind: 'queue' }, queue: { ttl: '2s', max_depth: 40 }, health: HEALTH };
    const fields = { name: BENCH, config: { ...config, strategy_tree: tree } };
    const { view } = snapshotOf(960 + index, fields, [seat]);
    reservations.add({ tenantId, name: BENCH, view });
  }
}

/** Gives a pool other capacities: what is held stays held. */
export function changeRoom({ reservations }: MemoryDatabase, tenantId: string, choices: Choices): void {
  const at = reservations.pools.findIndex((pool) => pool.tenantId === tenantId);
  const other = CAPACITIES.map(() => choices.pick(CAPACITIES) ?? {});
  reservations.pools.splice(at, 1, poolOf(tenantId, other));
}

/** Who is in it has room for all the work that is ever routed: nobody completes it. */
function secondOf(tenantId: string): MemoryPool {
  const index = TENANTS.indexOf(tenantId);
  const recipients = [{}, { max_concurrent: 3 }].map((capacity, at) =>
    recipientOf(10 * (index + 1) + 5 + at, { capacity }),
  );
  const { view } = snapshotOf(950 + index, { name: SECOND_POOL, strategy: 'least_loaded' }, recipients);
  return { tenantId, name: SECOND_POOL, view };
}

function poolOf(tenantId: string, capacities: readonly object[]): MemoryPool {
  const index = TENANTS.indexOf(tenantId);
  const recipients = capacities.map((capacity, at) => recipientOf(10 * (index + 1) + at, { capacity }));
  const { view } = snapshotOf(900 + index, { name: SIMULATED_POOL, strategy: 'round_robin' }, recipients);
  return { tenantId, name: SIMULATED_POOL, view };
}
