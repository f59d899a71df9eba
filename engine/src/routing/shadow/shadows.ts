/** What tenants ask of the shadows of their pools. */
import type { TenantAccess } from '../../store/index.js';
import { listShadowDecisions, reportShadows, type ShadowQuery } from './sql/read-shadows.js';
import type { ShadowDecision, ShadowReport } from './stored-shadow.js';

/** Comparisons of pools' decisions with their shadows. A pool that there is not has none. */
export interface Shadows {
  /** Latest first. */
  list(tenantId: string, query: ShadowQuery): Promise<readonly ShadowDecision[]>;
  /** Since a moment, us. */
  report(tenantId: string, poolId: string, sinceUs: number): Promise<readonly ShadowReport[]>;
}

/** Those in this database. */
export function createShadows(db: TenantAccess): Shadows {
  return {
    list: (tenantId, query) => listShadowDecisions(db.asTenant(tenantId), tenantId, query),
    report: (tenantId, poolId, sinceUs) => reportShadows(db.asTenant(tenantId), tenantId, poolId, sinceUs),
  };
}
