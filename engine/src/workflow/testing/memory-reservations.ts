/** Pools, accounts and reservations in memory, as the gate lane finds them. */
import { familyName, utcDay, type Account, type Family, type Reservation } from '../../capacity/index.js';
import type { ClaimState } from '../../claims/index.js';
import {
  claimItemOf,
  claimQueuesOf,
  everybody,
  poolKeyText,
  type PoolStanding,
  type PoolView,
  type WorldChanges,
  type WorldParts,
} from '../../routing/index.js';
import { answerKey } from '../../routing/core/answer.js';
import type {
  AdmissionChanges,
  FamilyRun,
  GateLocks,
  MadeDecision,
  ReservationUsage,
} from '../coordinator/gate-ports.js';
import { MemoryClaims } from './memory-claims.js';
import { endWith } from './memory-endings.js';
import { MemoryQueues } from './memory-queues.js';
import { MemorySeats } from './memory-seats.js';
import type { SelectionAnswers, SelectionAsk } from '../coordinator/gate-ports.js';

/** A pool that runs may select from. */
export interface MemoryPool {
  readonly tenantId: string;
  readonly name: string;
  readonly view: PoolView;
}

/** What the tables say of runs. */
export interface FamilySource {
  /** Everybody of a family who is open, children that are still to begin among them, and everybody above these. */
  readonly runsOf: (family: Family) => readonly FamilyRun[];
}

const EMPTY: Omit<Account, 'maxConcurrent' | 'dailyLimit'> = {
  ...{ committed: 0, held: 0, dailyCommitted: 0, dailyAdmitted: 0, resetAtUs: null, day: 0 },
};

/** The tables. */
export class MemoryReservations {
  readonly pools: MemoryPool[] = [];
  readonly accounts = new Map<string, Omit<Account, 'maxConcurrent' | 'dailyLimit'>>();
  held: Reservation[] = [];
  /** Decisions of which a record is kept, in order. */
  readonly made: MadeDecision[] = [];
  /** Those whose assignments have ended. */
  readonly over = new Set<string>();
  /** Apps that have strategies in code. */
  apps: (question: { readonly poolId: string; readonly name: string }) => readonly string[] | undefined = () =>
    undefined;
  /** What must never happen, in words. */
  readonly violations: string[] = [];
  /** Seats and tiers, and what was learned of recipients. */
  readonly seats = new MemorySeats();
  /** Of the strategies of pools. */
  readonly states = new Map<string, ReturnType<WorldParts['states']['get']>>();

  /** Adds a pool; its members have accounts from then on. */
  add(pool: MemoryPool): void {
    this.pools.push(pool);
    for (const { id } of everybody(pool.view)) this.accounts.set(id, this.accounts.get(id) ?? EMPTY);
  }

  /** Work that waits to be claimed. */
  readonly claims = new MemoryClaims({ accounts: this.accounts, views: () => this.pools.map(({ view }) => view) });

