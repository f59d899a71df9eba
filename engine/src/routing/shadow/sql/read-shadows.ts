import { prepared, type Queryable, type Row } from '../../../store/index.js';
import type { ShadowDecision, ShadowReport } from '../stored-shadow.js';

/** Which comparisons. */
export interface ShadowQuery {
  readonly poolId: string;
  /** null: of any. */
  readonly shadowId: string | null;
  /** Only those where the winners differ. */
  readonly isDisagreeing: boolean;
  /** The last one of the page before; null: from the first. */
  readonly before: { readonly decidedAtUs: number; readonly decisionId: string; readonly shadowId: string } | null;
  readonly limit: number;
}

interface DecisionRow extends Row {
  readonly decision_id: string;
  readonly pool_id: string;
  readonly shadow_id: string;
  readonly strategy: string;
  readonly decided_at: number;
  readonly ranking: readonly string[];
  readonly live_winner: string | null;
  readonly shadow_winner: string | null;
  readonly agrees: boolean;
  readonly live_rank_in_shadow: number | null;
  readonly shadow_rank_in_live: number | null;
  readonly jaccard_milli: number;
  readonly kendall_tau_milli: number | null;
  readonly would_fall_back: boolean;
  readonly live_cost: string | null;
  readonly shadow_cost: string | null;
  readonly live_headroom_us: number | null;
  readonly shadow_headroom_us: number | null;
  readonly load_delta: number | null;
  readonly took_us: number;
  readonly state_version: number;
  readonly error: string | null;
}

interface ReportRow extends Row {
  readonly shadow_id: string;
  readonly strategy: string;
  readonly decisions: number;
  readonly agreed: number;
  readonly errors: number;
  readonly would_fall_back: number;
  readonly jaccard: number;
  readonly tau: number | null;
  readonly live_jain: number;
  readonly shadow_jain: number;
  readonly costed: number;
  readonly live_cost: string;
  readonly shadow_cost: string;
  readonly with_deadline: number;
  readonly live_breaches: number;
  readonly shadow_breaches: number;
}

const LIST = prepared(
  'routing_list_shadow_decisions',
  `select s.*, s.live_cost_micros::text as live_cost, s.shadow_cost_micros::text as shadow_cost
    from ductor.shadow_decision s
    where s.tenant_id = $1::uuid and s.pool_id = $2::uuid and ($3::text is null or s.shadow_id = $3::text)
      and (not $4::boolean or not s.agrees)
      and ($5::bigint is null
        or (s.decided_at, s.decision_id) < ($5::bigint, $6::uuid)
        or (s.decided_at = $5::bigint and s.decision_id = $6::uuid and s.shadow_id > $7::text))
    order by s.decided_at desc, s.decision_id desc, s.shadow_id limit $8`,
);
/** Jain's index: (sum of x)^2 / (n * sum of x^2), where those who got nothing count. */
const JAIN = (winner: string): string => `coalesce((select
    (1000 * sum(c.x) ^ 2 / (greatest((select n from members), count(*)) * sum(c.x ^ 2)))::integer
    from (select count(*)::numeric as x from mine w where w.shadow_id = m.shadow_id and w.${winner} is not null
      group by w.${winner}) c), 0)`;
