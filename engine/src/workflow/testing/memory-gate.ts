/** Batches of the gate lane in memory. Each happens at one instant. */
import { nameOf } from '../../capacity/index.js';
import type { GateLocks, GateUsage } from '../coordinator/gate-ports.js';
import type { CommitOutcome, GateDecision, GateOutcome, TickWrite } from '../coordinator/ports.js';
import type { MemoryDatabase } from './memory-database.js';
import type { MemorySemaphores } from './memory-semaphores.js';

/**
 * A batch of the gate lane: all of it or nothing.
 *
 * @param commit writes the ticks as a batch of the plain lane would be
 */
export function commitInGate(
  {
    db,
    semaphores,
    nowUs,
  }: { readonly db: MemoryDatabase; readonly semaphores: MemorySemaphores; readonly nowUs: number },
  nodeId: string,
  { semaphores: keys, runIds }: GateLocks,
  decide: (usage: GateUsage) => GateDecision,
  commit: (ticks: readonly TickWrite[]) => CommitOutcome,
): GateOutcome {
  if (!db.isUnfenced(nodeId)) return { kind: 'fenced' };
  const runs = new Set(runIds);
  const unique = [...new Map(keys.map((key) => [nameOf(key), key])).values()];
  const decision = decide({ nowUs, semaphores: unique.map((key) => semaphores.usage(key, runs)) });
  const ticks = decision.ticks.map((write) => db.probe(write));
  if (ticks.some((outcome) => outcome !== 'written')) {
    for (const [index, write] of decision.ticks.entries()) if (ticks[index] === 'unread') db.seal(write);
    return { kind: 'undone', ticks };
  }
  const outcome = commit(decision.ticks);
  if (outcome.kind === 'committed') semaphores.apply(decision.semaphores);
  return outcome;
}
