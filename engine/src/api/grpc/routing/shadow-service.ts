/** RoutingService: what shadows of pools would have chosen. */
import type {
  GetShadowReportRequest,
  GetShadowReportResponse,
  ListShadowDecisionsRequest,
  ListShadowDecisionsResponse,
  ShadowDecision as DecisionMessage,
  ShadowSummary,
} from '../../../gen/ductor/v1/routing.js';
import { isUuid, type Clock } from '../../../kernel/index.js';
import type { ShadowDecision, ShadowQuery, ShadowReport, Shadows } from '../../../routing/index.js';
import type { Pools } from '../../../pools/index.js';
import type { Unary } from '../call.js';
import { badCursor, cursorNumber, decodeCursor } from '../checks/cursor.js';
import { checkId, FieldChecks, MAX_IDENTIFIER_CHARS } from '../checks/field-checks.js';
import { instantOf } from '../schedules/schedule-fields.js';
import { pageOf } from '../wire/page.js';
import { timestampOf } from '../wire/timestamp.js';

/** What the handlers need. */
export interface ShadowParts {
  readonly shadows: Shadows;
  readonly pools: Pick<Pools, 'get'>;
  readonly clock: Pick<Clock, 'nowUs'>;
}

const DAY_US = 86_400_000_000;
const CAVEAT =
  'Loads and outcomes are those that the live strategy caused; a shadow that decided would have caused others.';

function summaryOf(report: ShadowReport): ShadowSummary {
  const { shadowId, strategy, decisions, agreed, errors, wouldFallBack, costed } = report;
  return {
    ...{ shadowId, strategy, decisions, agreed, errors, wouldFallBack, costed },
    agreedMilli: decisions === 0 ? 0 : Math.round((1000 * agreed) / decisions),
    meanJaccardMilli: report.meanJaccardMilli,
    meanKendallTauMilli: report.meanTauMilli ?? undefined,
    ...{ liveFairnessMilli: report.liveJainMilli, shadowFairnessMilli: report.shadowJainMilli },
    ...{ liveCostMicros: report.liveCostMicros, shadowCostMicros: report.shadowCostMicros },
    ...{ withDeadline: report.withDeadline, liveBreaches: report.liveBreaches },
    shadowBreaches: report.shadowBreaches,
  };
}

function difference<T extends number | bigint>(a: T | undefined, b: T | undefined): bigint | undefined {
  return a === undefined || b === undefined ? undefined : BigInt(a) - BigInt(b);
}

function messageOf(each: ShadowDecision): DecisionMessage {
  const { decisionId, poolId, shadowId, strategy, agrees, jaccardMilli, tookUs, stateVersion } = each;
  return {
    ...{ decisionId, poolId, shadowId, strategy, agrees, jaccardMilli, tookUs, stateVersion },
    decidedAt: timestampOf(each.decidedAtUs),
    ranking: [...each.ranking],
    ...{ liveRecipientId: each.liveWinner ?? '', shadowRecipientId: each.shadowWinner ?? '' },
    ...{ liveRankInShadow: each.liveRankInShadow ?? 0, shadowRankInLive: each.shadowRankInLive ?? 0 },
    ...{ kendallTauMilli: each.kendallTauMilli, wouldFallBack: each.wouldFallBack, loadDelta: each.loadDelta },
    costDeltaMicros: difference(each.shadowCostMicros, each.liveCostMicros),
    headroomDeltaUs: difference(each.shadowHeadroomUs, each.liveHeadroomUs),
    error: each.error ?? '',
  };
}

/** GetShadowReport. */
export function getShadowReport({
  shadows,
  pools,
  clock,
}: ShadowParts): Unary<GetShadowReportRequest, GetShadowReportResponse> {
  return async ({ poolId, since }, { tenantId }) => {
    const checks = new FieldChecks();
    checks.uuid('pool_id', poolId);
    const sinceUs = instantOf(checks, 'since', since) ?? clock.nowUs() - DAY_US;
    checks.done();
    await pools.get(tenantId, poolId);
    const reports = await shadows.report(tenantId, poolId, sinceUs);
    return { data: { poolId, since: timestampOf(sinceUs), shadows: reports.map(summaryOf), caveat: CAVEAT } };
  };
}

/** The last comparison of the page before. */
function beforeOf(cursor: string): ShadowQuery['before'] {
  if (cursor === '') return null;
  const [at, decisionId = '', shadowId = ''] = decodeCursor(cursor, 3);
  if (!isUuid(decisionId)) throw badCursor(cursor);
  return { decidedAtUs: cursorNumber(at, cursor), decisionId, shadowId };
}

/** ListShadowDecisions. A cursor names moment, decision and shadow of the last comparison of its page. */
export function listShadowDecisions({
  shadows,
  pools,
}: ShadowParts): Unary<ListShadowDecisionsRequest, ListShadowDecisionsResponse> {
  return async ({ poolId, shadowId, disagreeing: isDisagreeing, pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    checks.text('shadow_id', shadowId, MAX_IDENTIFIER_CHARS);
    checks.done();
    checkId('pool_id', poolId);
    await pools.get(tenantId, poolId);
    const found = await shadows.list(tenantId, {
      ...{ poolId, shadowId: shadowId === '' ? null : shadowId, isDisagreeing },
      ...{ before: beforeOf(cursor), limit: limit + 1 },
    });
    const { page, end } = pageOf(found, limit, (last) => [last.decidedAtUs, last.decisionId, last.shadowId]);
    return { data: page.map(messageOf), pagination: end };
  };
}
