/** What ends with chains of runs, in memory: in the very commit that ends them. */
import { uncommit } from '../../capacity/index.js';
import { isAssigning } from '../../routing/index.js';
import type { MadeDecision } from '../coordinator/gate-ports.js';
import type { MemoryClaims } from './memory-claims.js';
import type { Counters } from './memory-counters.js';
import type { MemoryQueues } from './memory-queues.js';

/** What it stands on. */
export interface EndingGround {
  readonly accounts: Map<string, Counters>;
  readonly made: readonly MadeDecision[];
  readonly claims: MemoryClaims;
  readonly queues: MemoryQueues;
  /** Decisions whose assignments have ended. */
  readonly over: Set<string>;
}

function giveBack({ accounts }: EndingGround, recipientId: string, units: number, committedAtUs: number): void {
  const account = accounts.get(recipientId);
  if (account === undefined) return;
  accounts.set(recipientId, uncommit({ ...account, maxConcurrent: 0, dailyLimit: 0 }, units, committedAtUs));
}

/** Whether something that a decision assigned has not ended. */
export function isUnderWay({ over }: Pick<EndingGround, 'over'>, { decision, assignmentIds }: MadeDecision): boolean {
  return assignmentIds.length > 0 && isAssigning(decision) && !over.has(decision.input.decisionId);
}

/** Ends what a decision assigned, as far as that is under way. */
export function endMade(ground: EndingGround, each: MadeDecision): void {
  if (!isUnderWay(ground, each)) return;
  const { decisionId, nowUs: decidedUs } = each.decision.input;
  ground.over.add(decisionId);
  for (const { id, units } of each.decision.slate) giveBack(ground, id, units, decidedUs);
}

/** Ends what is open of these chains, by their first runs. */
export function endWith(ground: EndingGround, chainIds: readonly string[], nowUs: number): void {
  if (chainIds.length === 0) return;
  const { made, claims, queues } = ground;
  queues.end(chainIds);
  for (const each of made) {
    const { endsWith } = each.ask;
    if (endsWith !== undefined && chainIds.includes(endsWith)) endMade(ground, each);
  }
  const gone = { endedUs: nowUs, nextUs: null, state: 'withdrawn' } as const;
  for (const item of claims.items.values()) {
    if (item.endsWith === null || !chainIds.includes(item.endsWith)) continue;
    if (item.state !== 'open' && item.state !== 'claimed') continue;
    claims.items.set(item.itemId, { ...item, ...gone });
    const claim = claims.assignments.get(item.assignmentId ?? '');
    if (item.state !== 'claimed' || claim === undefined) continue;
    claims.assignments.set(claim.assignmentId, { ...claim, state: 'released', endedAtUs: nowUs });
    giveBack(ground, claim.recipientId, claim.units, claim.committedAtUs ?? nowUs);
  }
}
