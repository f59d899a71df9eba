/**
 * Pools as they stand while decisions are made one after the other: what one takes, the next one finds taken. Pure: it
 * is given what was read, decides, and says at the end what has to be written.
 *
 * Invariants: 1. a decision that is not granted changes nothing; 2. accounts change by capacity's `admit` alone; 3.
 * what a decision has seen is not changed afterwards, since its record is written from it.
 */
import { admit as admitSlate, utcDay, type Account, type AccountChange, type Accounts } from '../../capacity/index.js';
import { NO_ANSWERS } from '../core/answer.js';
import type { Binding, Change, PoolState, RecipientFacts } from '../core/candidate.js';
import { deriveSeed } from '../core/stream.js';
import type { Admission, Admit } from '../pipeline/admission.js';
import { decide } from '../pipeline/decide.js';
import type { Decision, PoolSnapshot } from '../pipeline/decision.js';
import type { PoolView } from '../pipeline/view.js';
import type { CompiledRule } from '../rules/rule.js';
import { afterChanges } from '../strategies/select.js';
import { accountsOf, factsOf, type Standing } from '../standing/standing.js';
import { poolKeyText, type KeyEntry, type PoolKey } from '../standing/sql/known-keys.js';
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
}

/** What has to be written after decisions. */
export interface WorldChanges {
  readonly accounts: readonly AccountChange[];
  readonly states: ReadonlyMap<string, PoolState>;
  readonly bindings: readonly KeyEntry[];
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
  readonly #assigned = new Set<string>();
  readonly #changedStates = new Set<string>();
  readonly #bound = new Map<string, KeyEntry>();
  readonly #seen = new Map<string, KeyEntry>();
  readonly #accounts = new Map<string, Account>();

