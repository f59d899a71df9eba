/** Who may claim work that is put in a claim queue. */
import type { Filtered } from './filter.js';
import type { PoolSettings } from './settings.js';
import type { VerdictCode } from './verdicts.js';

/** Most recipients that one piece of work is offered to; the best ranked ones. */
export const MAX_CLAIMANTS = 1000;

/** What passes by itself, and what admission asks about anew when somebody claims. */
const PASSING: ReadonlySet<VerdictCode> = new Set([
  'state_not_available',
  'cooling_down',
  'outside_schedule',
  'at_concurrency',
  'at_daily',
  'ejected',
]);

/** How many claimants the first wave makes out. */
export function firstWaveSize({ claim: { waves } }: PoolSettings, count: number): number {
  return waves[0]?.size ?? count;
}

/**
 * Who may claim work that its pool could give to nobody: those that nothing stands against but what passes, in order of
 * their ids. They are away or full now, and take it when they have time.
 */
export function claimantsIn(
  filtered: Filtered | undefined,
): readonly { readonly id: string; readonly units: number }[] {
  return (filtered?.looked ?? [])
    .filter(({ verdicts }) => verdicts.every(({ code }) => PASSING.has(code)))
    .slice(0, MAX_CLAIMANTS)
    .map(({ member, units }) => ({ id: member.id, units }));
}
