/**
 * Current versions of workflows, for triggers. Asked of the database each time, so that a publish through any node is
 * seen by the next trigger through any other; the lookups of a tenant share one query.
 *
 * Invariants:
 * 1. A lookup is answered by a query that was sent after the lookup was made: it sees every publish that had been
 *    answered by then.
 * 2. At most one query of a tenant is under way; lookups that come meanwhile, or in the same turn, gather for the next.
 * 3. At most MAX_WAITING lookups wait; more are refused.
 */
import { DuctorError } from '../../kernel/index.js';
import type { TenantAccess } from '../../store/index.js';
import { byTenant } from '../by-tenant.js';
import { findCurrentVersions } from './sql/find-current-versions.js';

/** Finds the current version of a workflow: 0 when none was published, undefined when there is no such workflow. */
export type CurrentVersions = (tenantId: string, familySlug: string) => Promise<number | undefined>;

const MAX_WAITING = 10_000;
const BATCH = 500;

interface Lookup {
  readonly tenantId: string;
  readonly familySlug: string;
  readonly resolve: (version: number | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Lookups in this database. Throws limit_exceeded, database_unavailable. */
export function currentVersions(db: TenantAccess): CurrentVersions {
  let waiting: Lookup[] = [];
  let isBusy = false;

  const runTenant = async (tenantId: string, batch: readonly Lookup[]): Promise<void> => {
    try {
      const versions = await findCurrentVersions(db.asTenant(tenantId), batch);
      for (const [index, lookup] of batch.entries()) lookup.resolve(versions[index]);
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
  return (tenantId, familySlug) =>
    new Promise((resolve, reject) => {
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
}
