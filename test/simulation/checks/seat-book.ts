/**
 * Seats by what was decided and reported, kept beside the tables.
 *
 * - a family has the seat that it got, as long as that may be chosen, and what the tables say is that seat
 * - nobody is given a recipient whose rate limit lasts; a rate limit never becomes shorter
 * - one owner at a time tries a seat whose rate limit is over
 * - a family never goes below the tier that it has come to, as long as somebody there may be chosen
 * - once the gate lane has ended a family, nothing is bound to it any more
 */
import type { Family } from '../../../engine/src/capacity/index.js';
import { msOf } from '../../../engine/src/pools/index.js';
import { poolKeyText, type PoolView } from '../../../engine/src/routing/index.js';
import type { MadeDecision } from '../../../engine/src/workflow/coordinator/gate-ports.js';
import type { MemoryDatabase } from '../../../engine/src/workflow/testing/memory-database.js';
import { familyRuns } from '../../../engine/src/workflow/testing/memory-families.js';
import type { MemoryReport, MemoryReported } from '../../../engine/src/workflow/testing/memory-seats.js';
import type { Sim } from '../core/sim.js';

/** What was chosen for a family, in a pool with seats or tiers. */
interface Choice {
  readonly view: PoolView;
  readonly owner: string;
  readonly slate: readonly string[];
  readonly excluded: ReadonlySet<string>;
  readonly nowUs: number;
}

/** Families that have something in a pool. */
interface Having {
  readonly owner: string;
  readonly poolId: string;
}

interface Seat extends Having {
  readonly recipientId: string;
}

interface Height extends Having {
  readonly tier: number;
}

function choiceOf({ ask, decision }: MadeDecision): Choice | undefined {
  const view = decision.hops.at(-1)?.snapshot.view;
  const { family: owner, excluded } = ask;
  if (view === undefined || owner === undefined || decision.outcome !== 'assigned') return undefined;
  const slate = decision.slate.map(({ id }) => id);
  return { view, owner, slate, excluded: new Set(excluded), nowUs: decision.input.nowUs };
}

/** See above. */
export class SeatBook {
  readonly #seats = new Map<string, Seat>();
  readonly #heights = new Map<string, Height>();
  /** Who tries a seat, and until when. */
  readonly #trials = new Map<string, { readonly owner: string; readonly untilUs: number }>();

  constructor(
    readonly sim: Sim,
    readonly db: MemoryDatabase,
  ) {}

  /** Decisions of a batch that is written, in order. */
  decided(made: readonly MadeDecision[]): void {
    for (const each of made) {
      const choice = choiceOf(each);
      if (choice === undefined || choice.slate.length === 0) continue;
      this.#noneCooling(choice);
      if (choice.view.compiled.seats !== undefined) this.#seated(choice);
      else if (choice.view.compiled.affinityKeys.some(({ kind }) => kind === 'tier/')) this.#climbed(choice);
    }
  }

  /** Families that a batch had locked. */
  ended(families: readonly Family[]): void {
    const { reservations } = this.db;
    const over = families.filter((family) => reservations.isOver(family, (each) => familyRuns(this.db, each)));
    const owners = over.map(({ rootId }) => rootId);
    this.forget(owners);
    for (const { owner, poolId } of reservations.seats.lasting) {
      if (owners.includes(owner)) this.sim.violate(`family ${owner} has ended and is still bound in pool ${poolId}`);
    }
  }

