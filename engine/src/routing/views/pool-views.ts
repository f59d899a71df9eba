/**
 * Pools and rules made ready for decisions, in memory: compiled once, used until they change.
 *
 * A view is forgotten when its pool or its members changed here, when another node says so over the bus, and when a
 * standing shows another version: every decision compares them, so that none rests on the bus. Rules are forgotten the
 * same ways, but nothing compares them; they are read anew when they are older than MAX_RULES_AGE_MS.
 *
 * Invariants: 1. what is loaded while a change comes in is used by those who asked before, and not kept; 2. at most
 * MAX_POOLS pools are kept: those that were loaded first go first.
 */
import type { Bus } from '../../bus/index.js';
import type { CelCompiler } from '../../expressions/index.js';
import type { Clock } from '../../kernel/index.js';
import type { TenantAccess } from '../../store/index.js';
import { compilePool, type PoolView } from '../pipeline/view.js';
import { compileRules, type CompiledRule } from '../rules/rule.js';
import { allRules } from '../rules/sql/read-rules.js';
import { loadPools } from './sql/load-pools.js';

const TOPIC = 'routing';
const MAX_RULES_AGE_MS = 5_000;
const MAX_POOLS = 10_000;
/** Stands for the rules of a tenant where pools are named. */
const RULES = 'rules';

/** What it needs. */
export interface PoolViewsOptions {
  readonly db: TenantAccess;
  readonly cel: CelCompiler;
  readonly clock: Clock;
  readonly bus: Bus;
}

interface KeptRules {
  readonly atMs: number;
  readonly value: Promise<readonly CompiledRule[]>;
}

/** See above. */
export class PoolViews {
  readonly #options: PoolViewsOptions;
  readonly #pools = new Map<string, Promise<PoolView | undefined>>();
  readonly #rules = new Map<string, KeptRules>();

  constructor(options: PoolViewsOptions) {
    this.#options = options;
    options.bus.subscribe(TOPIC, (body) => this.#forget(body));
  }

  /** The views of pools; undefined for those that there are not. */
  async pools(tenantId: string, poolIds: Iterable<string>): Promise<ReadonlyMap<string, PoolView | undefined>> {
    const ids = [...new Set(poolIds)];
    const missing = ids.filter((id) => !this.#pools.has(`${tenantId}/${id}`));
    if (missing.length > 0) this.#load(tenantId, missing);
    const found = new Map<string, PoolView | undefined>();
    const nothing = Promise.resolve(undefined);
    const views = await Promise.all(ids.map((id) => this.#pools.get(`${tenantId}/${id}`) ?? nothing));
    for (const [index, id] of ids.entries()) found.set(id, views[index]);
    return found;
  }

  /** The rules of a tenant, compiled and in order. */
  rules(tenantId: string): Promise<readonly CompiledRule[]> {
    const { db, cel, clock } = this.#options;
    const known = this.#rules.get(tenantId);
    if (known !== undefined && clock.monotonicMs() - known.atMs <= MAX_RULES_AGE_MS) return known.value;
    const value = allRules(db.asTenant(tenantId), tenantId).then((rules) => compileRules(rules, cel));
    const kept = { atMs: clock.monotonicMs(), value };
    this.#rules.set(tenantId, kept);
    value.catch(() => {
      if (this.#rules.get(tenantId) === kept) this.#rules.delete(tenantId);
    });
    return value;
  }

  /** Forgets views that turned out to be old. */
  drop(tenantId: string, poolIds: readonly string[]): void {
    for (const id of poolIds) this.#pools.delete(`${tenantId}/${id}`);
  }

  /** Pools, or who belongs to them, changed here: forgets them, and tells the other nodes. */
  poolsChanged(tenantId: string, poolIds: readonly string[]): void {
    this.drop(tenantId, poolIds);
    for (const id of poolIds) this.#options.bus.publish(TOPIC, `${tenantId}/${id}`);
  }

  /** Rules changed here: forgets them, and tells the other nodes. */
  rulesChanged(tenantId: string): void {
    this.#rules.delete(tenantId);
    this.#options.bus.publish(TOPIC, `${tenantId}/${RULES}`);
  }

  #forget(body: string): void {
    const [tenantId = '', id = ''] = body.split('/');
    if (id === RULES) this.#rules.delete(tenantId);
    else this.#pools.delete(body);
  }

  /** One query for all of them; each is compiled as soon as it is there, unless it is what was kept already. */
  #load(tenantId: string, poolIds: readonly string[]): void {
    const { db, cel } = this.#options;
    const loaded = loadPools(db.asTenant(tenantId), tenantId, poolIds).then(
      (pools) => new Map(pools.map((pool) => [pool.id, pool])),
    );
    for (const id of poolIds) {
      const key = `${tenantId}/${id}`;
      const value = loaded.then((pools) => {
        const pool = pools.get(id);
        return pool === undefined ? undefined : compilePool(pool, pool.recipients, cel, pool.standbys);
      });
      this.#pools.set(key, value);
      value.catch(() => {
        if (this.#pools.get(key) === value) this.#pools.delete(key);
      });
    }
    for (const [key] of this.#pools) {
      if (this.#pools.size <= MAX_POOLS) break;
      this.#pools.delete(key);
    }
  }
}