  constructor(parts: WorldParts) {
    const { views, standing } = parts;
    this.#parts = parts;
    this.nowUs = standing.nowUs;
    this.standing = standing;
    this.#today = utcDay(standing.nowUs);
    this.#states = new Map(parts.states);
    this.#bindings = new Map(parts.bindings);
    this.#firsts = new Map(parts.firsts);
    for (const [poolId, view] of views) {
      const pool = standing.pools.get(poolId);
      if (view === undefined || pool === undefined) continue;
      for (const [id, account] of accountsOf(view, pool, this.#today)) this.#accounts.set(id, account);
      for (const [id, member] of pool.members) {
        this.#facts.set(id, factsOf(member.account, member.learned, this.#today));
      }
    }
  }

  /** Decides; the names of pools that have to be read first, when it comes to one that was not. */
  decide(deciding: Deciding): Decision | { readonly missing: readonly string[] } {
    const { ask, decisionId, rules, spentUs } = deciding;
    const reach = new Reach((poolId) => this.#snapshot(poolId, deciding));
    const key = this.#dedupeKey(deciding);
    let granted: Accounts | undefined;
    const admit: Admit = (poolId, slate) => {
      const answer = this.#admit(slate);
      granted = answer.accounts;
      return answer.admission;
    };
    const decision = decide({
      ...{ decisionId, nowUs: this.nowUs, routable: ask.routable, poolId: ask.poolId, recipientId: ask.recipientId },
      ...{ rules, pools: reach, previous: ask.previous, spentUs, tried: ask.tried ?? 0 },
      excluded: ask.excluded.length === 0 ? NOBODY : new Set(ask.excluded),
      duplicateOf: key === undefined ? undefined : this.#firsts.get(poolKeyText(key)),
      seedOf: (poolId, hop, attempt) => deriveSeed(this.#parts.seedKey, { decisionId, poolId, hop, attempt }),
      admit: deciding.isGranting ? admit : undefined,
    });
    if (reach.missing.length > 0) return { missing: reach.missing };
    if (deciding.isGranting && decision.slate.length > 0) this.#keep(decision, granted, key);
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
    const accounts = [...this.#assigned].flatMap((recipientId) => {
      const account = this.#accounts.get(recipientId);
      if (account === undefined) return [];
      return [{ recipientId, account, lastAssignedUs: this.nowUs, lastReleasedUs: null }];
    });
    return {
      accounts,
      states: new Map([...this.#changedStates].map((poolId) => [poolId, this.#states.get(poolId) ?? {}])),
      bindings: [...this.#bound.values()],
      firsts: [...this.#seen.values()],
    };
  }

  #snapshot(poolId: string, deciding: Pick<Deciding, 'ask' | 'answers'>): PoolSnapshot | undefined | 'unread' {
    const { views } = this.#parts;
    if (!views.has(poolId)) return 'unread';
    const view = views.get(poolId);
    if (view === undefined) return undefined;
    if (isUnasked(view, deciding)) return 'unread';
    const { ask, answers } = deciding;
    const state = this.#states.get(poolId) ?? {};
    const said = answers.get(poolId)?.answers ?? NO_ANSWERS;
    const plain = { view, facts: this.#facts, state, bindings: NO_BINDINGS, answers: said };
    if (view.compiled.affinityKeys.length === 0) return plain;
    const bindings = new Map<string, Binding>();
    for (const key of affinityKeysOf(ask, view, this.nowUs)) {
      const binding = this.#bindings.get(poolKeyText(key));
      if (binding !== undefined) bindings.set(key.key, binding);
    }
    return { ...plain, bindings };
  }

  #dedupeKey({ ask, firstPoolId }: Deciding): PoolKey | undefined {
    const view = firstPoolId === undefined ? undefined : this.#parts.views.get(firstPoolId);
    return view === undefined ? undefined : dedupeKeyOf(ask, view, this.nowUs);
  }

  #admit(slate: readonly { readonly id: string; readonly units: number }[]): {
    readonly admission: Admission;
    readonly accounts: Accounts | undefined;
  } {
    const wanted = slate.map(({ id, units }) => ({ recipientId: id, units, pinned: 0 }));
    // Only those that are asked for: a pool may have a thousand.
    const asked = new Map<string, Account>();
    for (const { id } of slate) {
      const account = this.#accounts.get(id);
      if (account !== undefined) asked.set(id, account);
    }
    const answer = admitSlate(asked, wanted, this.#today, 'commit');
    if (answer.kind === 'unavailable') return { admission: { kind: 'unavailable' }, accounts: undefined };
    const usage = answer.decided.map(({ recipientId: id, units, used, limit, usedToday, dailyLimit }) => {
      return { id, units, used, limit, usedToday, dailyLimit };
    });
    const accounts = answer.kind === 'granted' ? answer.accounts : undefined;
    return { admission: { kind: answer.kind, usage }, accounts };
  }

  /** Takes what was granted; an offer takes nothing until it is accepted. */
  #keep({ outcome, slate, poolId, changes, input }: Decision, granted: Accounts | undefined, key?: PoolKey): void {
    if (outcome === 'assigned') for (const [id, account] of granted ?? []) this.#accounts.set(id, account);
    for (const { id } of slate) {
      const learned = { ...this.#facts.get(id), lastAssignedUs: this.nowUs };
      this.#facts.set(id, { ...learned, ...factsOf(this.#accounts.get(id), {}, this.#today) });
      this.#assigned.add(id);
    }
    if (poolId !== undefined) this.#keepChanges(poolId, changes);
    const window = key === undefined ? undefined : this.#parts.views.get(key.poolId)?.dedupe?.windowUs;
    if (key === undefined || window === undefined) return;
    this.#firsts.set(poolKeyText(key), input.decisionId);
    this.#seen.set(poolKeyText(key), { ...key, id: input.decisionId, expiresUs: this.nowUs + window });
  }

  #keepChanges(poolId: string, changes: readonly Change[]): void {
    if (changes.some(({ state }) => state !== undefined)) {
      this.#states.set(poolId, afterChanges(this.#states.get(poolId) ?? {}, changes));
      this.#changedStates.add(poolId);
    }
    for (const { bind } of changes) {
      if (bind === undefined) continue;
      const { key, recipientId, expiresUs } = bind;
      const text = poolKeyText({ poolId, key });
      this.#bindings.set(text, { recipientId, expiresUs });
      this.#bound.set(text, { poolId, key, id: recipientId, expiresUs });
    }
  }
}
