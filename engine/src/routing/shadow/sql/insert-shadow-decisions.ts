import { prepared, type Queryable } from '../../../store/index.js';
import type { ShadowDecision } from '../stored-shadow.js';

const INSERT = prepared(
  'routing_insert_shadow_decisions',
  `insert into ductor.shadow_decision (tenant_id, decision_id, pool_id, shadow_id, strategy, decided_at, compared_at,
      ranking, live_winner, shadow_winner, agrees, live_rank_in_shadow, shadow_rank_in_live, jaccard_milli,
      kendall_tau_milli, would_fall_back, live_cost_micros, shadow_cost_micros, live_headroom_us, shadow_headroom_us,
      load_delta, took_us, state_version, error, expires_at)
    select $1::uuid, n.decision_id, n.pool_id, n.shadow_id, n.strategy, n.decided_at, ductor.now_us(),
        n.ranking, n.live_winner, n.shadow_winner, n.agrees, n.live_rank_in_shadow, n.shadow_rank_in_live,
        n.jaccard_milli, n.kendall_tau_milli, n.would_fall_back, n.live_cost_micros, n.shadow_cost_micros,
        n.live_headroom_us, n.shadow_headroom_us, n.load_delta, n.took_us, n.state_version, n.error, n.expires_at
      from jsonb_populate_recordset(null::ductor.shadow_decision, $2::jsonb) as n
    on conflict do nothing`,
);

/** Stores comparisons. `expiresAtUs`: until when each is kept. */
export async function insertShadowDecisions(
  tx: Queryable,
  tenantId: string,
  comparisons: readonly (ShadowDecision & { readonly expiresAtUs: number })[],
): Promise<void> {
  if (comparisons.length === 0) return;
  const rows = comparisons.map((each) => ({
    ...{ decision_id: each.decisionId, pool_id: each.poolId, shadow_id: each.shadowId, strategy: each.strategy },
    ...{ decided_at: each.decidedAtUs, ranking: each.ranking, agrees: each.agrees },
    ...{ live_winner: each.liveWinner, shadow_winner: each.shadowWinner },
    ...{ live_rank_in_shadow: each.liveRankInShadow, shadow_rank_in_live: each.shadowRankInLive },
    ...{ jaccard_milli: each.jaccardMilli, kendall_tau_milli: each.kendallTauMilli },
    ...{ would_fall_back: each.wouldFallBack, load_delta: each.loadDelta },
    ...{ live_cost_micros: each.liveCostMicros?.toString(), shadow_cost_micros: each.shadowCostMicros?.toString() },
    ...{ live_headroom_us: wholeOf(each.liveHeadroomUs), shadow_headroom_us: wholeOf(each.shadowHeadroomUs) },
    ...{ took_us: each.tookUs, state_version: each.stateVersion, error: each.error, expires_at: each.expiresAtUs },
  }));
  await tx.query(INSERT, [tenantId, JSON.stringify(rows)]);
}

function wholeOf(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value);
}
