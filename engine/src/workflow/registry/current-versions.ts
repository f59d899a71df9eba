/**
 * Current versions of workflows, for triggers. An answer of the database is used for CURRENT_VERSION_MS; the lookups of
 * a tenant share one query.
 *
 * Invariants:
 * 1. A lookup sees every move of a current version that had been answered when the lookup was made, through whatever
 *    node: an answer is used for CURRENT_VERSION_MS from when its query was sent, and who moves a current version
 *    answers only SETTLE_MS after the commit, which is longer. What is not published yet is asked for each time.
 * 2. At most one query of a tenant is under way; lookups that come meanwhile, or in the same turn, gather for the next.
 * 3. At most MAX_WAITING lookups wait; more are refused.
 */
import { LRUCache } from 'lru-cache';
import { type Clock, DuctorError, sleep } from '../../kernel/index.js';
import type { TenantAccess } from '../../store/index.js';
import { byTenant } from '../by-tenant.js';
import { findCurrentVersions } from './sql/find-current-versions.js';

/** Finds the current version of a workflow: 0 when none was published, undefined when there is no such workflow. */
export type CurrentVersions = (tenantId: string, familySlug: string) => Promise<number | undefined>;

const MAX_WAITING = 10_000;
const BATCH = 500;
/** Current versions that are remembered. */
const MAX_KNOWN = 10_000;
/** How long an answer is used, ms. */
const CURRENT_VERSION_MS = 100;
/** How long who moved a current version waits before it says so, ms: clocks of two machines may run 10 % apart. */
const SETTLE_MS = 120;

interface Lookup {
  readonly tenantId: string;
  readonly familySlug: string;
  readonly resolve: (version: number | undefined) => void;
  readonly reject: (error: unknown) => void;
}

interface Known {
  readonly version: number;
  /** When the query was sent that found it, by the monotonic clock, ms. */
  readonly sentMs: number;
}

const keyOf = ({ tenantId, familySlug }: Pick<Lookup, 'tenantId' | 'familySlug'>): string =>
  `${tenantId}/${familySlug}`;

/** Resolves when no node uses an older current version any more: to be awaited before a move of one is answered. */
export function versionSettled(clock: Clock): Promise<void> {
  return sleep(clock, SETTLE_MS);
}

/** Lookups in this database. Throws limit_exceeded, database_unavailable. */
export function currentVersions(db: TenantAccess, clock: Clock): CurrentVersions {
  const known = new LRUCache<string, Known>({ max: MAX_KNOWN });
  let waiting: Lookup[] = [];
  let isBusy = false;

  const knownNow = (key: string): number | undefined => {
    const found = known.get(key);
    return found !== undefined && clock.monotonicMs() - found.sentMs < CURRENT_VERSION_MS ? found.version : undefined;
  };
  const runTenant = async (tenantId: string, batch: readonly Lookup[]): Promise<void> => {
    try {
      const sentMs = clock.monotonicMs();
      const versions = await findCurrentVersions(db.asTenant(tenantId), batch);
      for (const [index, lookup] of batch.entries()) {
        const version = versions[index];
        if (version !== undefined && version > 0) known.set(keyOf(lookup), { version, sentMs });
        lookup.resolve(version);
      }
    } catch (error) {
      for (const lookup of batch) lookup.reject(error);
    }
  };
  const runBatch = async (batch: readonly Lookup[]): Promise<void> => {
    await Promise.all([...byTenant(batch)].map(([tenantId, lookups]) => runTenant(tenantId, lookups)));
  };
  const drain = async (): Promise<void> => {
    // Lookups of the same turn still come in before this continues.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      await runBatch(batch);
    }
    isBusy = false;
  };
  return (tenantId, familySlug) => {
    const version = knownNow(keyOf({ tenantId, familySlug }));
    if (version !== undefined) return Promise.resolve(version);
    return new Promise((resolve, reject) => {
      if (waiting.length >= MAX_WAITING) {
        reject(
          new DuctorError('limit_exceeded', `${MAX_WAITING} triggers wait for the database`, { retryAfterMs: 1000 }),
        );
        return;
      }
      waiting.push({ tenantId, familySlug, resolve, reject });
      if (isBusy) return;
      isBusy = true;
      void drain();
    });
  };
}
