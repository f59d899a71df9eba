/**
 * Pools as they stand while decisions are made one after the other: what one takes, the next one finds taken. Pure: it
 * is given what was read, decides, and says at the end what has to be written.
 *
 * Invariants: 1. a decision that is not granted changes nothing; 2. accounts change by capacity's `admit` alone; 3.
 * what a decision has seen is not changed afterwards, since its record is written from it.
 */
import { admit as admitSlate, onDay, release, utcDay, type Taking } from '../../capacity/index.js';
import type { Account, AccountChange, Accounts } from '../../capacity/index.js';
import { NO_ANSWERS } from '../core/answer.js';
import type { Binding, Change, PoolState, Probe, RecipientFacts } from '../core/candidate.js';
import { deriveSeed } from '../core/stream.js';
import type { Admission, Admit } from '../pipeline/admission.js';
import { decide } from '../pipeline/decide.js';
import type { Decision, PoolSnapshot, Slate } from '../pipeline/decision.js';
import { NO_FACTS } from '../pipeline/filter.js';
import type { PoolView } from '../pipeline/view.js';
import type { CompiledRule } from '../rules/rule.js';
import { afterChanges } from '../strategies/select.js';
import { accountsOf, factsOf, type Standing } from '../standing/standing.js';
import { poolKeyText, type BindingEntry, type KeyEntry, type PoolKey } from '../standing/sql/known-keys.js';
import { affinityKeysOf, dedupeKeyOf, type RouteAsk } from './ask.js';
import { isUnasked, type Asked } from './asked.js';
import type { StrategyQuestion } from './strategy-apps.js';

/** What a world is made of: everything was read at one moment, or under locks. */
export interface WorldParts {
  readonly views: ReadonlyMap<string, PoolView | undefined>;
  readonly standing: Standing;
  readonly states: ReadonlyMap<string, PoolState>;
  /** By poolKeyText. */
  readonly bindings: ReadonlyMap<string, Binding>;
  /** First decisions by poolKeyText. */
  readonly firsts: ReadonlyMap<string, string>;
  /** Key that seeds are derived from. */
  readonly seedKey: Uint8Array;
  /** Accounts beside those of the pools' members. Absent: none. */
  readonly accounts?: Accounts;
  /** How much work waits in queues of pools. Absent, or without a pool: nobody asked. */
  readonly depths?: ReadonlyMap<string, number>;
}

/** How a selecting workflow decides: what is chosen is held, once, and nothing is tried after a refusal. */
export interface Holding extends Slate {
  /** Limits that the version of the run pins, units, by recipient. */
  readonly pinned: ReadonlyMap<string, number>;
  /** What the same step of the same chain holds: it does not stand in its own way, should the choice be the same. */
  readonly own: ReadonlyMap<string, { readonly units: number; readonly isToday: boolean }>;
  /** Whether exactly this slate is held already: then it is granted, and nothing is taken. */
  readonly isHeld: (poolId: string, slate: readonly { readonly id: string; readonly units: number }[]) => boolean;
}

/** One decision to be made. */
export interface Deciding {
  readonly ask: RouteAsk;
  readonly decisionId: string;
  /** The pool whose window tells work that comes twice. */
  readonly firstPoolId: string | undefined;
  /** Needed when the work names no pool. */
  readonly rules: readonly CompiledRule[];
  /** Whether what is chosen is also granted; false: a preview. */
  readonly isGranting: boolean;
  /** What strategies in code answered, by pool. Pools that have any and are not among them count as not read. */
  readonly answers: ReadonlyMap<string, Asked>;
  /** Time that was spent before. */
  readonly spentUs: number;
  /** Set when a workflow selects. Absent: units are committed. */
  readonly holding?: Holding;
}

/** What has to be written after decisions. */
export interface WorldChanges {
  readonly accounts: readonly AccountChange[];
  readonly states: ReadonlyMap<string, PoolState>;
  readonly bindings: readonly BindingEntry[];
  /** Seats that are tried after a rate limit, and until when. */
  readonly probes: readonly Probe[];
  readonly firsts: readonly KeyEntry[];
}

const NOBODY: ReadonlySet<string> = new Set();
const NO_BINDINGS: ReadonlyMap<string, Binding> = new Map();

/** Pools that a decision may reach; it notes those that nobody has read. */
class Reach extends Map<string, PoolSnapshot> {
  readonly missing: string[] = [];

  constructor(readonly find: (poolId: string) => PoolSnapshot | undefined | 'unread') {
    super();
  }

