/** What ends with chains of runs, in memory: in the very commit that ends them. */
import { uncommit, type Account } from '../../capacity/index.js';
import { isAssigning } from '../../routing/index.js';
import type { MadeDecision } from '../coordinator/gate-ports.js';
import type { MemoryClaims } from './memory-claims.js';

type Counters = Omit<Account, 'maxConcurrent' | 'dailyLimit'>;

/** What it stands on. */
export interface EndingGround {
  readonly accounts: Map<string, Counters>;
  readonly made: readonly MadeDecision[];
  readonly claims: MemoryClaims;
  /** Decisions whose assignments have ended. */
  readonly over: Set<string>;
}

function giveBack({ accounts }: EndingGround, recipientId: string, units: number, committedAtUs: number): void {
  const account = accounts.get(recipientId);
  if (account === undefined) return;
  accounts.set(recipientId, uncommit({ ...account, maxConcurrent: 0, dailyLimit: 0 }, units, committedAtUs));
}

/** Ends what is open of these chains, by their first runs. */
export function endWith(ground: EndingGround, chainIds: readonly string[], nowUs: number): void {
  if (chainIds.length === 0) return;
  const { made, claims, over } = ground;
  for (const { ask, decision, assignmentIds } of made) {
    const { decisionId, nowUs: decidedUs } = decision.input;
    if (ask.endsWith === undefined || !chainIds.includes(ask.endsWith) || over.has(decisionId)) continue;
    if (assignmentIds.length === 0 || !isAssigning(decision)) continue;
    over.add(decisionId);
    for (const { id, units } of decision.slate) giveBack(ground, id, units, decidedUs);
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
