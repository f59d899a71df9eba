/**
 * Which tier, tenant and group are ready, and which tier is next: the one that was served least for its weight.
 *
 * A group is ready in a tier when a lane of it has a task there and a session may have the room for it. A tenant is in
 * the turn of a tier while one of its groups is ready there.
 */
import { impossible } from '../../kernel/index.js';
import type { LinkedList } from './linked-list.js';
import { type Group, type GroupTier, Tier, TIERS } from './parts.js';
import { hasSavedUp } from './saving.js';

/** Each tier is served twice as much as the next one, where both have something ready. */
const WEIGHTS: readonly number[] = Array.from({ length: TIERS }, (_, tier) => 2 ** (TIERS - 1 - tier));

/** The tiers. */
export class TierTurns<S> {
  readonly #tiers: readonly Tier<S>[] = WEIGHTS.map((weight, tier) => new Tier<S>(tier, weight));
  /** What the tier that was served last had been served: a tier that becomes ready has missed nothing. */
  #served = 0;
  /** Groups that ran out of room with tasks waiting, since takeStarved was last called. */
  #starved: Group<S>[] = [];

  /** Whether something is ready. */
  get hasWork(): boolean {
    return this.#tiers.some(({ turn }) => turn.size > 0);
  }

  /** The tier at a place. */
  at(place: number): Tier<S> {
    return this.#tiers[place] ?? impossible('queue-tier', String(place));
  }

  /** The ready tier that was served least for its weight. */
  next(): Tier<S> | undefined {
    let next: Tier<S> | undefined;
    for (const tier of this.#tiers) {
      if (tier.turn.size > 0 && (next === undefined || tier.served < next.served)) next = tier;
    }
    return next;
  }

  /** The tier gave out a task of this cost. */
  charge(tier: Tier<S>, cost: number): void {
    this.#served = tier.served;
    tier.served += cost / tier.weight;
  }

  /** Sessions that tasks wait for and that have no room, of the kinds that ran out of it since the last call. */
  takeStarved(): readonly S[] {
    if (this.#starved.length === 0) return [];
    const groups = this.#starved.filter(({ isStarved }) => isStarved);
    this.#starved = [];
    return groups.flatMap(({ members }) => [...members].map(({ session }) => session));
  }

  /** Puts the group where it belongs in each tier: among the ready ones or not, and its tenant in the turn or not. */
  settle(group: Group<S>): void {
    const hasRoom = group.available.size > 0;
    for (const at of group.tiers) this.#settleIn(at, hasRoom);
    const isStarved = !hasRoom && group.waiting > 0;
    if (isStarved && !group.isStarved) this.#starved.push(group);
    group.isStarved = isStarved;
  }

  #settleIn(at: GroupTier<S>, hasRoom: boolean): void {
    const tenant = at.group.tenant.tiers[at.tier];
    const tier = this.#tiers[at.tier];
    if (tenant === undefined || tier === undefined) return;
    const isReady = at.waiting > 0 && ((hasRoom && !at.isBlocked) || hasSavedUp(at.group, at.tier));
    if (isReady) tenant.ready.push(at.node);
    else if (!tenant.ready.delete(at.node)) return;
    if (tenant.ready.size > 0) {
      // A tier that had nothing ready has missed nothing.
      if (tier.turn.size === 0) tier.served = Math.max(tier.served, this.#served);
      tier.turn.push(tenant.node);
    } else if (tier.turn.delete(tenant.node)) {
      // An unused share does not add up; what was taken too much stays owed.
      tenant.deficit = Math.min(0, tenant.deficit);
    }
  }
}

/** Whose turn it is of those in a list; each visit adds the quantum to what one may take. */
export function nextByDeficit<T extends { deficit: number }>(list: LinkedList<T>, quantum: number): T | undefined {
  let next = list.first;
  while (next !== undefined && next.deficit <= 0) {
    next.deficit += quantum;
    list.rotate();
    next = list.first;
  }
  return next;
}