  override get(poolId: string): PoolSnapshot | undefined {
    const found = this.find(poolId);
    if (found !== 'unread') return found;
    this.missing.push(poolId);
    return undefined;
  }
}

function slateFor({ slateSize, atLeast }: Holding): Slate {
  return { slateSize, atLeast };
}

/** See above. */
export class World {
  readonly nowUs: number;
  readonly standing: Standing;
  readonly #parts: WorldParts;
  readonly #today: number;
  readonly #facts = new Map<string, RecipientFacts>();
  readonly #states: Map<string, PoolState>;
  readonly #bindings: Map<string, Binding>;
  readonly #firsts: Map<string, string>;
  readonly #depths: Map<string, number>;
  readonly #assigned = new Set<string>();
  readonly #changedStates = new Set<string>();
  readonly #bound = new Map<string, BindingEntry>();
  readonly #probes = new Map<string, Probe>();
  readonly #seen = new Map<string, KeyEntry>();
  readonly #accounts = new Map<string, Account>();
  readonly #released = new Set<string>();
  /** How to take back what was done, the last first. */
  readonly #undo: (() => void)[] = [];

  constructor(parts: WorldParts) {
    const { views, standing } = parts;
    this.#parts = parts;
    this.nowUs = standing.nowUs;
    this.standing = standing;
    this.#today = utcDay(standing.nowUs);
    this.#states = new Map(parts.states);
    this.#bindings = new Map(parts.bindings);
    this.#firsts = new Map(parts.firsts);
    this.#depths = new Map(parts.depths);
    for (const [poolId, view] of views) {
      const pool = standing.pools.get(poolId);
      if (view === undefined || pool === undefined) continue;
      for (const [id, account] of accountsOf(view, pool, this.#today)) this.#accounts.set(id, account);
      for (const [id, member] of pool.members) {
        this.#facts.set(id, factsOf(member.account, member.learned, this.#today));
      }
    }
    for (const [id, account] of parts.accounts ?? []) {
      if (!this.#accounts.has(id)) this.#accounts.set(id, onDay(account, this.#today));
    }
  }

  /** Whether the pool was read, so that it is not for want of that that nothing is decided. */
  knows(poolId: string): boolean {
    return this.#parts.views.has(poolId);
  }

  /** A point to which everything that is decided from now on can be taken back. */
  mark(): number {
    return this.#undo.length;
  }

  /** Takes back what was decided and released since a mark. */
  takeBack(mark: number): void {
    for (const undo of this.#undo.splice(mark).reverse()) undo();
  }

  /** Gives back units that were held of a recipient; false: nobody has read its account. */
  release(recipientId: string, units: number): boolean {
    const account = this.#accounts.get(recipientId);
    if (account === undefined) return false;
    const after = release(account, units);
    this.#set(this.#accounts, recipientId, after);
    const facts = this.#facts.get(recipientId);
    if (facts !== undefined) this.#set(this.#facts, recipientId, { ...facts, ...factsOf(after, {}, this.#today) });
    this.#add(this.#released, recipientId);
    return true;
  }

  /** Decides; the names of pools that have to be read first, when it comes to one that was not. */
  decide(deciding: Deciding): Decision | { readonly missing: readonly string[] } {
    const { ask, decisionId, rules, spentUs, holding } = deciding;
    const reach = new Reach((poolId) => this.#snapshot(poolId, deciding));
    const key = this.#dedupeKey(deciding);
    let granted: Accounts | undefined;
    const admit: Admit = (poolId, slate) => {
      const answer = this.#admit(slate, holding, holding?.isHeld(poolId, slate) === true);
      granted = answer.accounts;
      return answer.admission;
    };
    // Written out: objects that are spread together here took a tenth of the time of a decision.
    const decision = decide({
      decisionId,
      nowUs: this.nowUs,
      routable: ask.routable,
      poolId: ask.poolId,
      recipientId: ask.recipientId,
      rules,
      pools: reach,
      previous: ask.previous,
      spentUs,
      tried: ask.tried ?? 0,
      pinned: holding?.pinned,
      holds: holding === undefined ? undefined : slateFor(holding),
      family: ask.family,
      offers: ask.offers ?? 0,
      expiredIn: ask.expiredIn,
      isBreached: ask.isBreached,
      waited: ask.waited,
      excluded: ask.excluded.length === 0 ? NOBODY : new Set(ask.excluded),
      duplicateOf: key === undefined ? undefined : this.#firsts.get(poolKeyText(key)),
      seedOf: (poolId, hop, attempt) => deriveSeed(this.#parts.seedKey, { decisionId, poolId, hop, attempt }),
      admit: deciding.isGranting ? admit : undefined,
    });
    if (reach.missing.length > 0) return { missing: reach.missing };
    const isMoving = decision.outcome === 'queued' || ask.waited?.queueOf !== undefined;
    const isKept = decision.slate.length > 0 || decision.claimants.length > 0 || isMoving;
    if (deciding.isGranting && isKept) this.#keep(decision, granted, key);
    return decision;
  }

  /** Who may be chosen for the work in a pool now, in order of their ids; none when the pool does not route. */
  look(poolId: string, { ask, decisionId }: Pick<Deciding, 'ask' | 'decisionId'>): StrategyQuestion['candidates'] {
    const view = this.#parts.views.get(poolId);
    if (view === undefined) return [];
    const snapshot = { view, facts: this.#facts, state: {}, bindings: NO_BINDINGS };
    const { hops } = decide({
      ...{ decisionId, nowUs: this.nowUs, routable: ask.routable, poolId, rules: [], previous: ask.previous },
      pools: new Map([[poolId, snapshot]]),
      excluded: new Set(ask.excluded),
      seedOf: (_, hop, attempt) => deriveSeed(this.#parts.seedKey, { decisionId, poolId, hop, attempt }),
    });
    const filtered = hops[0]?.filtered;
    return (filtered?.candidates ?? []).flatMap((candidate) => {
      const looked = filtered?.looked[candidate.place];
      return looked === undefined ? [] : [{ candidate, member: looked.member }];
    });
  }

  /** What the decisions have changed. */
  changes(): WorldChanges {
    const accounts = [...new Set([...this.#assigned, ...this.#released])].flatMap((recipientId) => {
      const account = this.#accounts.get(recipientId);
      if (account === undefined) return [];
      const lastAssignedUs = this.#assigned.has(recipientId) ? this.nowUs : null;
      const lastReleasedUs = this.#released.has(recipientId) ? this.nowUs : null;
      return [{ recipientId, account, lastAssignedUs, lastReleasedUs }];
    });
    return {
      accounts,
      states: new Map([...this.#changedStates].map((poolId) => [poolId, this.#states.get(poolId) ?? {}])),
      bindings: [...this.#bound.values()],
      probes: [...this.#probes.values()],
      firsts: [...this.#seen.values()],
    };
  }

  #snapshot(
    poolId: string,
    deciding: Pick<Deciding, 'ask' | 'answers' | 'holding'>,
  ): PoolSnapshot | undefined | 'unread' {
    const { views } = this.#parts;
    if (!views.has(poolId)) return 'unread';
    const found = views.get(poolId);
    if (found === undefined) return undefined;
    const { ask, answers, holding } = deciding;
    if (isUnasked(found, deciding)) return 'unread';
    const facts = holding === undefined ? this.#facts : this.#factsFor(holding);
    const state = this.#states.get(poolId) ?? {};
    const said = answers.get(poolId)?.answers ?? NO_ANSWERS;
    const queued = this.#depths.get(poolId);
    const plain = { view: found, facts, state, bindings: NO_BINDINGS, answers: said, queued };
    if (found.compiled.affinityKeys.length === 0) return plain;
    const bindings = new Map<string, Binding>();
    for (const key of affinityKeysOf(ask, found, this.nowUs)) {
      const binding = this.#bindings.get(poolKeyText(key));
      if (binding !== undefined) bindings.set(key.key, binding);
    }
    return { ...plain, bindings };
  }

  #dedupeKey({ ask, firstPoolId }: Deciding): PoolKey | undefined {
    const view = firstPoolId === undefined ? undefined : this.#parts.views.get(firstPoolId);
    return view === undefined ? undefined : dedupeKeyOf(ask, view, this.nowUs);
  }

  /** The facts as a step sees them that holds something already. */
  #factsFor({ own }: Holding): ReadonlyMap<string, RecipientFacts> {
    if (own.size === 0) return this.#facts;
    const facts = new Map(this.#facts);
    for (const [id, { units, isToday }] of own) {
      const known = facts.get(id);
      if (known === undefined) continue;
      const admittedToday = known.admittedToday - (isToday ? units : 0);
      facts.set(id, { ...known, held: known.held - units, admittedToday });
    }
    return facts;
  }

  #admit(
    slate: readonly { readonly id: string; readonly units: number }[],
    holding: Holding | undefined,
    isHeld: boolean,
  ): { readonly admission: Admission; readonly accounts: Accounts | undefined } {
    const pinned = holding?.pinned;
    const wanted = slate.map(({ id, units }) => ({ recipientId: id, units, pinned: pinned?.get(id) ?? 0 }));
    // Only those that are asked for: a pool may have a thousand.
    const asked = new Map<string, Account>();
    for (const { id } of slate) {
      const account = this.#accounts.get(id);
      if (account !== undefined) asked.set(id, account);
    }
    const taking: Taking = holding === undefined ? 'commit' : 'hold';
    const answer = admitSlate(asked, wanted, this.#today, taking);
    if (answer.kind === 'unavailable') return { admission: { kind: 'unavailable' }, accounts: undefined };
    if (isHeld) return { admission: { kind: 'granted', usage: [] }, accounts: undefined };
    const usage = answer.decided.map(({ recipientId: id, units, used, limit, usedToday, dailyLimit }) => {
      return { id, units, used, limit, usedToday, dailyLimit };
    });
    const accounts = answer.kind === 'granted' ? answer.accounts : undefined;
    return { admission: { kind: answer.kind, usage }, accounts };
  }

  /** Takes what was granted; an offer takes nothing until it is accepted. */
  #keep({ outcome, slate, poolId, changes, input }: Decision, granted: Accounts | undefined, key?: PoolKey): void {
    if (outcome === 'assigned') for (const [id, account] of granted ?? []) this.#set(this.#accounts, id, account);
    for (const { id } of slate) {
      const learned = { ...this.#facts.get(id), lastAssignedUs: this.nowUs };
      this.#set(this.#facts, id, { ...learned, ...factsOf(this.#accounts.get(id), {}, this.#today) });
      this.#add(this.#assigned, id);
    }
    if (poolId !== undefined) this.#keepChanges(poolId, changes);
    this.#moveQueue(input.waited?.queueOf, outcome === 'queued' ? (poolId ?? '') : undefined);
    const window = key === undefined ? undefined : this.#parts.views.get(key.poolId)?.dedupe?.windowUs;
    if (key === undefined || window === undefined) return;
    this.#set(this.#firsts, poolKeyText(key), input.decisionId);
    this.#set(this.#seen, poolKeyText(key), { ...key, id: input.decisionId, expiresUs: this.nowUs + window });
  }

  /** Work that leaves one queue, or comes into one. */
  #moveQueue(from: string | undefined, to: string | undefined): void {
    if (from === to) return;
    const [left, met] = [this.#depths.get(from ?? ''), this.#depths.get(to ?? '')];
    if (from !== undefined && left !== undefined) this.#set(this.#depths, from, left - 1);
    if (to !== undefined && met !== undefined) this.#set(this.#depths, to, met + 1);
  }

  #keepChanges(poolId: string, changes: readonly Change[]): void {
    if (changes.some(({ state }) => state !== undefined)) {
      this.#set(this.#states, poolId, afterChanges(this.#states.get(poolId) ?? {}, changes));
      this.#add(this.#changedStates, poolId);
    }
    for (const { bind, probe } of changes) {
      if (bind !== undefined) this.#bind(poolId, bind);
      if (probe !== undefined) this.#probe(probe);
    }
  }

  #bind(poolId: string, { key, owner, ...binding }: NonNullable<Change['bind']>): void {
    const text = poolKeyText({ poolId, key });
    this.#set(this.#bindings, text, binding);
    this.#set(this.#bound, text, { poolId, key, owner, ...binding });
  }

  #probe(probe: Probe): void {
    const facts = this.#facts.get(probe.recipientId) ?? NO_FACTS;
    this.#set(this.#facts, probe.recipientId, { ...facts, probeUntilUs: probe.untilUs });
    this.#set(this.#probes, probe.recipientId, probe);
  }

  /** Sets an entry so that it can be taken back. */
  #set<V>(map: Map<string, V>, key: string, value: V): void {
    const before = map.get(key);
    const had = map.has(key);
    this.#undo.push(() => {
      if (had && before !== undefined) map.set(key, before);
      else map.delete(key);
    });
    map.set(key, value);
  }

  /** Adds to a set so that it can be taken back. */
  #add(set: Set<string>, value: string): void {
    if (set.has(value)) return;
    this.#undo.push(() => set.delete(value));
    set.add(value);
  }
}