  /** Owners that have nothing any more. */
  forget(owners: readonly string[]): void {
    for (const book of [this.#seats, this.#heights])
      for (const [key, { owner }] of book) if (owners.includes(owner)) book.delete(key);
  }

  /** A report was taken in. */
  reported(
    { recipientId, resetAtUs, view }: MemoryReport,
    { before, after, isLimited, evicted }: MemoryReported,
  ): void {
    const { sim } = this;
    const [was, is] = [before.cooldown_until ?? 0, after.cooldown_until ?? 0];
    if (is < was) sim.violate(`the rate limit of recipient ${recipientId} lasted until ${was}, and now until ${is}`);
    const longest = view.compiled.seats?.max_cooldown;
    const boundUs = longest === undefined ? Number.POSITIVE_INFINITY : sim.nowUs + msOf(longest) * 1000;
    if (resetAtUs !== null && is < Math.min(resetAtUs, boundUs))
      sim.violate(`recipient ${recipientId} has a rate limit until ${resetAtUs}, and is left alone until ${is}`);
    if (evicted.length > 0) sim.marks.reach('seat_evicted');
    if (after.probe_until === null) this.#trials.delete(recipientId);
    if (isLimited) for (const [key, seat] of this.#seats) if (seat.recipientId === recipientId) this.#seats.delete(key);
  }

  #noneCooling({ slate, nowUs, owner }: Choice): void {
    for (const id of slate) {
      const untilUs = this.db.reservations.seats.rowOf(id).cooldown_until ?? 0;
      if (untilUs > nowUs) this.sim.violate(`${owner} was given recipient ${id}, whose rate limit lasts`);
    }
  }

  #seated(choice: Choice): void {
    const { view, owner, slate, excluded, nowUs } = choice;
    const { sim, db } = this;
    const key = `${view.id}/${owner}`;
    const had = this.#seats.get(key)?.recipientId;
    const [first = ''] = slate;
    const isUsable = had !== undefined && !excluded.has(had) && view.members.some(({ id }) => id === had);
    const isLimited = (db.reservations.seats.rowOf(had ?? '').cooldown_until ?? 0) > nowUs;
    if (isUsable && !isLimited && first !== had) sim.violate(`${owner} had seat ${had} and was given ${first}`);
    sim.marks.reach(had === first ? 'seat_kept' : 'seat_taken');
    for (const id of slate) this.#tried(choice, id, had);
    this.#seats.set(key, { owner, poolId: view.id, recipientId: first });
  }

  /** Who is bound to a seat goes on with it, whoever tries it. */
  #tried({ view, owner, nowUs }: Choice, id: string, had: string | undefined): void {
    const { limit_episode: episode } = this.db.reservations.seats.rowOf(id);
    if (episode === 0) return;
    const trial = this.#trials.get(id);
    if (trial !== undefined && trial.untilUs > nowUs) {
      if (had !== id) this.sim.violate(`${trial.owner} tries seat ${id}, and so does ${owner}`);
      return;
    }
    this.sim.marks.reach('seat_tried');
    const untilUs = nowUs + msOf(view.compiled.seats?.probe_timeout ?? '0s') * 1000;
    this.#trials.set(id, { owner, untilUs });
  }

  #climbed({ view, owner, slate, excluded, nowUs }: Choice): void {
    const { sim, db } = this;
    const key = `${view.id}/${owner}`;
    const reached = this.#heights.get(key)?.tier ?? 0;
    const tier = view.members.find(({ id }) => id === slate[0])?.tier ?? 0;
    const isFree = (id: string): boolean =>
      !excluded.has(id) && (db.reservations.seats.rowOf(id).cooldown_until ?? 0) <= nowUs;
    const isAnybody = view.members.some((member) => member.tier >= reached && isFree(member.id));
    if (tier < reached && isAnybody) sim.violate(`${owner} had come to tier ${reached} and was given tier ${tier}`);
    if (tier > reached) sim.marks.reach('tier_climbed');
    this.#heights.set(key, { owner, poolId: view.id, tier: Math.max(tier, reached) });
  }

  /** Looks whether the tables say of seats and tiers what was decided. */
  compare(): void {
    const { bindings } = this.db.reservations.seats;
    const say = (kind: string, { owner, poolId }: Having, is: unknown, should: unknown): void => {
      if (is !== should)
        this.sim.violate(`${kind} of ${owner} in pool ${poolId} is ${String(is)}, not ${String(should)}`);
    };
    for (const seat of this.#seats.values()) {
      const found = bindings.get(poolKeyText({ poolId: seat.poolId, key: `seat/${seat.owner}` }));
      say('the seat', seat, found?.recipientId, seat.recipientId);
    }
    for (const height of this.#heights.values()) {
      const found = bindings.get(poolKeyText({ poolId: height.poolId, key: `tier/${height.owner}` }));
      say('the tier', height, found?.tier, height.tier);
    }
  }
}
