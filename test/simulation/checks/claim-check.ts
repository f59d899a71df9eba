/**
 * What holds of work that waits to be claimed.
 *
 * - an item that is claimed has one assignment that is active, and no other item has one
 * - a team has no more claims open than its budget lets it, whoever of it has claimed
 * - what a recipient has committed is what it was assigned, by a decision or by a claim, and has not ended
 * - a CLAIM step is done with the claim that there was, and is over without it only where nobody has the work
 */
import { teamKey } from '../../../engine/src/claims/index.js';
import { isAssigning } from '../../../engine/src/routing/index.js';
import type { GateDecision } from '../../../engine/src/workflow/coordinator/ports.js';
import { decodeEntries } from '../../../engine/src/workflow/journal/index.js';
import { jsonOfValue, type Entry, type RunState } from '../../../engine/src/workflow/machine/index.js';
import type { MemoryDatabase } from '../../../engine/src/workflow/testing/memory-database.js';
import type { MemoryClaims } from '../../../engine/src/workflow/testing/memory-claims.js';
import type { Sim } from '../core/sim.js';
import { POND_OPEN } from '../scenario/pools.js';

/** Looks at items, assignments and accounts as they stand. */
export function checkClaims(sim: Sim, { reservations }: MemoryDatabase): void {
  const { claims, made, accounts, over } = reservations;
  // What was committed before a reset counts no more.
  const counts = (id: string, us: number): boolean => us > (accounts.get(id)?.resetAtUs ?? -1);
  const committed = new Map<string, number>();
  const add = (id: string, units: number): void => void committed.set(id, (committed.get(id) ?? 0) + units);
  const active = new Map<string, number>();
  for (const { state, recipientId, units, claimItemId, committedAtUs } of claims.assignments.values()) {
    if (state !== 'active') continue;
    if (counts(recipientId, committedAtUs ?? 0)) add(recipientId, units);
    active.set(claimItemId ?? '', (active.get(claimItemId ?? '') ?? 0) + 1);
  }
  for (const { itemId, state } of claims.items.values()) {
    const [wanted, is] = [state === 'claimed' ? 1 : 0, active.get(itemId) ?? 0];
    if (is !== wanted) sim.violate(`item ${itemId} is ${state} and has ${is} assignments`);
  }
  checkTeams(sim, claims);
  for (const { decision, assignmentIds } of made) {
    if (over.has(decision.input.decisionId)) continue;
    if (assignmentIds.length === 0 || !isAssigning(decision)) continue;
    for (const { id, units } of decision.slate) if (counts(id, decision.input.nowUs)) add(id, units);
  }
  for (const [id, account] of accounts) {
    const is = committed.get(id) ?? 0;
    if (account.committed !== is) sim.violate(`recipient ${id} says ${account.committed} are committed and ${is} are`);
  }
}

/** Each tenant has one pond, so that its queue tells teams of tenants apart. */
function checkTeams(sim: Sim, claims: MemoryClaims): void {
  const open = new Map<string, number>();
  for (const { state, queueId, claimedFor } of claims.items.values()) {
    if (state !== 'claimed' || claimedFor === null) continue;
    const key = teamKey(queueId, claimedFor);
    open.set(key, (open.get(key) ?? 0) + 1);
  }
  for (const [key, count] of open) if (count > POND_OPEN) sim.violate(`${key} has ${count} claims open`);
}

/** Looks at an entry before it is folded. */
export function checkClaimEntry(sim: Sim, claims: MemoryClaims, { steps, runId }: RunState, entry: Entry): void {
  if (entry.kind === 'claim_settling') sim.marks.reach('claim_settling');
  if (entry.kind !== 'step_completed' && entry.kind !== 'step_failed') return;
  const claim = steps.get(entry.path)?.claim;
  if (claim === undefined) return;
  const where = `step ${entry.path} of run ${runId}`;
  const item = claims.items.get(claim.itemId);
  if (entry.kind === 'step_failed') {
    if (entry.error.code !== 'claim_expired') return;
    sim.marks.reach('claim_expired');
    if (item?.state !== 'expired') sim.violate(`${where} says that item ${claim.itemId} has expired`);
    return;
  }
  sim.marks.reach('claim_told');
  const output: unknown = jsonOfValue(entry.output)?.json;
  const id = typeof output === 'object' && output !== null && 'assignment_id' in output ? output.assignment_id : '';
  const assignment = claims.assignments.get(String(id));
  if (assignment?.claimItemId !== claim.itemId) sim.violate(`${where} is done by a claim that there was not`);
  if (claim.until === 'completed' && item?.state !== 'completed') sim.violate(`${where} is done and its item is not`);
}

/** Looks at what a batch of the gate lane did to items. */
export function checkTakenOut(sim: Sim, { reservations: { claims } }: MemoryDatabase, { ticks }: GateDecision): void {
  for (const { entries } of ticks) {
    for (const entry of entries.byteLength === 0 ? [] : decodeEntries(entries)) {
      if (entry.kind === 'claim_queued') {
        sim.marks.reach('claim_queued');
        if (!claims.items.has(entry.itemId)) sim.violate(`item ${entry.itemId} is waited for and is in no queue`);
      }
      const message = entry.kind === 'step_failed' && entry.error.code === 'timeout' ? entry.error.message : '';
      const [, itemId] = /^item (\S+) was not claimed/.exec(message) ?? [];
      if (itemId === undefined) continue;
      sim.marks.reach('claim_taken_out');
      const state = claims.items.get(itemId)?.state;
      if (state !== 'withdrawn') sim.violate(`item ${itemId} was given up by its step and is ${state ?? 'nowhere'}`);
    }
  }
}

/** Items that are open although the run that waits for them has ended, and what ends with runs and has not. */
export function* leftOpen({ reservations: { claims, made, over }, runs }: MemoryDatabase): Generator<string> {
  const open = new Set(
    [...runs.values()].flatMap(({ header: { chain, runId, closedAtUs } }) => {
      return closedAtUs === null ? [chain?.chainId ?? runId] : [];
    }),
  );
  for (const { ask, decision, assignmentIds } of made) {
    const isLeft = assignmentIds.length > 0 && isAssigning(decision) && !over.has(decision.input.decisionId);
    if (isLeft && ask.endsWith !== undefined && !open.has(ask.endsWith))
      yield `what decision ${decision.input.decisionId} assigned was to end with chain ${ask.endsWith}`;
  }
  for (const { itemId, tenantId, waiter, state } of claims.items.values()) {
    const run = waiter === null ? undefined : runs.get(`${tenantId}/${waiter.split('/')[0] ?? ''}`);
    if (state === 'open' && run !== undefined && run.header.closedAtUs !== null)
      yield `item ${itemId} is open, and nobody waits for it any more`;
  }
}
