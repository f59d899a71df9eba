/**
 * How work went, as it is reported: what strategies learn from, what ejects recipients that fail, and what takes seats
 * away that are rate limited.
 *
 * Locks in everybody's order: the state of the pool's strategies, the account of the recipient. Whoever decides holds
 * the same ones, so that nobody is bound to a seat after everybody was sent away from it.
 */
import { lockAccounts, readAssignments } from '../../capacity/index.js';
import { DuctorError } from '../../kernel/index.js';
import { msOf } from '../../pools/index.js';
import type { Queryable, TenantAccess } from '../../store/index.js';
import type { PoolView } from '../pipeline/view.js';
import { evictSeat, releaseOwners } from '../standing/sql/seats.js';
import { lockStates, openStates, writeStates } from '../standing/sql/strategy-states.js';
import { afterCount } from '../strategies/outcome-counts.js';
import type { PoolViews } from '../views/pool-views.js';
import type { RecoveryPolicy } from './after-limit.js';
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

/** Whose work it was: that of an assignment, or, for work that a workflow holds, a recipient's in a pool. */
export type ReportedWork =
  { readonly assignmentId: string } | { readonly poolId: string; readonly recipientId: string };

/** Reports. */
export interface Outcomes {
  /** Throws not_found. */
  report(tenantId: string, work: ReportedWork, report: Omit<Report, 'recipientId'>): Promise<RecipientHealth>;
  /** Ends all seats and tiers of an owner, in every pool; returns how many bindings that were. */
  releaseSeats(tenantId: string, owner: string): Promise<number>;
}

/** A recipient of a pool about which something is reported. */
interface Target {
  readonly recipientId: string;
  readonly poolId: string;
  /** undefined: not known. */
  readonly startedUs: number | undefined;
  /** undefined: the pool is gone. */
  readonly view: PoolView | undefined;
}

const ahead = (us: number | null, nowUs: number): number | null => (us !== null && us > nowUs ? us : null);

/** How long the first limit lasts that nobody has named the end of. */
const BASE = '30s';

/** How a pool has its seats recover; undefined: it has no seats, or is gone. */
export function policyOf(view: PoolView | undefined): RecoveryPolicy | undefined {
  const seats = view?.compiled.seats;
  if (view === undefined || seats === undefined) return undefined;
  const base = view.document.fields.config.health?.base ?? BASE;
  return {
    probes: seats.recovery === 'probe',
    ...{ maxUs: msOf(seats.max_cooldown) * 1000, baseUs: msOf(base) * 1000 },
  };
}

async function targetOf(access: Queryable, views: PoolViews, tenantId: string, work: ReportedWork): Promise<Target> {
  const viewOf = async (poolId: string) => (await views.pools(tenantId, [poolId])).get(poolId);
  if ('assignmentId' in work) {
    const { assignmentId } = work;
    const assignment = (await readAssignments(access, tenantId, [assignmentId])).get(assignmentId);
    if (assignment === undefined) throw new DuctorError('not_found', `there is no assignment ${assignmentId}`);
    const { recipientId, poolId, createdAtUs: startedUs } = assignment;
    return { recipientId, poolId, startedUs, view: await viewOf(poolId) };
  }
  const { poolId, recipientId } = work;
  const view = await viewOf(poolId);
  if (view === undefined) throw new DuctorError('not_found', `there is no pool ${poolId}`);
  if (!view.members.some(({ id }) => id === recipientId)) {
    throw new DuctorError('not_found', `pool ${poolId} has no recipient ${recipientId}`);
  }
  return { poolId, recipientId, view, startedUs: undefined };
}

/** Whether a strategy of the pool goes by how often work went well. That somebody met a rate limit does not count. */
export function isCounted(view: PoolView, { isSuccess, resetAtUs }: Pick<Report, 'isSuccess' | 'resetAtUs'>): boolean {
  return view.compiled.countsOutcomes && (isSuccess || resetAtUs === null);
}

async function count(tx: Queryable, tenantId: string, { view, poolId, recipientId }: Target, report: Report) {
  if (view === undefined || !isCounted(view, report)) return;
  const before = (await lockStates(tx, tenantId, [poolId])).get(poolId) ?? {};
  const members = new Set([...view.members.map(({ id }) => id), recipientId]);
  await writeStates(tx, tenantId, new Map([[poolId, afterCount(before, report, members)]]));
}

async function write(
  tx: Queryable,
  tenantId: string,
  target: Target,
  report: Omit<Report, 'recipientId'>,
): Promise<RecipientHealth> {
  const { recipientId, poolId, view, startedUs } = target;
  const settings = view?.document.fields.config.health ?? {};
  await count(tx, tenantId, target, { ...report, recipientId });
  await lockAccounts(tx, tenantId, [recipientId]);
  const before = await lockLearned(tx, tenantId, recipientId);
  const moment = { ...(await countEjected(tx, tenantId, poolId)), startedUs };
  const { row, isLimited } = afterReport(before, { ...report, recipientId }, moment, settings, policyOf(view));
  await writeLearned(tx, tenantId, recipientId, row);
  if (isLimited) await evictSeat(tx, tenantId, recipientId);
  return {
    ...{ recipientId, failuresInARow: row.failures_in_a_row, latencyUs: row.latency_us },
    ejectedUntilUs: ahead(row.ejected_until, moment.nowUs),
    cooldownUntilUs: ahead(row.cooldown_until, moment.nowUs),
  };
}

/** Reports on work in this database. */
export function createOutcomes(db: TenantAccess, views: PoolViews): Outcomes {
  return {
    async report(tenantId, work, report) {
      const access = db.asTenant(tenantId);
      const target = await targetOf(access, views, tenantId, work);
      if (target.view?.compiled.countsOutcomes === true) await openStates(access, tenantId, [target.poolId]);
      return access.transaction((tx) => write(tx, tenantId, target, report));
    },
    releaseSeats: (tenantId, owner) => releaseOwners(db.asTenant(tenantId), [{ tenantId, owner }]),
  };
}
