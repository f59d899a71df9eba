/** Which fallback of a pool answers to a reason. */
import type { Fallback } from '../../pools/index.js';
import type { Reason } from './outcomes.js';
import type { PoolView } from './view.js';

/** Reasons that are outages: only fallbacks that say so answer to them. */
const OUTAGES: ReadonlySet<Reason> = new Set(['capacity_authority_unavailable', 'pool_disabled', 'pool_kill_switched']);

/** Reasons that no fallback answers to: another pool would fail alike, or it must not be tried. */
const FINAL: ReadonlySet<Reason> = new Set([
  'invalid_routable',
  'enrichment_failed',
  'deadline_exceeded',
  'strategy_error',
  'max_depth_exceeded',
  'routing_cycle',
]);

/** Reasons that fallbacks know by another name: a breach that has come needs no prediction. */
const NAMES: Partial<Record<Reason, Reason>> = {
  all_cooling_down: 'no_eligible_recipient',
  sla_breached: 'sla_breach_predicted',
};

/**
 * The first fallback that answers to a reason.
 *
 * @param tried how often the work was put off before
 * @param isBarred whether the work may not wait in the pool's queue: the next fallback may have it
 */
export function fallbackFor(view: PoolView, reason: Reason, tried: number, isBarred = false): Fallback | undefined {
  if (FINAL.has(reason)) return undefined;
  const asked = NAMES[reason] ?? reason;
  return view.settings.fallbacks.find(({ kind, on, on_outage, max_attempts }) => {
    // What was tried so often is not put off once more; the next fallback may have it.
    if (kind === 'retry' && max_attempts !== undefined && tried >= max_attempts) return false;
    if (isBarred && kind === 'queue') return false;
    if (OUTAGES.has(reason)) return on_outage === true;
    // Somebody could take the work, only late: nobody gives that up without having said so.
    if (reason === 'sla_breach_predicted') return kind !== 'none' && on?.some((each) => each === reason) === true;
    return on === undefined || on.some((each) => each === asked);
  });
}
