/** How assignments went, as it is reported: what strategies learn from, and what ejects recipients that fail. */
import { readAssignments } from '../../capacity/index.js';
import { DuctorError } from '../../kernel/index.js';
import type { TenantAccess } from '../../store/index.js';
import type { PoolViews } from '../views/pool-views.js';
import { afterReport, type Report } from './after-report.js';
import { countEjected, lockLearned, writeLearned } from './sql/recipient-facts.js';

/** What is known of a recipient after a report. */
export interface RecipientHealth {
  readonly recipientId: string;
  readonly failuresInARow: number;
  /** null: it is not ejected. */
  readonly ejectedUntilUs: number | null;
  /** null: it has no rate limit. */
  readonly cooldownUntilUs: number | null;
  /** null: not known. */
  readonly latencyUs: number | null;
}

/** Reports. */
export interface Outcomes {
  /** Throws not_found. */
  report(tenantId: string, assignmentId: string, report: Omit<Report, 'recipientId'>): Promise<RecipientHealth>;
}

const ahead = (us: number | null, nowUs: number): number | null => (us !== null && us > nowUs ? us : null);

/** Reports on the assignments in this database. */
export function createOutcomes(db: TenantAccess, views: PoolViews): Outcomes {
  return {
    async report(tenantId, assignmentId, report) {
      const access = db.asTenant(tenantId);
      const assignment = (await readAssignments(access, tenantId, [assignmentId])).get(assignmentId);
      if (assignment === undefined) throw new DuctorError('not_found', `there is no assignment ${assignmentId}`);
      const { recipientId, poolId } = assignment;
      const view = (await views.pools(tenantId, [poolId])).get(poolId);
      const settings = view?.document.fields.config.health ?? {};
      return access.transaction(async (tx) => {
        const before = await lockLearned(tx, tenantId, recipientId);
        const moment = await countEjected(tx, tenantId, poolId);
        const after = afterReport(before, { ...report, recipientId }, moment, settings);
        await writeLearned(tx, tenantId, recipientId, after);
        return {
          ...{ recipientId, failuresInARow: after.failures_in_a_row, latencyUs: after.latency_us },
          ejectedUntilUs: ahead(after.ejected_until, moment.nowUs),
          cooldownUntilUs: ahead(after.cooldown_until, moment.nowUs),
        };
      });
    },
  };
}
