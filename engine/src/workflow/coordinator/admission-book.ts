/**
 * Selections and releases while a batch of the gate lane is decided: who is chosen by routing's `World`, who is held by
 * which family, and what is given back. Pure; made anew for each decision of a batch.
 *
 * Invariants: 1. units are held exactly when reservations for them are kept; 2. a tick that is not kept is taken back
 * whole; 3. a refusal changes nothing.
 */
import { familyName, slateDigest, utcDay, type Reservation } from '../../capacity/index.js';
import { DuctorError } from '../../kernel/index.js';
import { firstPoolOf, isAssigning, unanswerable, World } from '../../routing/index.js';
import type { Decision, Ending, Holding, RouteAsk } from '../../routing/index.js';
import type { RouteAnswer, RoutingWork, Unqueued, Withdrawal } from '../machine/routing-work.js';
import type { HoldingFamily, Selected, Selecting } from '../machine/selecting.js';
import { FamilyBook } from './family-book.js';
import type { AdmissionChanges, MadeDecision, ReservationUsage, SelectionAnswers, TenantUsage } from './gate-ports.js';
import type { RunKey } from './ports.js';
import { claimAnswerOf, failedBy, routeAnswerOf } from './route-answer.js';
import { askOf } from './selection-ask.js';
import { refusedBy } from './selection-refusal.js';
import { waiterOf } from './claim-waiter.js';
import { queueWaiterOf } from './queue-waiter.js';
import { shownRecipients } from './shown-recipients.js';

/** A run that selects or ends, with its family. */
export interface Actor extends RunKey {
  readonly family: HoldingFamily;
}

/** Nothing can be said with what is locked; the pools have to be, too. */
export interface Outside {
  readonly kind: 'outside';
  readonly pools: readonly string[];
  /** Strategies in apps' code have to be asked about one of them. */
  readonly isUnasked?: boolean;
}

/** What a selection came to. */
export type SelectAnswer = Selected | Outside;

/** A point to return to. */
export interface BookMark {
  readonly worlds: ReadonlyMap<string, number>;
  readonly families: ReadonlyMap<string, number>;
  readonly added: number;
  readonly released: number;
  readonly made: number;
  readonly withdrawn: number;
  readonly unqueued: number;
  readonly closed: number;
}

