/**
 * Selections and releases while a batch of the gate lane is decided: who is chosen by routing's `World`, who is held by
 * which family, and what is given back. Pure; made anew for each decision of a batch.
 *
 * Invariants: 1. units are held exactly when reservations for them are kept; 2. a tick that is not kept is taken back
 * whole; 3. a refusal changes nothing.
 */
import { familyName, slateDigest, utcDay, type Reservation } from '../../capacity/index.js';
import { DuctorError } from '../../kernel/index.js';
import { everybody, World, type Decision, type Holding } from '../../routing/index.js';
import type { HoldingFamily, Selected, Selecting } from '../machine/selecting.js';
import { FamilyBook } from './family-book.js';
import type { AdmissionChanges, MadeDecision, ReservationUsage, SelectionAnswers, TenantUsage } from './gate-ports.js';
import type { RunKey } from './ports.js';
import { askOf } from './selection-ask.js';
import { refusedBy } from './selection-refusal.js';

/** A run that selects or ends, with its family. */
export interface Actor extends RunKey {
  readonly family: HoldingFamily;
}

/** What a selection came to. */
export type SelectAnswer =
  | Selected
  /** Nothing can be said with what is locked; the pools have to be, too. */
  | {
      readonly kind: 'outside';
      readonly pools: readonly string[];
      /** Strategies in apps' code have to be asked about one of them. */
      readonly isUnasked?: boolean;
    };

/** A point to return to. */
export interface BookMark {
  readonly worlds: ReadonlyMap<string, number>;
  readonly families: ReadonlyMap<string, number>;
  readonly added: number;
  readonly released: number;
  readonly made: number;
}

/** What strategies in apps' code said, by step; null: nobody was asked. */
type Said = ReadonlyMap<string, SelectionAnswers> | null;

const NOBODY_SAID: SelectionAnswers['answers'] = new Map();

type Slate = readonly { readonly id: string; readonly units: number }[];

/** See above. */
export class AdmissionBook {
  readonly #tenants: ReadonlyMap<string, TenantUsage>;
  readonly #worlds: ReadonlyMap<string, World>;
  readonly #families: ReadonlyMap<string, FamilyBook>;
  readonly #added: Reservation[] = [];
  readonly #released: Reservation[] = [];
  readonly #made: (MadeDecision & { readonly tenantId: string })[] = [];

  /** @param newId draws ids of decisions: what a strategy dices with depends on them */
  constructor(
    usage: ReservationUsage,
    readonly newId: () => string,
  ) {
    this.#tenants = new Map(usage.tenants.map((tenant) => [tenant.tenantId, tenant]));
    this.#worlds = new Map(usage.tenants.map(({ tenantId, parts }) => [tenantId, new World(parts)]));
    this.#families = new Map(usage.families.map((family) => [familyName(family), new FamilyBook(family)]));
  }

