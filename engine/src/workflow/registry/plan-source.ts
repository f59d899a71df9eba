/**
 * Compiled versions, kept in memory. A version never changes, so what is kept never goes stale.
 *
 * Invariants:
 * 1. Kept plans stay within MAX_BYTES of definitions; the least recently used goes first.
 * 2. One version is loaded once at a time, however many ask.
 * 3. Failures and absence are not kept: the next call asks again.
 */
import { LRUCache } from 'lru-cache';
import type { CelCompiler } from '../../expressions/index.js';
import type { TenantAccess } from '../../store/index.js';
import type { PlanSource } from '../coordinator/ports.js';
import { compilePlan } from '../definition/index.js';
import type { Plan } from '../machine/plan.js';
import type { CurrentVersions } from './current-versions.js';
import { storedDefinition } from './records.js';
import { loadDefinition } from './sql/load-definition.js';

/** Bytes of definitions whose plans are kept; a plan takes some ten times the bytes of its definition. */
const MAX_BYTES = 16 * 1024 * 1024;

function keyOf(tenantId: string, familySlug: string, version: number): string {
  return `${tenantId} ${version} ${familySlug}`;
}

/** How a plan source is bounded. */
export interface PlanSourceOptions {
  /** Bytes of definitions whose plans are kept. Default 16 MiB. */
  readonly maxBytes?: number;
}

/**
 * Plans of published versions. `load` throws database_unavailable, and expression_invalid or expression_too_costly when
 * an engine with other limits published the version.
 */
export function createPlanSource(
  db: TenantAccess,
  cel: CelCompiler,
  current: CurrentVersions,
  options: PlanSourceOptions = {},
): PlanSource {
  const plans = new LRUCache<string, Plan>({ maxSize: options.maxBytes ?? MAX_BYTES });
  const loading = new Map<string, Promise<Plan | undefined>>();

  const load = async (tenantId: string, familySlug: string, version: number): Promise<Plan | undefined> => {
    const bytes = await loadDefinition(db.asTenant(tenantId), tenantId, familySlug, version);
    if (bytes === undefined) return undefined;
    const plan = compilePlan(storedDefinition(bytes), version, cel);
    plans.set(keyOf(tenantId, familySlug, version), plan, { size: bytes.byteLength });
    return plan;
  };
  return {
    current,
    peek: (tenantId, familySlug, version) => plans.get(keyOf(tenantId, familySlug, version)),
    load(tenantId, familySlug, version) {
      const key = keyOf(tenantId, familySlug, version);
      const known = plans.get(key);
      if (known !== undefined) return Promise.resolve(known);
      const underWay = loading.get(key);
      if (underWay !== undefined) return underWay;
      const started = load(tenantId, familySlug, version).finally(() => loading.delete(key));
      loading.set(key, started);
      return started;
    },
  };
}