type Deciding = Parameters<World['decide']>[0];

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
  readonly #closed: Ending[] = [];
  readonly #withdrawn: { readonly tenantId: string; readonly itemId: string }[] = [];
  /** By the decisions that queued it where it is. */
  readonly #unqueued: { readonly tenantId: string; readonly workId: string; readonly decisionId: string }[] = [];
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
    const [withdrawn, closed] = [this.#withdrawn.length, this.#closed.length];
    const unqueued = this.#unqueued.length;
    const books = { worlds: marks(this.#worlds), families: marks(this.#families) };
    return { ...books, added, released, made, withdrawn, unqueued, closed };
  }

  takeBack({ worlds, families, added, released, made, withdrawn, unqueued, closed }: BookMark): void {
    for (const [name, world] of this.#worlds) world.takeBack(worlds.get(name) ?? 0);
    for (const [name, family] of this.#families) family.takeBack(families.get(name) ?? 0);
    this.#added.length = added;
    this.#released.length = released;
    this.#made.length = made;
    this.#withdrawn.length = withdrawn;
    this.#unqueued.length = unqueued;
    this.#closed.length = closed;
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
      const { code, message } = noPool(selecting.pool);
      return refused(code, message);
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

  /** Decides, and assigns the work to those who are chosen; the record is kept whatever the decision came to. */
  route(run: RunKey, work: RoutingWork, said: Said = null): RouteAnswer | Outside {
    const { tenantId, runId } = run;
    const tenant = this.#tenants.get(tenantId);
    const world = this.#worlds.get(tenantId);
    if (tenant === undefined || world === undefined) return { kind: 'outside', pools: [] };
    const { family } = work;
    if (family !== undefined && !this.#meet({ ...run, family })) return { kind: 'outside', pools: [] };
    const poolId = tenant.poolIds.get(work.pool);
    if (work.pool !== '' && poolId === undefined) return failedBy(noPool(work.pool));
    const mark = this.mark();
    const decision = this.#ask(tenant, world, said?.get(work.path), () => {
      const ask = askOf(runId, work, poolId);
      return { ask, firstPoolId: firstPoolOf(ask, tenant.rules, world.nowUs) };
    });
    if (decision instanceof DuctorError) return failedBy(decision);
    if (decision.kind === 'outside') {
      this.takeBack(mark);
      return decision;
    }
    const { made, ask } = decision;
    const lacking = unanswerable(made, tenant.queues);
    if (lacking !== undefined) {
      this.takeBack(mark);
      return failedBy(lacking);
    }
    if (work.until !== undefined) {
      const answer = claimAnswerOf(made);
      // Nothing of a decision is kept that gave the work to somebody who was to claim it, or let it wait elsewhere.
      const isKept = made.outcomeClass !== 'success' && made.outcome !== 'queued';
      if (!isKept) this.takeBack(mark);
      const waiter = waiterOf(runId, work.until, work.path);
      if (isKept) this.#made.push({ tenantId, runId, ask, decision: made, assignmentIds: [], waiter });
      return answer;
    }
    const assignmentIds = isAssigning(made) ? made.slate.map(() => this.newId()) : [];
    const waits = made.outcome === 'queued' ? { waiter: queueWaiterOf({ runId, path: work.path }) } : {};
    this.#made.push({ tenantId, runId, ask, decision: made, assignmentIds, ...waits });
    return routeAnswerOf(made, assignmentIds);
  }

  /** Takes an item out that is open. Null: it is not locked. */
  withdraw(tenantId: string, itemId: string): Withdrawal | null {
    if (this.#withdrawn.some((each) => each.itemId === itemId)) return 'withdrawn';
    const isNew = this.#made.some(({ decision }) => decision.input.decisionId === itemId);
    const state = isNew ? 'open' : this.#tenants.get(tenantId)?.items.get(itemId);
    if (state === undefined) return null;
    if (state !== 'open') return state === 'claimed' ? 'claimed' : 'ended';
    this.#withdrawn.push({ tenantId, itemId });
    return 'withdrawn';
  }

  /** Takes work out of its queue that waits. Null: it is not locked. */
  unqueue(tenantId: string, workId: string): Unqueued | null {
    if (this.#unqueued.some((each) => each.workId === workId)) return 'withdrawn';
    const isNew = this.#made.some(({ decision }) => decision.input.decisionId === workId);
    const decisionId = isNew ? workId : this.#tenants.get(tenantId)?.works.get(workId);
    if (decisionId === undefined) return null;
    if (decisionId === null) return 'ended';
    this.#unqueued.push({ tenantId, workId, decisionId });
    return 'withdrawn';
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
    this.#closed.push({ tenantId: actor.tenantId, chainId: actor.family.chainId });
    return true;
  }

  /** What has to be written. */
  changes(): AdmissionChanges {
    const tenants = [...this.#worlds].map(([tenantId, world]) => {
      const made = this.#made.filter((each) => each.tenantId === tenantId);
      const withdrawn = this.#withdrawn.filter((each) => each.tenantId === tenantId).map(({ itemId }) => itemId);
      const unqueued = this.#unqueued.filter((each) => each.tenantId === tenantId).map((each) => each.decisionId);
      return { tenantId, ...world.changes(), made, withdrawn, unqueued };
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
      closed: this.#closed,
      ended: books.filter((book) => book.isOver).map(({ usage }) => usage),
    };
  }

  #family({ tenantId, family: { rootId } }: Actor): FamilyBook | undefined {
    return this.#families.get(familyName({ tenantId, rootId }));
  }

  /** Counts a run as open that routes for its family. False: that is not locked. */
  #meet(actor: Actor): boolean {
    const family = this.#family(actor);
    family?.meet(actor.runId, actor.family);
    return family !== undefined;
  }

  /** An answer alone: nothing was decided. */
  #decide(on: Choice, poolId: string | undefined): SelectAnswer | Decided {
    const { actor, selecting, tenant, world, said } = on;
    const holding = holdingOf(on, world.nowUs);
    const found = this.#ask(tenant, world, said, () => {
      return { ask: askOf(actor.runId, selecting, poolId), firstPoolId: undefined, holding };
    });
    if (found instanceof DuctorError) return refused(found.code, found.message);
    if (found.kind === 'outside') return found;
    const { made } = found;
    return { decision: made, answer: refusedBy(made, selecting) ?? this.#granted(on, made) };
  }

  /**
   * Decides by the world. The error is the workflow's own: a routable that is none, an expression that fails on it.
   * Throws what is not.
   */
  #ask(
    tenant: TenantUsage,
    world: World,
    said: SelectionAnswers | undefined,
    asking: () => Pick<Deciding, 'ask' | 'firstPoolId' | 'holding'>,
  ): Outside | DuctorError | { readonly kind: 'made'; readonly made: Decision; readonly ask: RouteAsk } {
    let decision: ReturnType<World['decide']>;
    let asked: ReturnType<typeof asking>;
    try {
      asked = asking();
      if (asked.ask.poolId !== undefined && tenant.stale.has(asked.ask.poolId)) return { kind: 'outside', pools: [] };
      const by = said ?? { decisionId: this.newId(), answers: NOBODY_SAID, spentUs: 0 };
      decision = world.decide(Object.assign(asked, by, { rules: tenant.rules, isGranting: true }));
    } catch (caught) {
      if (!(caught instanceof DuctorError) || caught.code === 'internal') throw caught;
      return caught;
    }
    if ('missing' in decision) {
      const pools = decision.missing;
      return { kind: 'outside', pools, isUnasked: pools.some((id) => world.knows(id)) };
    }
    if (decision.hops.some(({ snapshot }) => tenant.stale.has(snapshot.view.id))) return { kind: 'outside', pools: [] };
    return { kind: 'made', made: decision, ask: asked.ask };
  }

  #granted({ actor, selecting, family }: Choice, decision: Decision): Selected {
    const { slate, poolId = '', input } = decision;
    const digest = slateDigest({ poolId, path: selecting.path, recipients: slate });
    const { chainId, rootId } = actor.family;
    const isReused = isHeld(family, chainId, digest);
    if (!isReused) {
      // Written out: it is made for every selection, and objects spread together are slow.
      const added = slate.map(({ id: recipientId, units }, place): Reservation => ({
        tenantId: actor.tenantId,
        rootId,
        chainId,
        runId: actor.runId,
        path: selecting.path,
        poolId,
        digest,
        recipientId,
        units,
        place,
        pinned: selecting.pinned.get(recipientId) ?? 0,
        admittedAtUs: input.nowUs,
        day: utcDay(input.nowUs),
      }));
      family.hold(added);
      this.#added.push(...added);
    }
    const recipients = shownRecipients(decision);
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

function noPool(pool: string): DuctorError {
  return new DuctorError('not_found', `there is no pool ${JSON.stringify(pool)}`);
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