  mark(): BookMark {
    const marks = (books: ReadonlyMap<string, { mark(): number }>): ReadonlyMap<string, number> =>
      new Map([...books].map(([name, book]) => [name, book.mark()]));
    const [added, released, made] = [this.#added.length, this.#released.length, this.#made.length];
    return { worlds: marks(this.#worlds), families: marks(this.#families), added, released, made };
  }

  takeBack({ worlds, families, added, released, made }: BookMark): void {
    for (const [name, world] of this.#worlds) world.takeBack(worlds.get(name) ?? 0);
    for (const [name, family] of this.#families) family.takeBack(families.get(name) ?? 0);
    this.#added.length = added;
    this.#released.length = released;
    this.#made.length = made;
  }

  /** Chooses recipients and holds them, all or none; the record of the decision is kept whatever it came to. */
  select(actor: Actor, selecting: Selecting, said: Said = null): SelectAnswer {
    const tenant = this.#tenants.get(actor.tenantId);
    const world = this.#worlds.get(actor.tenantId);
    const family = this.#family(actor);
    if (tenant === undefined || world === undefined || family === undefined) return { kind: 'outside', pools: [] };
    family.meet(actor.runId, actor.family);
    const poolId = tenant.poolIds.get(selecting.pool);
    if (selecting.pool !== '' && poolId === undefined) {
      return refused('not_found', `there is no pool ${JSON.stringify(selecting.pool)}`);
    }
    const mark = this.mark();
    const made = this.#decide({ actor, selecting, tenant, world, family, said: said?.get(selecting.path) }, poolId);
    if (!('decision' in made)) {
      this.takeBack(mark);
      return made;
    }
    const { decision, answer } = made;
    if (answer.kind !== 'granted') this.takeBack(mark);
    const { tenantId, runId } = actor;
    this.#made.push({ tenantId, runId, ask: askOf(runId, selecting, poolId), decision, assignmentIds: [] });
    return answer;
  }

  /** A child of the run is on its way: from now on it counts as open. */
  bear(actor: Actor, childId: string): void {
    const family = this.#family(actor);
    family?.meet(actor.runId, actor.family);
    family?.meet(childId, { chainId: childId, parentId: actor.runId });
  }

  /** The run ends for good. False: its family is not locked. */
  close(actor: Actor): boolean {
    const family = this.#family(actor);
    if (family === undefined) return false;
    const released = family.close(actor.runId, actor.family);
    for (const each of released) {
      const isKnown = this.#worlds.get(each.tenantId)?.release(each.recipientId, each.units);
      if (isKnown !== true) return false;
      this.#released.push(each);
    }
    return true;
  }

  /** What has to be written. */
  changes(): AdmissionChanges {
    const tenants = [...this.#worlds].map(([tenantId, world]) => {
      const made = this.#made.filter((each) => each.tenantId === tenantId);
      return { tenantId, ...world.changes(), made };
    });
    const books = [...this.#families.values()];
    // What is held and released in one batch was never there.
    const gone = new Set(this.#released);
    const kept = this.#added.filter((each) => !gone.has(each));
    const added = new Set(this.#added);
    return {
      tenants,
      added: kept,
      released: this.#released.filter((each) => !added.has(each)),
      ended: books.filter((book) => book.isOver).map(({ usage }) => usage),
    };
  }

  #family({ tenantId, family: { rootId } }: Actor): FamilyBook | undefined {
    return this.#families.get(familyName({ tenantId, rootId }));
  }

  /** An answer alone: nothing was decided. */
  #decide(on: Choice, poolId: string | undefined): SelectAnswer | Decided {
    const { actor, selecting, tenant, world, said } = on;
    if (poolId !== undefined && tenant.stale.has(poolId)) return { kind: 'outside', pools: [] };
    let decision: Decision | { readonly missing: readonly string[] };
    try {
      decision = world.decide({
        ask: askOf(actor.runId, selecting, poolId),
        ...{ firstPoolId: undefined, rules: tenant.rules, isGranting: true },
        ...(said ?? { decisionId: this.newId(), answers: NOBODY_SAID, spentUs: 0 }),
        holding: holdingOf(on, world.nowUs),
      });
    } catch (caught) {
      // What the step asks for is the workflow's own: a routable that is none, an expression that fails on it.
      if (!(caught instanceof DuctorError) || caught.code === 'internal') throw caught;
      return refused(caught.code, caught.message);
    }
    if ('missing' in decision) {
      const pools = decision.missing;
      return { kind: 'outside', pools, isUnasked: pools.some((id) => world.knows(id)) };
    }
    if (decision.hops.some(({ snapshot }) => tenant.stale.has(snapshot.view.id))) return { kind: 'outside', pools: [] };
    return { decision, answer: refusedBy(decision, selecting) ?? this.#granted(on, decision) };
  }

  #granted({ actor, selecting, family }: Choice, { slate, poolId = '', hops, input }: Decision): Selected {
    const digest = slateDigest({ poolId, path: selecting.path, recipients: slate });
    const { chainId, rootId } = actor.family;
    const isReused = isHeld(family, chainId, digest);
    if (!isReused) {
      const added = slate.map(({ id: recipientId, units }, place): Reservation => {
        const pinned = selecting.pinned.get(recipientId) ?? 0;
        const held = { recipientId, units, place, pinned, admittedAtUs: input.nowUs, day: utcDay(input.nowUs) };
        const { tenantId, runId } = actor;
        return { tenantId, rootId, chainId, runId, path: selecting.path, poolId, digest, ...held };
      });
      family.hold(added);
      this.#added.push(...added);
    }
    const view = hops.at(-1)?.snapshot.view;
    const members = new Map(view === undefined ? [] : everybody(view).map((member) => [member.id, member.scope]));
    const text = (id: string, name: string): string => {
      const value = members.get(id)?.[name];
      return typeof value === 'string' ? value : '';
    };
    const recipients = slate.map(({ id, units }) => {
      return { id, name: text(id, 'name'), external_id: text(id, 'external_id'), type: text(id, 'type'), units };
    });
    return { kind: 'granted', poolId, digest, isReused, recipients, decisionId: input.decisionId };
  }
}

/** A selection while it is made. */
interface Choice {
  readonly actor: Actor;
  readonly selecting: Selecting;
  readonly tenant: TenantUsage;
  readonly world: World;
  readonly family: FamilyBook;
  readonly said: SelectionAnswers | undefined;
}

/** A decision, and what the step is answered. */
interface Decided {
  readonly decision: Decision;
  readonly answer: Selected;
}

function refused(code: DuctorError['code'], message: string): Selected {
  return { kind: 'refused', code, message };
}

function isHeld(family: FamilyBook, chainId: string, digest: string): boolean {
  return family.heldBy(chainId).some((each) => each.digest === digest);
}

/** How the step decides, given what the same step of its chain holds. */
function holdingOf({ actor, selecting, family }: Choice, nowUs: number): Holding {
  const { chainId } = actor.family;
  const { path, slateSize, atLeast, pinned } = selecting;
  const today = utcDay(nowUs);
  const own = family.heldBy(chainId).filter((each) => each.path === path);
  return {
    slateSize: slateSize ?? undefined,
    atLeast,
    pinned,
    own: new Map(own.map((each) => [each.recipientId, { units: each.units, isToday: each.day === today }])),
    isHeld: (poolId, slate: Slate) => isHeld(family, chainId, slateDigest({ poolId, path, recipients: slate })),
  };
}