const REPORT = prepared(
  'routing_report_shadows',
  `with mine as (select * from ductor.shadow_decision s
      where s.tenant_id = $1::uuid and s.pool_id = $2::uuid and s.decided_at >= $3::bigint),
    members as (select count(*) as n from ductor.membership where tenant_id = $1::uuid and pool_id = $2::uuid)
    select m.shadow_id, max(m.strategy) as strategy, count(*)::integer as decisions,
      count(*) filter (where m.agrees)::integer as agreed,
      count(*) filter (where m.error is not null)::integer as errors,
      count(*) filter (where m.would_fall_back)::integer as would_fall_back,
      round(avg(m.jaccard_milli))::integer as jaccard, round(avg(m.kendall_tau_milli))::integer as tau,
      ${JAIN('live_winner')} as live_jain, ${JAIN('shadow_winner')} as shadow_jain,
      count(m.live_cost_micros + m.shadow_cost_micros)::integer as costed,
      coalesce(sum(m.live_cost_micros) filter (where m.shadow_cost_micros is not null), 0)::text as live_cost,
      coalesce(sum(m.shadow_cost_micros) filter (where m.live_cost_micros is not null), 0)::text as shadow_cost,
      count(m.live_headroom_us + m.shadow_headroom_us)::integer as with_deadline,
      count(*) filter (where m.live_headroom_us < 0 and m.shadow_headroom_us is not null)::integer as live_breaches,
      count(*) filter (where m.shadow_headroom_us < 0 and m.live_headroom_us is not null)::integer as shadow_breaches
      from mine m group by m.shadow_id order by count(*) desc, m.shadow_id`,
);

const bigOf = (text: string | null): bigint | undefined => (text === null ? undefined : BigInt(text));

function toDecision(row: DecisionRow): ShadowDecision {
  return {
    ...{ decisionId: row.decision_id, poolId: row.pool_id, shadowId: row.shadow_id, strategy: row.strategy },
    ...{ decidedAtUs: row.decided_at, ranking: row.ranking, agrees: row.agrees, jaccardMilli: row.jaccard_milli },
    ...{ liveWinner: row.live_winner ?? undefined, shadowWinner: row.shadow_winner ?? undefined },
    liveRankInShadow: row.live_rank_in_shadow ?? undefined,
    shadowRankInLive: row.shadow_rank_in_live ?? undefined,
    kendallTauMilli: row.kendall_tau_milli ?? undefined,
    ...{ wouldFallBack: row.would_fall_back, loadDelta: row.load_delta ?? undefined },
    ...{ liveCostMicros: bigOf(row.live_cost), shadowCostMicros: bigOf(row.shadow_cost) },
    liveHeadroomUs: row.live_headroom_us ?? undefined,
    shadowHeadroomUs: row.shadow_headroom_us ?? undefined,
    ...{ tookUs: row.took_us, stateVersion: row.state_version, error: row.error ?? undefined },
  };
}

function toReport(row: ReportRow): ShadowReport {
  return {
    ...{ shadowId: row.shadow_id, strategy: row.strategy, decisions: row.decisions, agreed: row.agreed },
    ...{ errors: row.errors, wouldFallBack: row.would_fall_back },
    ...{ meanJaccardMilli: row.jaccard, meanTauMilli: row.tau },
    ...{ liveJainMilli: row.live_jain, shadowJainMilli: row.shadow_jain },
    ...{ costed: row.costed, liveCostMicros: BigInt(row.live_cost), shadowCostMicros: BigInt(row.shadow_cost) },
    ...{ withDeadline: row.with_deadline, liveBreaches: row.live_breaches, shadowBreaches: row.shadow_breaches },
  };
}

/** Comparisons of a pool, latest first. */
export async function listShadowDecisions(
  db: Queryable,
  tenantId: string,
  { poolId, shadowId, isDisagreeing, before, limit }: ShadowQuery,
): Promise<readonly ShadowDecision[]> {
  const place = [before?.decidedAtUs ?? null, before?.decisionId ?? null, before?.shadowId ?? null];
  const values = [tenantId, poolId, shadowId, isDisagreeing, ...place, limit];
  const { rows } = await db.query<DecisionRow>(LIST, values);
  return rows.map(toDecision);
}

/** What the shadows of a pool came to since a moment, the most compared first. */
export async function reportShadows(
  db: Queryable,
  tenantId: string,
  poolId: string,
  sinceUs: number,
): Promise<readonly ShadowReport[]> {
  const { rows } = await db.query<ReportRow>(REPORT, [tenantId, poolId, sinceUs]);
  return rows.map(toReport);
}