  /** Work in queues of pools. */
  readonly queues = new MemoryQueues({
    parts: (tenantId, nowUs) =>
      this.#parts(
        this.pools.filter((pool) => pool.tenantId === tenantId),
        nowUs,
      ),
    claimQueues: new Set(),
    apply: (tenantId, changes, made) => this.#write(changes, made),
  });

  usage({ selections, families, items, works }: GateLocks, nowUs: number, source: FamilySource): ReservationUsage {
    const tenants = [...new Set([...selections, ...families, ...items, ...works].map(({ tenantId }) => tenantId))];
    const unique = [...new Map(families.map((family) => [familyName(family), family])).values()];
    return {
      tenants: tenants.map((tenantId) => this.#tenant(tenantId, selections, nowUs)),
      families: unique.map((family) => {
        const held = this.held.filter((each) => familyName(each) === familyName(family));
        return { tenantId: family.tenantId, rootId: family.rootId, held, runs: source.runsOf(family) };
      }),
    };
  }

  /** Ends seats and tiers of families that came to their end outside of the gate lane; returns their owners. */
  endLeft(runsOf: FamilySource['runsOf']): readonly string[] {
    const left = this.seats.lasting.flatMap(({ owner: rootId, poolId }) => {
      const tenantId = this.pools.find(({ view }) => view.id === poolId)?.tenantId ?? '';
      return this.isOver({ tenantId, rootId }, runsOf) ? [rootId] : [];
    });
    this.seats.release(new Set(left));
    return [...new Set(left)];
  }

  /** Whether nobody of a family is open and nothing is held for it. */
  isOver(family: Family, runsOf: FamilySource['runsOf']): boolean {
    if (this.held.some((each) => familyName(each) === familyName(family))) return false;
    return !runsOf(family).some(({ isOpen }) => isOpen);
  }

  /** See RunStore.askStrategies. */
  ask({ tenantId, pool, reached }: SelectionAsk, said: SelectionAnswers): void {
    const own = this.pools.filter((each) => each.tenantId === tenantId);
    for (const { view } of own.filter(({ name, view: { id } }) => name === pool || reached.includes(id))) {
      if (view.compiled.customs.length === 0) continue;
      const answers = view.compiled.customs.map((params) => {
        const ids = this.apps({ poolId: view.id, name: params.name });
        return [answerKey(params), { ids, note: ids === undefined ? 'is served by no app' : 'by a test' }] as const;
      });
      said.answers.set(view.id, { version: view.version, answers: new Map(answers) });
    }
  }

  readonly #firsts = new Map<string, string>();

  apply({ tenants, added, released, ended, closed }: AdmissionChanges, nowUs: number): void {
    for (const { tenantId, made, withdrawn, unqueued, ...changes } of tenants) {
      for (const { ask, decision, waiter } of made) {
        const item = claimItemOf(tenantId, decision, ask, waiter);
        if (item !== undefined) this.claims.put(item);
      }
      this.claims.withdraw(withdrawn, nowUs);
      this.queues.put(tenantId, made);
      this.queues.remove(unqueued);
      this.#write(changes, made);
    }
    const chains = closed.map(({ chainId }) => chainId);
    endWith(this, chains, nowUs);
    this.seats.release(new Set(ended.map(({ rootId }) => rootId)));
    const gone = new Set(released);
    if (released.some((each) => !this.held.includes(each)))
      this.violations.push('something is released that is not held');
    this.held = [...this.held.filter((each) => !gone.has(each)), ...added];
    this.#check(added, nowUs);
  }

  #write({ accounts, states, bindings, probes, firsts }: WorldChanges, made: readonly MadeDecision[]): void {
    for (const first of firsts) this.#firsts.set(poolKeyText(first), first.id);
    this.seats.keep({ bindings, probes });
    this.made.push(...made);
    for (const { recipientId, account } of accounts) this.accounts.set(recipientId, account);
    for (const [poolId, state] of states) this.states.set(poolId, state);
  }

  /** Accounts say what is held, and nobody is held above a limit at the moment of an admission. */
  #check(added: readonly Reservation[], nowUs: number): void {
    for (const [id, { held, committed, dailyAdmitted, day }] of this.accounts) {
      const units = this.held
        .filter(({ recipientId }) => recipientId === id)
        .reduce((sum, each) => sum + each.units, 0);
      if (units !== held) this.violations.push(`recipient ${id} says ${held} are held and ${units} are`);
      const limits = this.pools.flatMap(({ view }) => view.members.filter((member) => member.id === id));
      for (const { recipientId, pinned } of added) {
        if (recipientId !== id) continue;
        for (const limit of [pinned, ...limits.map(({ maxConcurrent }) => maxConcurrent)]) {
          if (limit > 0 && held + committed > limit) this.violations.push(`recipient ${id} has ${held} over ${limit}`);
        }
        for (const { dailyLimit } of limits) {
          const isOver = dailyLimit > 0 && day === utcDay(nowUs) && dailyAdmitted > dailyLimit;
          if (isOver) this.violations.push(`recipient ${id} was admitted ${dailyAdmitted} times over ${dailyLimit}`);
        }
      }
    }
  }

  /** Of pools only those are read that somebody asked for, as in the database. */
  #tenant(tenantId: string, asked: readonly SelectionAsk[], nowUs: number): ReservationUsage['tenants'][number] {
    const asks = asked.filter((each) => each.tenantId === tenantId);
    const names = new Set(asks.flatMap(({ pool, reached }) => [pool, ...reached]));
    const isRead = ({ name, view: { id } }: MemoryPool): boolean => names.has(name) || names.has(id);
    const own = this.pools.filter((pool) => pool.tenantId === tenantId && isRead(pool));
    return {
      tenantId,
      parts: { ...this.#parts(own, nowUs), depths: this.queues.depths(own.map(({ view }) => view.id)) },
      poolIds: new Map(own.map(({ name, view }) => [name, view.id])),
      ...{ stale: new Set(), queues: new Set(own.flatMap(({ view }) => claimQueuesOf(view))) },
      items: new Map([...this.claims.items].map(([id, { state }]): [string, ClaimState] => [id, state])),
      works: this.queues.places(),
      rules: [],
    };
  }

  /** What is decided by in these pools. */
  #parts(own: readonly MemoryPool[], nowUs: number): WorldParts {
    const standing = own.map(({ view }): [string, PoolStanding] => [view.id, this.#standing(view, nowUs)]);
    const others = [...this.accounts].map(([id, account]): [string, Account] => {
      return [id, { ...account, maxConcurrent: 0, dailyLimit: 0 }];
    });
    return {
      views: new Map(own.map(({ view }) => [view.id, view])),
      standing: { nowUs, pools: new Map(standing) },
      states: new Map(own.map(({ view }) => [view.id, this.states.get(view.id) ?? {}])),
      ...{ bindings: new Map(this.seats.bindings), firsts: this.#firsts },
      ...{ seedKey: new Uint8Array(32), accounts: new Map(others) },
    };
  }

  #standing(view: PoolView, nowUs: number): PoolStanding {
    const members = everybody(view).map(({ id, version }) => {
      return [id, { version, account: this.accounts.get(id), learned: this.seats.learnedOf(id, nowUs) }] as const;
    });
    return { version: view.version, isKilled: view.document.isKilled, members: new Map(members) };
  }
}
